//! Memory of `MPI_Alloc_mem`. MPI-5.0: MPI Environmental Management, Memory Allocation.

use oxmpi_tests::{Program, programs};

programs! {
    allocated_collectives on 1 2 3 5;
    allocated_freed on 2 3;
    allocated_limits on 1 2 4;
    allocated_pt2pt on 1 2 3 4;
}

#[test]
fn memory_is_private_where_there_is_no_room_for_more() {
    let program = Program::compile("allocated_limits");
    for limit in ["ulimit -f 40000", "ulimit -v 500000"] {
        program.on(2).after(limit).passes();
    }
}

/// Collectives that are messages, not lines.
const BY_MESSAGES: &str = "allgather=ring,allreduce=ring,alltoall=pairwise,bcast=binomial,gather=linear,\
                           reduce=binomial,scatter=linear";

#[test]
fn messages_of_collectives_are_read_where_they_lie() {
    Program::compile("allocated_collectives").on(3).env("OXMPI_ALGORITHMS", BY_MESSAGES).passes();
}
