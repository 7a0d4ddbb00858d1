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

#[test]
fn a_function_that_is_not_built_says_so_once_where_its_error_handler_returns() {
    let program = Program::compile("errhan_not_built");
    for ranks in [1, 3] {
        let ended = program.on(ranks).run();
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        for function in ["MPI_Win_create", "MPI_File_open", "MPI_File_close", "MPI_T_init_thread"] {
            let said = format!("{function}: not built in this version of oxmpi");
            assert_eq!(ended.err.matches(&said).count(), ranks as usize, "{}", ended.err);
        }
        assert!(ranks == 1 || ended.err.contains("oxmpi: rank 1 on "), "{}", ended.err);
    }
    let ended = program.on(1).argument("fatal").run();
    assert_ne!(ended.status, Some(0), "{}", ended.err);
    assert_eq!(
        ended.err.matches("MPI_Win_create: not built in this version of oxmpi").count(),
        1,
        "{}",
        ended.err
    );
}

#[test]
fn errors_of_no_object_go_to_the_handler_that_the_program_has_set() {
    let program = Program::compile("errhan_no_object");
    for ranks in [1, 3] {
        program.on(ranks).passes();
    }
    let to_self = program.on(1).env("OXMPI_ERRORS_TO", "self").run();
    for ended in [program.on(1).argument("fatal").run(), to_self] {
        assert_ne!(ended.status, Some(0), "{}", ended.err);
        assert!(ended.err.contains("MPI_Type_free"), "{}", ended.err);
        assert!(ended.err.contains("MPI_ERRORS_ARE_FATAL"), "{}", ended.err);
    }
    let ended = program.on(1).env("OXMPI_ERRORS_TO", "world").run();
    assert_ne!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("OXMPI_ERRORS_TO is \"world\""), "{}", ended.err);
}
