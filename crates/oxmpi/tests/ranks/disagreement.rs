//! Ranks that call a collective with different lengths hear of it, in every lifetime, and go on.

use oxmpi::{Communicator, ErrorClass, Op, Result};

use crate::job::on_ranks;

/// An allreduce in one lifetime, of so many elements, of `bool`s for the sake of those that are left undefined.
type Call = fn(&Communicator<'_>, usize) -> Result<()>;

const CALLS: [Call; 5] = [
    |comm, count| comm.allreduce(&vec![true; count], &mut vec![false; count], &Op::LAND),
    |comm, count| {
        let (mine, mut all) = (vec![true; count], vec![false; count]);
        let result = comm.scope(|scope| scope.allreduce(&mine, &mut all, &Op::LAND)?.wait().map(drop));
        assert!(all.iter().filter(|value| **value).count() <= count);
        result
    },
    |comm, count| {
        let (mine, mut all) = (vec![true; count], vec![false; count]);
        comm.scope(|scope| scope.allreduce(&mine, &mut all, &Op::LAND).map(drop))
    },
    |comm, count| comm.iallreduce(vec![true; count], vec![false; count], &Op::LAND)?.wait().map(drop),
    |comm, count| comm.allreduce_init(vec![true; count], vec![false; count], &Op::LAND).map(drop),
];

#[test]
fn lengths_that_differ_are_an_error_and_the_ranks_go_on() {
    on_ranks("disagreement::lengths_that_differ_are_an_error_and_the_ranks_go_on", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        for (call, counts) in
            CALLS.iter().flat_map(|call| [(call, [2, 3]), (call, [5_000, 1]), (call, [9, 90_000])])
        {
            let comm = world.duplicate()?;
            let result = call(&comm, counts[usize::from(rank == size - 1)]);
            if let Err(error) = &result {
                assert!(
                    matches!(error.class(), ErrorClass::Count | ErrorClass::Truncate | ErrorClass::Other),
                    "{error}"
                );
            }
            let mut failed = usize::from(result.is_err());
            world.allreduce_in_place(&mut failed, &Op::SUM)?;
            let least = if size == 1 { 0 } else { 2 };
            assert!(failed >= least, "{failed} of {size} heard of it");
        }
        Ok(())
    });
}

#[test]
fn a_dropped_request_of_ranks_that_disagree_is_over() {
    on_ranks("disagreement::a_dropped_request_of_ranks_that_disagree_is_over", |env| {
        let world = env.world();
        let comm = world.duplicate()?;
        drop(comm.ibcast(vec![1_u8; 10 + world.rank()], 0)?);
        drop(comm);
        world.barrier()
    });
}
