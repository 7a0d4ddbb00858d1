//! Nothing is left behind: no process, no descriptor.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use crate::fake_rank;
use crate::run::{command, finish, process, read_lines, shells, wait_until_gone};

#[test]
fn a_rank_has_its_streams_the_segment_and_the_lifeline_open_and_nothing_else() {
    // Its own child lists them: a shell that lists itself opens one more.
    let script = "ls /proc/$$/fd; echo $OXMPI_JOB_FD $OXMPI_LIFELINE_FD >&2";
    let ended = shells(1, &[], script);
    let mut expected: Vec<u32> = vec![0, 1, 2];
    expected.extend(ended.err.split_whitespace().map(|fd| fd.parse::<u32>().expect("a number")));
    expected.sort_unstable();
    let mut open: Vec<u32> = ended.out.lines().map(|fd| fd.parse().expect("a number")).collect();
    open.sort_unstable();
    assert_eq!(open, expected);
}

/// Prints the shell's own process and that of a child in the background, then waits.
const FAMILY: &str = "sleep 1000 & echo $$; echo $!; wait";

#[test]
fn killing_the_launcher_kills_ranks_and_what_they_have_started() {
    let mut child = command(&["-n", "3", "sh", "-c", FAMILY]).spawn().expect("mpiexec is built");
    let mut processes = read_lines(&mut child, 6);
    processes.push(guardian_of(&child));
    rustix::process::kill_process(process(&child), Signal::KILL).expect("it runs");
    assert_eq!(finish(child).status, None);
    processes.iter().for_each(|pid| wait_until_gone(pid));
}

#[test]
fn a_stopped_guardian_does_not_keep_the_launcher_from_ending() {
    let mut child = command(&["-n", "2", "sh", "-c", FAMILY]).spawn().expect("mpiexec is built");
    let processes = read_lines(&mut child, 4);
    let guardian = guardian_of(&child);
    let pid = Pid::from_raw(guardian.parse().expect("a number")).expect("it runs");
    rustix::process::kill_process(pid, Signal::STOP).expect("it runs");
    rustix::process::kill_process(process(&child), Signal::TERM).expect("it runs");
    assert_eq!(finish(child).status, Some(143));
    processes.iter().chain([&guardian]).for_each(|pid| wait_until_gone(pid));
}

/// The child of the launcher that has the guardian's name, once it has.
fn guardian_of(launcher: &Child) -> String {
    let pid = launcher.id();
    let name = |pid: &str| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    loop {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("it runs");
        match children.split_whitespace().find(|pid| name(pid) == "mpiexec-guard\n") {
            Some(guardian) => return guardian.to_owned(),
            None => thread::sleep(Duration::from_millis(1)),
        }
    }
}

#[test]
fn killing_the_launcher_closes_the_lifelines() {
    let mut child = fake_rank::start(&[], &["lifeline"]);
    let lines = read_lines(&mut child, 3); // the test runner says something first
    let pid = lines.iter().find(|line| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()));
    let pid = pid.expect("the rank's process").clone();
    rustix::process::kill_process(process(&child), Signal::KILL).expect("it runs");
    assert_eq!(finish(child).status, None);
    wait_until_gone(&pid);
}

/// Rank 0 runs one program after the other, the second in a session of its own; rank 1 never runs its second one.
const ROUNDS: &str =
    "\"$0\" \"$@\"; FAKE_RANK_0=inherit setsid sh -c 'echo $$; exec \"$0\" \"$@\"' \"$0\" \"$@\"; :";

#[test]
fn killing_the_launcher_kills_who_waits_for_the_successors_of_other_ranks() {
    let mut child =
        fake_rank::start(&["sh", "-c", ROUNDS], &["inherit finalize", "succeeded:0 print:taken sleep"]);
    let (mut pid, mut is_taken) = (None, false);
    while pid.is_none() || !is_taken {
        let line = read_lines(&mut child, 1).concat();
        is_taken |= line == "taken";
        pid = pid.or_else(|| line.parse::<u32>().is_ok().then_some(line));
    }
    rustix::process::kill_process(process(&child), Signal::KILL).expect("it runs");
    assert_eq!(finish(child).status, None);
    wait_until_gone(&pid.expect("it was printed"));
}

#[test]
fn a_successful_end_leaves_no_process() {
    let ended = shells(2, &[], "sleep 1000 & echo $!");
    assert_eq!(ended.status, Some(0));
    ended.out.lines().for_each(wait_until_gone);
}

#[test]
fn a_daemon_that_has_left_its_session_is_found_and_buried() {
    let daemon = r#"echo $$; exec >/dev/null; exec sleep 1000"#;
    let script = format!("pid=$(setsid sh -c '{daemon}' &); echo $pid");
    let ended = shells(2, &[], &script);
    assert_eq!((ended.status, ended.out.lines().count()), (Some(0), 2));
    for pid in ended.out.lines() {
        assert!(!fs::exists(format!("/proc/{pid}")).expect("/proc"), "process {pid} is left");
    }
}

#[test]
fn a_failure_leaves_no_process() {
    let ended = shells(2, &[], "sleep 1000 & echo $!; test $OXMPI_RANK = 0 && exit 1; wait");
    assert_eq!(ended.status, Some(1));
    ended.out.lines().for_each(wait_until_gone);
}

#[test]
fn an_interrupt_leaves_no_process() {
    let mut child = command(&["-n", "2", "sh", "-c", FAMILY]).spawn().expect("mpiexec is built");
    let processes = read_lines(&mut child, 4);
    rustix::process::kill_process(process(&child), Signal::TERM).expect("it runs");
    assert_eq!(finish(child).status, Some(143));
    processes.iter().for_each(|pid| wait_until_gone(pid));
}
