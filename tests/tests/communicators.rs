//! Communicators, groups, and how errors on them are handled.

use oxmpi_tests::{Program, programs};

programs! {
    bad_input;
    comm_compare;
    comm_create;
    comm_dup;
    comm_errhandler;
    comm_free_pending;
    comm_hints;
    comm_idup;
    comm_names;
    comm_recycled;
    comm_split;
    group_ranges;
    group_sets;
    intercomm_collectives;
    intercomm_create;
    intercomm_from_groups;
}

#[test]
fn an_error_that_nobody_handles_ends_the_job_and_says_why() {
    let program = Program::compile("comm_errors_abort");
    for ranks in [1, 2, 4] {
        let ended = program.on(ranks).run();
        assert_ne!(ended.status, Some(0), "{}", ended.err);
        assert!(ended.err.contains("MPI_Send"), "{}", ended.err);
        assert!(ended.err.contains("MPI_ERR_RANK"), "{}", ended.err);
    }
}
