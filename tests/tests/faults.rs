//! Ranks that are killed, stopped or late at chosen points (`shm/fault.rs`): nobody waits for ever, nothing is left.
//!
//! What is installed for use has no such points: then these tests have nothing to do.

use std::fs;

use oxmpi_tests::{Job, Mark, Program, prefix};

/// Points that ranks of one job come to, and how often before something happens there.
const POINTS: [(&str, u32); 8] = [
    ("asleep", 1),
    ("asleep", 5),
    ("before-post", 1),
    ("before-post", 37),
    ("before-ring", 1),
    ("before-ring", 37),
    ("in-copy", 1),
    ("in-copy", 41),
];

/// Whether there are points at all.
fn are_there() -> bool {
    const VARIABLE: &[u8] = b"OXMPI_FAULT";
    let library = fs::read(prefix().join("lib/libmpi_abi.so.1")).expect("it is installed");
    library.windows(VARIABLE.len()).any(|window| window == VARIABLE)
}

fn with_fault(job: Job, (point, count): (&str, u32), what: &str) -> Job {
    job.env("OXMPI_FAULT", &format!("rank=1,point={point},count={count},do={what}"))
}

#[test]
fn a_rank_that_is_killed_at_any_point_ends_its_job_which_says_so() {
    if !are_there() {
        return;
    }
    let program = Program::compile("fault_within");
    for point in POINTS {
        let mark = Mark::new();
        let ended = with_fault(mark.on(program.on(3)), point, "kill").run();
        assert_eq!(ended.status, Some(137), "{point:?}: {}{}", ended.out, ended.err);
        assert!(ended.err.contains("mpiexec: rank 1 (") && ended.err.contains("SIGKILL"), "{}", ended.err);
        let is_arriving = point == ("asleep", 1); // in MPI_Init: the others may not have come so far
        assert!(
            is_arriving || ended.err.contains("mpiexec:   rank"),
            "{point:?}: where are they? {}",
            ended.err
        );
        mark.is_gone();
    }
}

#[test]
fn a_rank_that_is_stopped_or_late_at_any_point_keeps_its_job_waiting_and_no_more() {
    if !are_there() {
        return;
    }
    let program = Program::compile("fault_within");
    for (point, what) in POINTS.into_iter().flat_map(|point| [(point, "stop:300"), (point, "delay:300")]) {
        let mark = Mark::new();
        with_fault(mark.on(program.on(3)), point, what).passes();
        mark.is_gone();
    }
}

/// Another job than that with the fault, which passes; how that with the fault ended, and what the other said.
fn beside(point: (&str, u32), what: &str) -> (Option<i32>, String) {
    beside_with(point, what, "auto")
}

/// The same where the memory of others is read directly, or not.
fn beside_with(point: (&str, u32), what: &str, single_copy: &str) -> (Option<i32>, String) {
    let (program, mark) = (Program::compile("fault_between"), Mark::new());
    let give = |job: Job, side: &str| {
        let job = job.env("OXMPI_SINGLE_COPY", single_copy);
        mark.on(job).argument(side).argument(mark.name())
    };
    let server = give(program.on(2), "--serve").start();
    give(program.on(1), "--look").passes();
    let client = with_fault(give(program.on(2), "--visit"), point, what).run();
    // It may have died before it has connected.
    if client.status != Some(0) {
        give(program.on(1), "--replace").passes();
    }
    let ended = server.ended();
    let passed = ended.status == Some(0) && ended.out.contains("passed on 2\n");
    assert!(passed, "{point:?} {what}: {}{}\n{}{}", ended.out, ended.err, client.out, client.err);
    mark.is_gone();
    (client.status, ended.out)
}

#[test]
fn a_rank_that_is_killed_at_any_point_is_an_error_for_other_jobs_which_go_on() {
    if !are_there() {
        return;
    }
    for point in POINTS.into_iter().chain([("attaching", 1)]) {
        let (status, said) = beside(point, "kill");
        assert_eq!(status, Some(137), "{point:?}: {said}");
    }
}

#[test]
fn a_rank_that_is_killed_while_it_reads_the_memory_of_others_is_no_different() {
    if !are_there() {
        return;
    }
    let program = Program::compile("fault_within");
    for point in [("in-copy", 1), ("in-copy", 41)] {
        let mark = Mark::new();
        let job = mark.on(program.on(3)).env("OXMPI_SINGLE_COPY", "always");
        let ended = with_fault(job, point, "kill").run();
        assert_eq!(ended.status, Some(137), "{point:?}: {}{}", ended.out, ended.err);
        mark.is_gone();
        let (status, said) = beside_with(point, "kill", "always");
        assert_eq!(status, Some(137), "{point:?}: {said}");
    }
}

#[test]
fn a_rank_that_is_stopped_or_late_at_any_point_keeps_other_jobs_waiting_and_no_more() {
    if !are_there() {
        return;
    }
    let points = POINTS.into_iter().chain([("attaching", 1)]);
    for (point, what) in points.flat_map(|point| [(point, "stop:300"), (point, "delay:300")]) {
        let (status, said) = beside(point, what);
        assert_eq!(status, Some(0), "{point:?} {what}: {said}");
        assert!(said.contains("all went well\n"), "{point:?} {what}: {said}");
    }
}
