//! Collectives in every lifetime. MPI-5.0: Collective Communication.

use oxmpi_tests::{Program, has_libfabric, programs};

programs! {
    collective_again on 1 2 3 4 7;
    collective_given_up on 1 2;
    collective_alive;
    collective_aliased;
    collective_allgather;
    collective_allgatherv;
    collective_allreduce;
    collective_alltoall;
    collective_alltoallv;
    collective_apart;
    collective_arrays;
    collective_barrier;
    collective_bcast;
    collective_exscan;
    collective_freed;
    collective_gather;
    collective_gatherv;
    collective_huge on 2;
    collective_in_place;
    collective_independent;
    collective_inits;
    collective_local;
    collective_mismatch on 2 3 4 7 8;
    collective_mismatch_ahead on 2 3 4 7 8;
    collective_mismatch_blocks on 2 3 4 6;
    collective_mismatch_calls on 2 3 4 7 8;
    collective_mixed;
    collective_order;
    collective_outstanding;
    collective_overlap;
    collective_plans on 1 2 3 4;
    collective_progress;
    collective_random;
    collective_reduce;
    collective_reduce_scatter;
    collective_reduce_scatter_block;
    collective_restart;
    collective_scan;
    collective_scatter;
    collective_significant;
}

/// Collectives that are messages, not lines.
const BY_MESSAGES: &str = "allgather=ring,alltoall=pairwise,barrier=dissemination,bcast=binomial,\
                           gather=linear,reduce=binomial,scatter=linear";

#[test]
fn ranks_that_send_each_other_something_else_notice_it() {
    let program = Program::compile("collective_mismatch_calls");
    for ranks in [2, 3, 4] {
        program.on(ranks).env("OXMPI_ALGORITHMS", BY_MESSAGES).passes();
    }
}

/// Who shares no memory cannot look up what others call: they ask, and answer.
#[test]
fn ranks_of_several_hosts_that_call_something_else_notice_it() {
    if !has_libfabric() {
        return;
    }
    let program = Program::compile("collective_mismatch_calls");
    program.on(2).over("left,right").argument("3").passes();
    program.on(4).over("left:2,right:2").argument("3").argument("some").passes();
}

#[test]
fn types_are_compared_where_the_user_wants_it() {
    let program = Program::compile("collective_mismatch_types");
    for ranks in [2, 3, 4] {
        program.on(ranks).env("OXMPI_CHECK", "1").passes();
        program.on(ranks).env("OXMPI_CHECK", "1").env("OXMPI_ALGORITHMS", BY_MESSAGES).passes();
    }
    for right in
        ["collective_random", "datatype_collectives", "collective_mismatch_calls", "intercomm_random"]
    {
        Program::compile(right).on(3).env("OXMPI_CHECK", "1").passes();
    }
}

#[test]
fn types_are_compared_between_hosts_too() {
    if !has_libfabric() {
        return;
    }
    let program = Program::compile("collective_mismatch_types");
    program.on(2).over("left,right").env("OXMPI_CHECK", "1").passes();
}

/// Who reads the memory of others finds all of a sudden that the system forbids it.
#[test]
fn what_may_not_be_read_any_more_comes_by_another_way() {
    let program = Program::compile("collective_unreadable");
    for (ranks, how) in [(2, "filter"), (3, "filter"), (5, "filter"), (2, "secret"), (3, "secret")] {
        program.on(ranks).argument(how).env("OXMPI_SINGLE_COPY", "always").passes();
    }
}
