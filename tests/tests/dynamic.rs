//! Jobs that spawn jobs, and jobs that find each other.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

use oxmpi_tests::{Ended, Job, Mark, Program, has_libfabric, programs};

programs! {
    dynamic_failed on 1 3;
    dynamic_multiple on 1 3;
    dynamic_spawn on 1 2 3;
    dynamic_threads on 1 3;
}

/// Numbers of ranks of the first job, of jobs, and of ranks of each further one.
const JOBS: [(u32, u32, u32); 4] = [(1, 1, 1), (1, 2, 2), (2, 2, 3), (2, 3, 2)];

/// Rounds of two jobs that meet; `OXMPI_ROUNDS` asks for more.
const ROUNDS: &str = "40";

/// Ways to wait for a process that has died.
const WAYS: [&str; 39] = [
    "allreduce",
    "alltoall",
    "barrier",
    "barrier_merged",
    "bcast",
    "disconnect",
    "dup",
    "finalize",
    "get_status",
    "ibarrier",
    "improbe",
    "iprobe",
    "iprobe_any",
    "merge",
    "mprobe",
    "nothing",
    "persistent_receive",
    "probe",
    "probe_any",
    "recv",
    "recv_any",
    "recv_any_merged",
    "recv_merged",
    "send_long",
    "sendrecv",
    "split",
    "ssend",
    "test",
    "test_iallreduce",
    "testall",
    "testany",
    "testsome",
    "wait_any_source",
    "wait_long",
    "wait_receive",
    "wait_send",
    "waitall",
    "waitany",
    "waitsome",
];

/// Runs two jobs at the same time, which learn how they find each other; both must pass, and nothing is left.
fn meet(server: Job, client: Job, last: &str) {
    let mark = Mark::new();
    let give = |job: Job, side: &str| mark.on(job).argument(side).argument(mark.name()).argument(last);
    let server = give(server, "--serve").start();
    give(client, "--visit").passes();
    server.passes();
    mark.is_gone();
}

/// So many ranks; without a launcher if there are none.
fn ranks(program: &Program, ranks: u32) -> Job {
    if ranks == 0 { program.alone() } else { program.on(ranks) }
}

#[test]
fn nothing_is_left_of_what_could_not_be_spawned() {
    let mark = Mark::new();
    mark.on(Program::compile("dynamic_failed").on(2)).passes();
    mark.is_gone();
    mark.on(Program::compile("dynamic_failed").alone()).passes();
    mark.is_gone();
}

#[test]
fn a_process_that_nobody_has_launched_spawns() {
    let mark = Mark::new();
    for program in ["dynamic_spawn", "dynamic_multiple", "dynamic_threads"] {
        mark.on(Program::compile(program).alone()).passes();
        mark.is_gone();
    }
}

/// Else libfabric would not connect it with those of several hosts.
#[test]
fn a_process_that_nobody_has_launched_tells_libfabric_what_ranks_are_told() {
    let program = Program::compile("dynamic_alike");
    let [ranks, alone] = [program.on(1), program.alone()].map(|job| job.run().out);
    assert_eq!(ranks, alone);
    assert_eq!(ranks.lines().next(), Some("67584"));
}

#[test]
fn communicators_and_groups_of_several_jobs_are_like_others() {
    let program = Program::compile("dynamic_comms");
    JOBS.into_iter().for_each(|(first, jobs, each)| program.on(first).with_jobs(jobs, each).passes());
}

#[test]
fn messages_go_from_job_to_job() {
    let program = Program::compile("dynamic_pt2pt");
    JOBS.into_iter().for_each(|(first, jobs, each)| program.on(first).with_jobs(jobs, each).passes());
}

/// The parents are on several hosts, and children on that of their root: the others reach them over the network.
#[test]
fn jobs_over_several_hosts_spawn() {
    if !has_libfabric() {
        return;
    }
    let hosts = "left:1,right:1";
    let mark = Mark::new();
    mark.on(Program::compile("spawn_groups").on(2).over(hosts)).passes();
    mark.on(Program::compile("dynamic_comms").on(2).over(hosts)).with_jobs(3, 1).passes();
    mark.is_gone();
}

#[test]
fn who_has_left_in_order_is_missed_by_nobody_who_receives_from_anybody() {
    let program = Program::compile("dynamic_leaving");
    for way in ["recv", "irecv", "probe", "iprobe", "improbe"] {
        program.on(2).argument(way).passes();
        if has_libfabric() {
            program.on(2).over("left:1,right:1").argument(way).passes();
        }
    }
}

/// One after the other: who gives up the first of them only would wait for ever.
#[test]
fn who_receives_from_anybody_when_all_have_left_waits_no_longer() {
    let program = Program::compile("dynamic_leaving");
    for way in ["recv", "irecv", "probe"] {
        program.on(1).over("left:3").argument(way).argument("left").passes();
        if has_libfabric() {
            program.on(2).over("left:1,right:1").argument(way).argument("left").passes();
        }
        let ended = program.on(2).argument(way).argument("stranded").run();
        assert_eq!(ended.status, Some(1), "{way}: {}", ended.err);
        assert!(ended.err.contains("for rank 1, which had called MPI_Finalize"), "{way}: {}", ended.err);
    }
}

#[test]
fn jobs_of_two_launchers_and_of_none_meet_at_ports() {
    let program = Program::compile("dynamic_ports");
    for (server, client) in [(1, 1), (2, 3), (3, 1), (0, 2), (2, 0), (0, 0)] {
        meet(ranks(&program, server), ranks(&program, client), "3");
    }
}

#[test]
fn a_server_accepts_several_clients_one_after_the_other() {
    let (program, mark) = (Program::compile("dynamic_ports"), Mark::new());
    let give = |job: Job, side: &str, times: &str| {
        mark.on(job).argument(side).argument(mark.name()).argument(times).start()
    };
    let clients = [1, 2, 0, 1].map(|client| give(ranks(&program, client), "--visit", "3"));
    give(program.on(2), "--serve", "12").passes();
    clients.into_iter().for_each(|client| client.passes());
    mark.is_gone();
}

#[test]
fn connecting_waits_for_accepting_and_threads_accept_at_the_same_time() {
    let program = Program::compile("dynamic_late");
    for (server, client) in [(1, 1), (3, 2), (0, 1)] {
        meet(ranks(&program, server), ranks(&program, client), "");
    }
}

#[test]
fn names_are_published_until_they_are_withdrawn_or_their_job_ends() {
    let program = Program::compile("dynamic_names");
    for job in [program.on(1), program.on(3), program.alone()] {
        let mark = Mark::new();
        mark.on(job).argument(mark.name()).passes();
        for what in ["leave", "missing"] {
            mark.on(program.on(2)).argument(mark.name()).argument(what).passes();
        }
        mark.is_gone();
    }
}

#[test]
fn processes_join_over_sockets_of_their_own() {
    let program = Program::compile("dynamic_join");
    [2, 3].into_iter().for_each(|ranks| program.on(ranks).argument("--inside").passes());
    for (server, client) in [(1, 2), (0, 1), (0, 0)] {
        meet(ranks(&program, server), ranks(&program, client), "");
    }
}

/// Where hosts have networks of their own nothing else joins them.
#[test]
fn ports_and_names_of_a_job_are_found_on_all_its_hosts() {
    let (program, mark) = (Program::compile("dynamic_apart"), Mark::new());
    let meet = |job: Job| mark.on(job).argument(mark.name()).passes();
    [2, 3].into_iter().for_each(|ranks| meet(program.on(ranks)));
    if has_libfabric() {
        meet(program.on(2).over("left:1,right:1"));
    }
    mark.is_gone();
}

/// Acceptance: in constant memory.
#[test]
fn two_jobs_meet_again_and_again_and_leave_nothing() {
    let rounds = std::env::var("OXMPI_ROUNDS").unwrap_or_else(|_| ROUNDS.to_owned());
    let program = Program::compile("dynamic_rounds");
    let patient = |ranks| program.on(ranks).option("--timeout=1200");
    meet(patient(2), patient(3), &rounds);
}

#[test]
fn who_spawns_and_disconnects_again_and_again_keeps_nothing() {
    let (program, mark) = (Program::compile("dynamic_respawn"), Mark::new());
    [1, 2].into_iter().for_each(|ranks| mark.on(program.on(ranks)).argument("50").passes());
    mark.is_gone();
}

/// One job dies in some way while the other waits in some way, and goes on.
fn survives(way: &str, how: &str, survivors: u32, victims: u32) {
    let program = Program::compile("dynamic_deaths");
    outlives(ranks(&program, survivors), program.on(victims), way, how);
}

/// The same of these jobs, of that program.
fn outlives(survivor: Job, victim: Job, way: &str, how: &str) {
    let mark = Mark::new();
    let give =
        |job: Job, side: &str, last: &str| mark.on(job).argument(side).argument(mark.name()).argument(last);
    let survivor = give(survivor, "--serve", way).start();
    let victim = give(victim, "--die", how).run();
    assert_ne!(victim.status, Some(0), "{how}: {}{}", victim.out, victim.err);
    survivor.passes();
    mark.is_gone();
}

#[test]
fn who_waits_in_any_way_for_a_job_that_dies_gets_an_error_and_goes_on() {
    WAYS.into_iter().for_each(|way| survives(way, "one", 2, 2));
}

#[test]
fn however_a_job_dies_the_other_one_goes_on() {
    for how in ["all", "launcher", "abort", "exit"] {
        for way in ["recv", "test", "allreduce", "waitall", "disconnect", "finalize"] {
            survives(way, how, 2, 2);
        }
    }
    for (survivors, victims) in [(0, 2), (1, 1), (3, 1)] {
        survives("recv_any", "all", survivors, victims);
    }
}

/// Nothing tells of the end of a job on another host but what is sent there: calls that do not wait send nothing by
/// themselves, nor does `MPI_Finalize`.
#[test]
fn who_looks_for_a_job_of_another_host_that_dies_goes_on() {
    if !has_libfabric() {
        return;
    }
    let program = Program::compile("dynamic_deaths");
    for way in ["finalize", "get_status", "iprobe_any", "test_iallreduce"] {
        outlives(program.on(2).over("left:1,right:1"), program.on(1).over("far:1"), way, "all");
    }
}

/// Nothing tells of its end, on another host, but that it is not reached.
#[test]
fn a_job_that_dies_before_it_has_answered_is_waited_for_no_longer() {
    if !has_libfabric() {
        return;
    }
    let (program, mark) = (Program::compile("dynamic_unmet"), Mark::new());
    let give = |job: Job, side: &str| mark.on(job).argument(side).argument(mark.name());
    let survivor = give(program.on(2).over("left:1,right:1"), "--serve").start();
    assert_eq!(give(program.on(1).over("far:1"), "--die").run().status, Some(137));
    survivor.passes();
    mark.is_gone();
}

/// Ranks of parents, with two children, that are connected `by` something and have parted: how the job ends when this
/// befalls one of both.
fn part(parents: u32, by: &str, (who, fate): (&str, &str)) -> Ended {
    let mark = Mark::new();
    let job = mark.on(Program::compile("dynamic_parted").on(parents));
    let ended = job.argument(by).argument(who).argument(fate).run();
    mark.is_gone();
    ended
}

/// Others that fail, or end while nobody answers them, are none of the concern of who has disconnected.
#[track_caller]
fn goes_on(parents: u32, by: &str, (who, fate): (&str, &str), status: i32) {
    let Ended { status: found, out, err } = part(parents, by, (who, fate));
    let has_gone_on = out.contains("the others go on\n") && !err.contains("connected");
    assert!(found == Some(status) && has_gone_on, "{by}: {who} {fate}: {found:?}:\n{out}{err}");
}

/// MPI-5.0: The Dynamic Process Model, Releasing Connections: what is true of independent processes.
#[test]
fn who_has_disconnected_is_independent() {
    for who in ["parents", "children"] {
        for (fate, status) in [("end", 0), ("abort", 3), ("exit", 4), ("die", 137)] {
            [1, 3].into_iter().for_each(|parents| goes_on(parents, "spawn", (who, fate), status));
        }
    }
}

#[test]
fn who_has_disconnected_all_communicators_is_independent_and_freeing_waits_for_nobody() {
    for by in ["port", "dup", "merge", "split", "freed", "inactive"] {
        goes_on(2, by, ("parents", "die"), 137);
        goes_on(2, by, ("children", "end"), 0);
    }
    goes_on(2, "freed_late", ("children", "end"), 0);
}

#[test]
fn who_has_not_disconnected_all_communicators_ends_with_the_other_job() {
    for by in ["port_kept", "dup_kept", "merge_kept", "split_kept"] {
        for who in ["parents", "children"] {
            let Ended { status, out, err } = part(2, by, (who, "abort"));
            assert!(status == Some(3) && !out.contains("go on"), "{by}: {status:?}:\n{out}{err}");
        }
    }
}
