//! Collectives in every lifetime. MPI-5.0: Collective Communication.

use oxmpi_tests::programs;

programs! {
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
    collective_mixed;
    collective_order;
    collective_outstanding;
    collective_overlap;
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
