//! The progress thread. MPI-5.0: MPI Terms and Conventions, Progress.

use oxmpi_tests::Program;

const PROGRESS: &str = "OXMPI_PROGRESS";

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
