//! What has failed is over: nobody writes into a buffer that has come back with an error.

use oxmpi::{Communicator, Op, Result};

/// A collective of so many elements, in whatever buffer; its outcome, with the memory that it had.
type Call = fn(&Communicator<'_>, usize) -> (Result<()>, Vec<u64>);

const CALLS: [Call; 5] = [
    |comm, count| {
        let mut buf = vec![7; count];
        (comm.bcast(&mut buf, 0), buf)
    },
    |comm, count| {
        let mut buf = vec![7; count];
        (comm.allreduce_in_place(&mut buf, &Op::SUM), buf)
    },
    |comm, count| {
        let mut buf = vec![7; count * comm.size()];
        (comm.allgather(&vec![7; count], &mut buf), buf)
    },
    |comm, count| {
        let mut buf = vec![7; count * comm.size()];
        (comm.alltoall(&vec![7; count * comm.size()], &mut buf), buf)
    },
    |comm, count| {
        let (send, mut buf) = (vec![7; count], vec![7; count]);
        let outcome = comm.scope(|scope| scope.reduce(&send, &mut buf, &Op::SUM, 0)?.wait().map(drop));
        (outcome, buf)
    },
];

#[oxmpi::test(ranks = [2, 3, 4])]
fn a_buffer_that_has_come_back_with_an_error_is_the_programs(world: Communicator<'_>) -> Result<()> {
    let last = world.size() - 1;
    for call in CALLS {
        for counts in [[3, 2], [2, 3], [9_000, 10], [10, 9_000], [300_000, 200_000], [1_000, 300_000]] {
            let comm = world.duplicate()?;
            let (_, mut buf) = call(&comm, counts[usize::from(world.rank() == last)]);
            buf.fill(0xc0ffee);
            // Whatever was under way would come now.
            let peer = (world.rank() + 1) % world.size();
            let before = (world.rank() + world.size() - 1) % world.size();
            world.sendrecv(&vec![1_u8; 100_000], peer, 0, &mut vec![0_u8; 100_000], before, 0)?;
            drop(comm);
            world.barrier()?;
            assert!(buf.iter().all(|&element| element == 0xc0ffee), "{counts:?}");
        }
    }
    Ok(())
}
