//! Error handlers, and the codes that they hear.

use oxmpi_tests::{Program, programs};

programs! {
    errhan_codes;
    errhan_references;
    errhan_sessions;
}

#[test]
fn errors_of_no_object_go_to_the_handler_that_mpiexec_was_told() {
    let program = Program::compile("errhan_initial");
    for ranks in [1, 3] {
        program.on(ranks).option("-initial-errhandler").option("mpi_errors_return").passes();
    }
    let ended = program.on(2).run();
    assert_ne!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("MPI_Add_error_code"), "{}", ended.err);
    assert!(ended.err.contains("MPI_ERRORS_ARE_FATAL"), "{}", ended.err);
}
