//! How jobs begin and end. MPI-5.0: Process Initialization, Creation, and Management.

use std::process::Command;

use oxmpi_tests::{Program, RANKS, has_libfabric, is_over_hosts, programs};

programs! {
    connect_refused on 2;
    init_atexit;
    init_hello;
    init_profiled;
    init_threads;
    leave_early;
    spawn_groups on 1 2 4;
    spawn_threads on 1 2 3;
}

#[test]
fn every_level_of_thread_support_is_given() {
    let program = Program::compile("init_levels");
    for level in 0..4 {
        for ranks in RANKS {
            program.on(ranks).argument(&level.to_string()).passes();
        }
    }
}

#[test]
fn types_are_compared_until_a_thread_may_note_none_any_more() {
    Program::compile("init_atexit").on(2).env("OXMPI_CHECK", "1").passes();
}

#[test]
fn a_program_without_mpiexec_is_a_job_of_one_rank() {
    let program = Program::compile("collective_mixed");
    let output = Command::new(program.path())
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .expect("the program was compiled");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "passed on 1\n");
}

#[test]
fn a_rank_of_a_launcher_that_is_not_understood_says_so_and_ends() {
    let program = Program::compile("init_hello");
    let run = |variables: &[(&str, &str)]| {
        let mut command = Command::new(program.path());
        command.env_remove("LD_LIBRARY_PATH").envs(variables.iter().copied());
        let output = command.output().expect("the program was compiled");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for rank in ["0", "1"] {
        let (is_well, said) = run(&[("PMI_SIZE", "2"), ("PMI_RANK", rank)]);
        assert!(!is_well && said.contains("the mpiexec of another MPI has started 2 processes"), "{said}");
    }
    assert_eq!(run(&[("SLURM_NTASKS", "2"), ("SLURM_PROCID", "0")]), (true, String::new()));
    assert_eq!(program.on(2).env("OMPI_COMM_WORLD_SIZE", "2").run().err, "");
}

#[test]
fn an_abort_ends_all_ranks_with_its_code() {
    let program = Program::compile("init_abort");
    for (code, status) in [("3", 3), ("0", 0), ("255", 255), ("256", 1)] {
        for ranks in [1, 2, 4] {
            let ended = program.on(ranks).argument(code).run();
            assert_eq!(ended.status, Some(status), "{}", ended.err);
            assert!(ended.err.contains("MPI_Abort"), "{}", ended.err);
        }
    }
}

#[test]
fn an_operation_of_the_programs_may_end_the_job() {
    let program = Program::compile("op_abort");
    for ranks in [2, 4] {
        for threads in ["single", "multiple"] {
            for lifetime in ["blocking", "nonblocking", "persistent"] {
                for (how, said) in [("abort", "MPI_Abort"), ("wrong", "MPI_Type_size: datatype")] {
                    let ended = program.on(ranks).argument(threads).argument(lifetime).argument(how).run();
                    let is_right = ended.status == Some(3) || how == "wrong" && ended.status != Some(0);
                    assert!(is_right && ended.err.contains(said), "{:?} {}", ended.status, ended.err);
                    assert!(
                        !ended.err.contains("panicked") && ended.out.is_empty(),
                        "{}{}",
                        ended.out,
                        ended.err
                    );
                }
            }
        }
    }
}

#[test]
fn a_rank_that_leaves_before_the_end_ends_the_others() {
    let program = Program::compile("init_leave");
    for (how, status, said) in [
        ("0", 1, "exited with status 0 before MPI_Finalize"),
        ("5", 5, "exited with status 5 before MPI_Finalize"),
        ("kill", 137, "was killed by SIGKILL"),
    ] {
        let ended = program.on(3).argument(how).run();
        assert_eq!(ended.status, Some(status), "{}", ended.err);
        assert!(ended.err.contains(said), "{}", ended.err);
        assert!(ended.err.contains("in MPI_Recv"), "{}", ended.err);
    }
}

#[test]
fn the_time_limit_shows_what_every_rank_waits_for() {
    let program = Program::compile("init_pending");
    for ranks in [2, 3] {
        let ended = program.on(ranks).ends_soon().run();
        assert_eq!(ended.status, Some(124), "{}", ended.err);
        assert!(ended.err.contains("MPI_Wait"), "{}", ended.err);
        for rank in 0..ranks {
            assert!(ended.err.contains(&format!("rank {rank}: ")), "{}", ended.err);
        }
        assert!(ended.err.contains("77"), "the tag of the receive is missing:\n{}", ended.err);
    }
}

#[test]
fn the_time_limit_shows_who_is_missed_where_a_communicator_is_made() {
    let program = Program::compile("comm_missing");
    let on_two = has_libfabric().then(|| program.on(3).over("left:1,right:2"));
    for job in [program.on(2), on_two.unwrap_or_else(|| program.on(3))] {
        let ended = job.ends_soon().run();
        assert_eq!(ended.status, Some(124), "{}", ended.err);
        let missed = "rank 0: MPI_Comm_create_group: waits for rank 1 of MPI_COMM_WORLD to take part";
        assert!(ended.err.contains(missed), "{}", ended.err);
        // How much fits is told, too, once the letters of the others have made the receive wait in the queue.
        assert!(ended.err.contains("rank 1: receive "), "{}", ended.err);
        assert!(ended.err.contains("from rank 0 of MPI_COMM_WORLD, tag 5"), "{}", ended.err);
    }
}

#[test]
fn the_time_limit_shows_who_waits_in_finalize() {
    let ended = Program::compile("leave_waits").on(2).ends_soon().run();
    assert_eq!(ended.status, Some(124), "{}", ended.err);
    assert!(ended.err.contains("rank 1: collective on MPI_Finalize, run 0"), "{}", ended.err);
}

/// The ways to wait in `leave_missed`, and the function that the rank is found in.
const WAYS: [(&str, &str); 23] = [
    ("MPI_Recv", "MPI_Recv"),
    ("MPI_Probe", "MPI_Probe"),
    ("MPI_Mprobe", "MPI_Mprobe"),
    ("MPI_Ssend", "MPI_Ssend"),
    ("MPI_Send", "MPI_Send"),
    ("MPI_Sendrecv", "MPI_Sendrecv"),
    ("MPI_Wait", "MPI_Wait"),
    ("MPI_Waitall", "MPI_Waitall"),
    ("MPI_Waitany", "MPI_Waitany"),
    ("MPI_Waitsome", "MPI_Waitsome"),
    ("MPI_Start", "MPI_Wait"),
    ("MPI_Comm_disconnect", "MPI_Comm_disconnect"),
    ("partitioned:receive", "MPI_Wait"),
    ("partitioned:send", "MPI_Wait"),
    ("collective:MPI_Allreduce", "MPI_Allreduce"),
    ("collective:MPI_Bcast", "MPI_Bcast"),
    ("collective:credit", "MPI_Bcast"),
    ("collective:MPI_Barrier", "MPI_Barrier"),
    ("collective:MPI_Gather", "MPI_Gather"),
    ("collective:MPI_Comm_dup", "MPI_Comm_dup"),
    ("collective:MPI_Comm_create_group", "MPI_Comm_create_group"),
    ("collective:MPI_Iallreduce", "MPI_Wait"),
    ("any", "MPI_Recv"),
];

/// On a loaded machine a rank may take long to end by itself.
const GRACE_S: &str = "50";

/// Finalizing MPI: it need not be a barrier, but who leaves takes part in nothing any more.
#[test]
fn who_waits_for_a_rank_that_has_left_ends_the_job() {
    let program = Program::compile("leave_missed");
    for (way, function) in WAYS {
        for ranks in [2, 3] {
            if way == "any" && ranks > 2 {
                continue; // the others might still send
            }
            let last = ranks - 1;
            let ended =
                program.on(ranks).env("OXMPI_GRACE", GRACE_S).argument("finalize").argument(way).run();
            assert_eq!(ended.status, Some(1), "{way}: {}", ended.err);
            let waited = format!("waited in {function} for rank {last}, which had called MPI_Finalize");
            assert!(ended.err.contains(&waited), "{way}: {}", ended.err);
            assert!(!ended.err.contains("MPI_Abort"), "{way}: {}", ended.err);
            assert!(ended.out.contains(&format!("rank {last} saves")), "{way}: {}", ended.out);
            assert!(ended.out.contains("waits"), "what was printed is lost: {way}: {}", ended.out);

            let ended = program.on(ranks).env("OXMPI_GRACE", GRACE_S).argument("0").argument(way).run();
            assert_eq!(ended.status, Some(1), "{way}: {}", ended.err);
            assert!(ended.err.contains("exited with status 0 before MPI_Finalize"), "{way}: {}", ended.err);
            assert!(
                ended.err.contains(&format!("waited in {function} for rank {last}")),
                "{way}: {}",
                ended.err
            );
        }
    }
}

/// The thread might cancel the request, as far as anybody knows, but has never called MPI.
#[test]
fn who_waits_beside_a_thread_that_computes_ends_the_job_after_a_while() {
    let ended = Program::compile("leave_beside_thread").on(2).env("OXMPI_GRACE", GRACE_S).run();
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert!(
        ended.err.contains("waited in MPI_Wait for rank 1, which had called MPI_Finalize"),
        "{}",
        ended.err
    );
}

/// A root gets no further ahead of its readers than the caches go: it, too, may wait for who has left.
#[test]
fn a_root_that_has_posted_much_is_told_that_a_reader_has_left() {
    let program = Program::compile("leave_missed");
    for ranks in [2, 3] {
        let job = program.on(ranks).env("OXMPI_SINGLE_COPY", "never").env("OXMPI_GRACE", GRACE_S);
        let ended = job.argument("finalize").argument("collective:MPI_Scatter").run();
        assert_eq!(ended.status, Some(1), "{}", ended.err);
        let waited = format!("waited in MPI_Scatter for rank {}, which had called MPI_Finalize", ranks - 1);
        assert!(ended.err.contains(&waited), "{}", ended.err);
    }
}

/// As of one host, where the ranks are on two: who leaves says it to whom it has told anything, and to who asks.
/// Joining meets the ranks of all hosts, also for a session.
#[test]
fn a_rank_that_never_joins_does_not_leave_those_of_several_hosts_waiting() {
    if !has_libfabric() {
        return;
    }
    let on_two = |program| Program::compile(program).on(4).over("left:2,right:2");
    let jobs = [
        ("in MPI_Init\n", on_two("init_hello").by(&["sh", "-c", "test $OXMPI_RANK = 3 || exec $0"])),
        ("in MPI_Session_init\n", on_two("session_some")),
    ];
    for (waits, job) in jobs {
        let ended = job.run();
        assert_eq!(ended.status, Some(1), "{}", ended.err);
        assert!(ended.err.contains("left without calling MPI_Init"), "{}", ended.err);
        assert!(ended.err.contains(waits), "{}", ended.err);
    }
}

#[test]
fn who_waits_for_a_rank_of_another_host_that_has_left_ends_the_job() {
    if !has_libfabric() {
        return;
    }
    let program = Program::compile("leave_missed");
    for way in ["MPI_Recv", "MPI_Ssend", "MPI_Start", "collective:MPI_Allreduce", "any"] {
        let job =
            program.on(2).over("left,right").env("OXMPI_GRACE", GRACE_S).argument("finalize").argument(way);
        let ended = job.run();
        assert_eq!(ended.status, Some(1), "{way}: {}", ended.err);
        assert!(ended.err.contains("for rank 1, which had ended or called MPI_Finalize"), "{}", ended.err);
        assert!(ended.out.contains("rank 1 saves"), "{way}: {}\n{}", ended.out, ended.err);
    }
}

#[test]
fn a_rank_that_is_missed_gives_the_status_on_whatever_host_it_was() {
    let program = Program::compile("leave_missed");
    let ways = [
        (["finalize", "collective:MPI_Allreduce", "3"], 3, "exited with status 3 after MPI_Finalize"),
        (["4", "collective:MPI_Allreduce", "late"], 4, "exited with status 4 before MPI_Finalize"),
    ];
    for (arguments, status, said) in ways {
        let on_two = has_libfabric().then(|| program.on(2).over("left,right"));
        for job in [Some(program.on(2)), on_two].into_iter().flatten() {
            let job = job.env("OXMPI_GRACE", GRACE_S);
            let ended = arguments.iter().fold(job, |job, argument| job.argument(argument)).run();
            assert_eq!(ended.status, Some(status), "{}", ended.err);
            assert!(ended.err.contains(said), "{}", ended.err);
        }
    }
}

/// Buffer Allocation and Usage: a message that is refused does not need its buffer any more.
#[test]
fn who_waits_for_a_buffer_waits_for_nobody_who_has_left() {
    let program = Program::compile("leave_missed");
    for function in ["MPI_Buffer_detach", "MPI_Buffer_flush"] {
        for (how, waited) in [("finalize", "MPI_Barrier"), ("0", function)] {
            let ended = program.on(2).argument(how).argument(function).run();
            assert_eq!(ended.status, Some(1), "{}", ended.err);
            let said = format!("waited in {waited} for rank 1");
            assert!(ended.err.contains(&said), "{function}: {}", ended.err);
        }
    }
}

#[test]
fn the_time_limit_shows_what_is_waited_for_in_ranks_of_the_programs_communicators() {
    let ended = Program::compile("comm_waits").on(3).ends_soon().run();
    assert_eq!(ended.status, Some(124), "{}", ended.err);
    for line in [
        "rank 0: send of 4 bytes to rank 0 of reversed, tag 5: not received yet",
        "rank 1: collective on reversed, run 0, MPI_Barrier, step ",
        // Nobody looks that up on another host.
        if is_over_hosts() { "waits for messages" } else { "which has not called it yet" },
        "from rank 2 of a communicator of 3 ranks (context ",
    ] {
        assert!(ended.err.contains(line), "{line}:\n{}", ended.err);
    }
    assert!(!ended.err.contains("node rank"), "{}", ended.err);
}

#[test]
fn what_is_pending_does_not_keep_finalize_from_ending() {
    let program = Program::compile("leave_pending");
    for pending in [
        "s", "sl", "slf", "slb", "slfb", "S", "Sb", "Sfb", "r", "rb", "rslb", "m", "mb", "cl", "clb", "slbp",
        "Sbp", "i", "ib",
    ] {
        for ranks in [1, 2, 3] {
            program.on(ranks).argument(pending).passes();
        }
    }
}

/// Abort; Error Handling: nothing is defined of what runs afterwards, and it could not use MPI.
#[test]
fn a_job_that_ends_at_once_runs_no_functions_of_the_program() {
    let program = Program::compile("leave_at_once");
    for (how, status, printed, said) in [
        ("abort", 9, true, "called MPI_Abort with code 9"),
        ("error", 6, true, "could not go on after an error in MPI_Send (code 6)"),
        ("early", 9, false, "exited with status 9"),
    ] {
        let ended = program.on(2).argument(how).run();
        assert_eq!(ended.status, Some(status), "{how}: {}", ended.err);
        assert!(ended.err.contains(said), "{how}: {}", ended.err);
        assert_eq!(ended.err.contains("MPI_Abort"), how == "abort", "{how}: {}", ended.err);
        assert!(!ended.err.contains("at exit") && !ended.err.contains("destroyed"), "{how}: {}", ended.err);
        assert_eq!(ended.out.contains("came so far"), printed, "{how}: {}", ended.out);
    }
}
