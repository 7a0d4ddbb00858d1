//! Completing requests of every kind. MPI-5.0: Communication Completion, Multiple Completions.

use oxmpi_tests::{Program, programs};

programs! {
    request_all;
    request_any;
    request_error_field on 1;
    request_errors;
    request_generalized;
    request_misuse;
    request_mixed;
    request_some;
    request_startall;
    request_status;
}

/// What a program forgets is counted and named, where it is asked for.
#[test]
fn requests_that_are_forgotten_are_named_at_the_end() {
    let program = Program::compile("request_leaks");
    let ended = program.on(2).env("OXMPI_CHECK", "1").run();
    let expected = "oxmpi: rank 0: MPI_Finalize: 7 requests are neither completed nor freed:
  3 x MPI_Isend of 8 bytes to rank 1, tag 7 on the pipeline (complete)
  1 x MPI_Grequest_start (under way)
  1 x MPI_Ibarrier on MPI_COMM_WORLD (complete)
  1 x MPI_Irecv of up to 40 bytes from MPI_ANY_SOURCE, tag 9 on MPI_COMM_WORLD (under way)
  1 x MPI_Send_init of 400 bytes to rank 1, tag 8 on MPI_COMM_WORLD (inactive)
";
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains(expected), "{}", ended.err);
    assert!(ended.err.contains("rank 1: MPI_Finalize: 7 requests"), "{}", ended.err);
    let ended = program.on(2).run();
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    let ended = Program::compile("request_mixed").on(2).env("OXMPI_CHECK", "1").run();
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
}
