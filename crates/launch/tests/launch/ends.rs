//! Every way a job can end, its exit status, and what is said about it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use rustix::process::Signal;

use crate::fake_rank;
use crate::run::{Ended, Script, command, finish, mpiexec, process, read_lines, shells};

#[test]
fn a_job_whose_ranks_all_succeed_gives_0_and_is_silent() {
    let ended = shells(4, &[], "exit 0");
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
}

#[test]
fn a_program_without_mpi_that_fails_ends_the_job_with_its_status() {
    let ended = shells(3, &[], "test $OXMPI_RANK = 1 && exit 5; sleep 1000");
    assert_eq!(ended.status, Some(5));
    assert!(ended.err.starts_with("mpiexec: rank 1 (sh, pid "), "{}", ended.err);
    assert!(ended.err.contains("exited with status 5"), "{}", ended.err);
}

#[test]
fn the_first_failing_rank_gives_the_status_whatever_the_others_do_then() {
    let ended = shells(3, &[], "trap 'exit 9' TERM; test $OXMPI_RANK = 2 && exit 3; sleep 1000 & wait");
    assert_eq!(ended.status, Some(3));
}

#[test]
fn ranks_that_ignore_the_request_to_end_are_killed() {
    let ended = shells(2, &[], "trap '' TERM; test $OXMPI_RANK = 1 && exit 4; sleep 1000; sleep 1000");
    assert_eq!(ended.status, Some(4));
}

#[test]
fn a_signal_gives_128_and_its_number_and_is_named() {
    for (signal, status, name) in
        [("SEGV", 139, "SIGSEGV"), ("KILL", 137, "SIGKILL"), ("ABRT", 134, "SIGABRT")]
    {
        let ended = shells(2, &[], &format!("test $OXMPI_RANK = 0 && kill -{signal} $$; sleep 1000"));
        assert_eq!(ended.status, Some(status));
        assert!(ended.err.contains(&format!("was killed by {name}")), "{}", ended.err);
    }
}

#[test]
fn an_abort_gives_its_code() {
    for (code, status) in [("42", 42), ("0", 0), ("256", 1), ("-1", 255)] {
        let ended = fake_rank::run(&[], &["init call:MPI_Recv sleep", &format!("init settle abort:{code}")]);
        assert_eq!(ended.status, Some(status), "code {code}");
        assert!(ended.err.contains(&format!("called MPI_Abort with code {code}")), "{}", ended.err);
    }
}

#[test]
fn the_report_says_where_the_other_ranks_were_in_at_most_8_lines() {
    let receiving = "init call:MPI_Recv sleep";
    let scripts = [receiving, receiving, "init settle exit:3", "init call:MPI_Allreduce sleep", receiving];
    let ended = fake_rank::run(&[], &scripts);
    assert_eq!(ended.status, Some(3));
    assert!(ended.err.contains("exited with status 3 before MPI_Finalize\n"), "{}", ended.err);
    assert!(ended.err.contains("ranks 0-1, 4 in MPI_Recv\n"), "{}", ended.err);
    assert!(ended.err.contains("rank 3 in MPI_Allreduce\n"), "{}", ended.err);
    assert!(ended.err.lines().count() <= 8);
}

#[test]
fn leaving_before_finalize_is_a_failure_even_with_status_0() {
    let ended = fake_rank::run(&[], &["init settle exit:0", "init call:MPI_Barrier sleep"]);
    assert_eq!(ended.status, Some(1));
    assert!(ended.err.contains("exited with status 0 before MPI_Finalize"), "{}", ended.err);
    assert!(ended.err.contains("rank 1 in MPI_Barrier"), "{}", ended.err);
}

#[test]
fn who_leaves_with_0_before_finalize_lets_the_others_print_what_they_know() {
    let ended =
        fake_rank::run_patiently(&["init settle exit:0", "init call:MPI_Wtime missed:0 print:saved exit:0"]);
    assert_eq!(ended.status, Some(1));
    assert!(ended.out.contains("saved"), "{}", ended.out);
    assert!(ended.err.contains("rank 0 ("), "{}", ended.err);
    assert!(ended.err.contains("exited with status 0 before MPI_Finalize"), "{}", ended.err);
}

#[test]
fn who_is_in_finalize_is_released_when_another_waits_in_vain() {
    let leaver = "init call:MPI_Finalize leave finalize call:MPI_Wtime print:saved";
    for (last, status, said) in
        [("exit:0", 1, "rank 1 ("), ("exit:3", 3, "exited with status 3 after MPI_Finalize")]
    {
        let first = format!("{leaver} {last}");
        let scripts = [first.as_str(), "init settle call:MPI_Recv strand:0", "init call:MPI_Bcast sleep"];
        let ended = fake_rank::run_patiently(&scripts);
        assert_eq!(ended.status, Some(status), "{}", ended.err);
        assert!(ended.out.contains("saved"), "{}", ended.out);
        assert!(
            ended.err.contains(said) && ended.err.contains("waited in MPI_Recv for rank 0"),
            "{}",
            ended.err
        );
        assert!(ended.err.contains("rank 2 in MPI_Bcast"), "{}", ended.err);
    }
}

#[test]
fn a_fatal_error_gives_its_code_and_is_no_abort() {
    let ended = fake_rank::run(&[], &["init call:MPI_Recv sleep", "init call:MPI_Send fail:6"]);
    assert_eq!(ended.status, Some(6));
    assert!(ended.err.contains("could not go on after an error in MPI_Send (code 6)"), "{}", ended.err);
    assert!(!ended.err.contains("MPI_Abort"), "{}", ended.err);
}

#[test]
fn a_failure_after_finalize_lets_the_others_finish() {
    let ended = fake_rank::run(&[], &["init finalize exit:7", "init settle finalize print:saved"]);
    assert_eq!(ended.status, Some(7));
    assert!(ended.out.contains("saved"), "{}", ended.out);
    assert!(ended.err.contains("exited with status 7 after MPI_Finalize"), "{}", ended.err);
}

#[test]
fn a_rank_that_leaves_with_an_open_session_ends_the_job() {
    let ended = fake_rank::run(&[], &["session settle exit:0", "session call:MPI_Barrier sleep"]);
    assert_eq!(ended.status, Some(1));
    assert!(ended.err.contains("exited with status 0 before MPI_Session_finalize"), "{}", ended.err);
}

#[test]
fn a_rank_in_a_session_needs_no_others() {
    let ended =
        fake_rank::run(&[], &["session settle finalize", "call:MPI_Wtime exit:0", "session finalize"]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
}

#[test]
fn a_rank_that_never_joins_does_not_leave_the_others_waiting() {
    let ended = fake_rank::run(&[], &["init call:MPI_Init sleep", "exit:0"]);
    assert_eq!(ended.status, Some(1));
    assert!(ended.err.contains("left without calling MPI_Init"), "{}", ended.err);
    let ended = fake_rank::run(&[], &["call:MPI_Finalize leave", "exit:0"]);
    assert_eq!(ended.status, Some(1));
    assert!(ended.err.contains("left without calling MPI_Init"), "{}", ended.err);
    assert!(ended.err.contains("rank 0 in MPI_Finalize"), "{}", ended.err);
}

fn assert_names_pending_requests(ended: &Ended) {
    assert!(ended.err.contains("ranks 0-1 in MPI_Wait"), "{}", ended.err);
    assert!(ended.err.contains("rank 0: receive from 1"), "{}", ended.err);
    assert!(ended.err.contains("rank 1: receive from 0"), "{}", ended.err);
}

const WAITING: [&str; 2] =
    ["init pending:receive_from_1 call:MPI_Wait sleep", "init pending:receive_from_0 call:MPI_Wait sleep"];

#[test]
fn the_time_limit_gives_124_and_shows_every_ranks_pending_requests() {
    let ended = fake_rank::run(&["--timeout", "1"], &WAITING);
    assert_eq!(ended.status, Some(124));
    assert!(ended.err.starts_with("mpiexec: time limit of 1 s reached\n"), "{}", ended.err);
    assert_names_pending_requests(&ended);
    assert!(ended.err.lines().count() <= 24);
}

#[test]
fn the_time_limit_can_come_from_the_environment() {
    let child = command(&["-n", "2", "sleep", "1000"])
        .env("MPIEXEC_TIMEOUT", "0.1")
        .spawn()
        .expect("mpiexec is built");
    assert_eq!(finish(child).status, Some(124));
}

#[test]
fn a_variable_that_is_no_time_is_refused() {
    for name in ["MPIEXEC_TIMEOUT", "OXMPI_GRACE"] {
        for (value, shown) in [(OsStr::new("soon"), "soon"), (OsStr::from_bytes(b"1\xff"), "1\u{fffd}")] {
            let child = command(&["true"]).env(name, value).spawn().expect("mpiexec is built");
            let ended = finish(child);
            assert_eq!(ended.status, Some(125));
            assert!(ended.err.contains(&format!("{name}={shown}: ")), "{}", ended.err);
        }
        let child = command(&["true"]).env(name, "").spawn().expect("mpiexec is built");
        assert_eq!(finish(child).status, Some(0), "an empty {name} is none");
    }
}

#[test]
fn a_hang_is_reported_without_ending_the_job() {
    let ended = fake_rank::run(&["--hang-after", "0.5", "--timeout", "2"], &WAITING);
    assert_eq!(ended.status, Some(124));
    assert!(ended.err.starts_with("mpiexec: what every rank is doing\n"), "{}", ended.err);
    assert_names_pending_requests(&ended);
}

#[test]
fn a_job_that_ends_before_its_limits_hears_nothing_of_them() {
    let ended = shells(2, &["--timeout", "1000", "--hang-after", "1000"], "exit 0");
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
}

#[test]
fn a_program_that_is_missing_gives_127() {
    for program in ["/no/such/program", "no-such-program", "./no-such-program"] {
        let ended = mpiexec(&["-n", "2", program]);
        assert_eq!(ended.status, Some(127));
        assert!(ended.err.contains(program), "{}", ended.err);
        assert_eq!(ended.err.lines().count(), 1);
    }
}

#[test]
fn a_file_that_cannot_be_executed_gives_126() {
    for program in ["/etc/passwd", "/tmp"] {
        let ended = mpiexec(&["-n", "2", program]);
        assert_eq!(ended.status, Some(126));
        assert!(ended.err.contains(program), "{}", ended.err);
    }
}

#[test]
fn an_interpreter_that_is_missing_or_none_is_named() {
    for (line, status, said) in [
        ("#!/no/such/interpreter -x\n", 127, "the interpreter \"/no/such/interpreter\" of"),
        ("#! /bin/sh\r\n", 127, "the interpreter \"/bin/sh\\r\" of"),
        ("#!/etc/passwd\n", 126, "the interpreter \"/etc/passwd\" of"),
    ] {
        let script = Script::new("missing-interpreter", line);
        let ended = mpiexec(&["-n", "2", script.path()]);
        assert_eq!(ended.status, Some(status), "{}", ended.err);
        assert!(ended.err.contains(said) && ended.err.contains(script.path()), "{}", ended.err);
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    }
    let script = Script::new("relative-interpreter", "#!./sh\nexit 7\n");
    assert_eq!(mpiexec(&["-wdir", "/bin", script.path()]).status, Some(7));
}

#[test]
fn a_script_without_an_interpreter_line_is_run_by_the_shell() {
    let script = Script::new("no-interpreter-line", "echo \"$1 and $2\"\n");
    let ended = mpiexec(&["-n", "1", script.path(), "one", "two"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), "one and two\n"));
}

#[test]
fn a_binary_for_another_machine_gives_126_and_the_shell_does_not_run_it() {
    // Its first bytes, and a line that the shell would run.
    let binary = Script::new("another-machine", "\x7fELF\necho from the shell\n");
    let ended = mpiexec(&["-n", "2", binary.path()]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(126), ""), "{}", ended.err);
    assert!(ended.err.contains(binary.path()) && ended.err.contains("Exec format error"), "{}", ended.err);
}

#[test]
fn a_signal_to_the_launcher_reaches_the_ranks_and_gives_128_and_its_number() {
    for (signal, name, status) in
        [(Signal::INT, "INT", 130), (Signal::TERM, "TERM", 143), (Signal::HUP, "HUP", 129)]
    {
        let script =
            format!("trap 'echo got {name}; exit 0' {name}; echo ready; while :; do sleep 0.02; done");
        let mut child = command(&["-n", "2", "sh", "-c", &script]).spawn().expect("mpiexec is built");
        assert_eq!(read_lines(&mut child, 2), ["ready", "ready"]);
        rustix::process::kill_process(process(&child), signal).expect("it runs");
        let ended = finish(child);
        assert_eq!(ended.status, Some(status));
        assert!(ended.err.contains(&format!("stopped by SIG{name}")), "{}", ended.err);
        assert_eq!(ended.out.matches(&format!("got {name}")).count(), 2, "{}", ended.out);
    }
}

#[test]
fn what_a_rank_has_started_may_end_by_itself_when_interrupted() {
    let mut child = fake_rank::start(&[], &["worker init print:joined sleep"]);
    // Both write to the same pipe: what they say may stand in one line.
    let mut said = String::new();
    while !["ready", "joined"].iter().all(|word| said.contains(word)) {
        said += &read_lines(&mut child, 1).concat();
    }
    rustix::process::kill_process(process(&child), Signal::TERM).expect("it runs");
    let ended = finish(child);
    assert_eq!(ended.status, Some(143));
    assert!(ended.out.contains("saved"), "{}", ended.out);
}

#[test]
fn a_second_interrupt_kills_ranks_that_ignore_the_first() {
    let script = "trap '' INT TERM; echo ready; while :; do sleep 0.02; done";
    let mut child = command(&["-n", "2", "sh", "-c", script]).spawn().expect("mpiexec is built");
    read_lines(&mut child, 2);
    rustix::process::kill_process(process(&child), Signal::INT).expect("it runs");
    std::thread::sleep(Duration::from_millis(20));
    rustix::process::kill_process(process(&child), Signal::INT).expect("it runs");
    assert_eq!(finish(child).status, Some(130));
}

#[test]
fn other_signals_are_passed_on_and_the_job_goes_on() {
    let script = "trap 'echo got it; exit 0' USR1; echo ready; while :; do sleep 0.02; done";
    let mut child = command(&["-n", "2", "sh", "-c", script]).spawn().expect("mpiexec is built");
    read_lines(&mut child, 2);
    rustix::process::kill_process(process(&child), Signal::USR1).expect("it runs");
    let ended = finish(child);
    assert_eq!(ended.status, Some(0));
    assert_eq!(ended.out.matches("got it").count(), 2, "{}", ended.out);
}
