//! Communicators, groups, and how errors on them are handled.

use oxmpi_tests::{Program, programs};

programs! {
    comm_compare;
    comm_concurrent;
    comm_create;
    comm_disconnect;
    comm_dup;
    comm_errhandler;
    comm_free_pending;
    comm_hints;
    comm_idup;
    comm_names;
    comm_random;
    comm_recycled;
    comm_split;
    comm_split_type;
    comm_wide on 3 130;
    group_ranges;
    group_sets;
    intercomm_collectives;
    intercomm_create;
    intercomm_from_groups;
    intercomm_random;
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

#[test]
fn ranks_bound_to_cores_are_split_by_them() {
    let program = Program::compile("comm_split_type");
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u32;
    program.on(cpus.min(4)).option("--bind-to").option("core").argument("bound").passes();
}
