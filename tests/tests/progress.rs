//! The progress thread. MPI-5.0: MPI Terms and Conventions, Progress.

use std::fs;

use oxmpi_tests::{Job, Mark, Program, has_libfabric, prefix};

const PROGRESS: &str = "OXMPI_PROGRESS";

/// Ways to tell somebody something by calls that are over.
const WAYS: [&str; 12] = [
    "answer",
    "bcast",
    "bsend",
    "bsend-long",
    "free",
    "send",
    "send-many",
    "status",
    "status_any",
    "status_some",
    "test",
    "wait",
];

/// One more between hosts: on one of them what finds no room waits for a call.
const WAYS_BETWEEN_HOSTS: [&str; 1] = ["bsend-many-long"];

#[test]
fn long_operations_go_on_while_the_program_computes() {
    let program = Program::compile("progress_thread");
    for level in ["single", "multiple"] {
        program.on(2).env(PROGRESS, "thread").argument(level).passes();
    }
}

#[test]
fn ways_to_make_progress_that_there_are_not_are_refused() {
    let ended = Program::compile("collective_barrier").on(2).env(PROGRESS, "threads").run();
    assert!(ended.status != Some(0) && ended.err.contains("OXMPI_PROGRESS is 'threads'"), "{}", ended.err);
}

fn reaches(job: Job, how: &str) {
    let folder = prefix().join("tests").join(format!("told-{}", Mark::new().name()));
    fs::create_dir_all(&folder).expect("the prefix can be written to");
    job.argument(&folder.to_string_lossy()).argument(how).passes();
    fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn what_a_call_has_told_others_reaches_them_though_no_other_call_follows() {
    let program = Program::compile("progress_told");
    WAYS.into_iter().for_each(|how| reaches(program.on(3), how));
    if has_libfabric() {
        let ways = WAYS.into_iter().chain(WAYS_BETWEEN_HOSTS);
        ways.for_each(|how| reaches(program.on(2).over("left:1,right:1"), how));
    }
}
