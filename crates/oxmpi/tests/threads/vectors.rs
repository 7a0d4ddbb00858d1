//! Collectives that make the vectors which they receive into.

use oxmpi::{Communicator, Datatype, ErrorClass, Op, Result, Shape, View};

/// An enumeration of which no bits that are all 0 are a value.
#[derive(Clone, Copy, Debug, PartialEq, Datatype)]
#[repr(u8)]
enum Kind {
    Fluid = 1,
    Wall = 2,
}

#[oxmpi::test(ranks = [1, 2, 3, 7])]
fn vectors_are_as_long_as_what_is_received(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let everybody = Vec::from_iter(0..size);
    for length in [0, 1, 3, 5_000] {
        let (mine, root) = (vec![rank; length], length % size);
        let all: Vec<usize> = everybody.iter().flat_map(|&rank| vec![rank; length]).collect();
        assert_eq!(world.allgather_vec(&mine)?, all);
        assert_eq!(world.gather_vec(&mine, root)?, (rank == root).then_some(all.clone()));
        assert_eq!(world.scatter_vec(&all, length, root)?, mine);
        assert_eq!(world.alltoall_vec(&all)?, vec![rank; length * size]);
        let sum = size * (size - 1) / 2;
        assert_eq!(world.allreduce_vec(&mine, &Op::SUM)?, vec![sum; length]);
        assert_eq!(world.reduce_vec(&mine, &Op::SUM, root)?, (rank == root).then_some(vec![sum; length]));
        assert_eq!(world.reduce_scatter_block_vec(&all, &Op::SUM)?, vec![rank * size; length]);
        assert_eq!(world.scan_vec(&mine, &Op::SUM)?, vec![rank * (rank + 1) / 2; length]);
        let before = (rank > 0).then(|| vec![rank * (rank - 1) / 2; length]);
        assert_eq!(world.exscan_vec(&mine, &Op::SUM)?, before);
    }
    Ok(())
}

#[oxmpi::test(ranks = [1, 2, 3, 7])]
fn blocks_have_lengths_of_their_own(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let counts = Vec::from_iter(0..size); // rank 0 has nothing
    let all: Vec<usize> = counts.iter().flat_map(|&rank| vec![rank; rank]).collect();
    assert_eq!(world.allgatherv_vec(&vec![rank; rank], &counts)?, all);
    assert_eq!(world.gatherv_vec(&vec![rank; rank], &counts, 0)?, (rank == 0).then_some(all.clone()));
    assert_eq!(world.scatterv_vec(&all, &counts, rank, size - 1)?, vec![rank; rank]);
    assert_eq!(world.alltoallv_vec(&all, &counts, &vec![rank; size])?, vec![rank; rank * size]);
    assert_eq!(world.reduce_scatter_vec(&all, &counts, &Op::SUM)?, vec![rank * size; rank]);
    Ok(())
}

#[oxmpi::test(ranks = [2, 3])]
fn elements_are_of_any_type_and_sent_from_views(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let table = [(Kind::Wall, rank), (Kind::Fluid, 9), (Kind::Fluid, rank), (Kind::Wall, 9)];
    let column = View::new(&table, &Shape::strided(2, 1, 2))?;
    let all = world.allgather_vec(&column)?;
    assert!(all.chunks(2).enumerate().all(|(rank, two)| two == [(Kind::Wall, rank), (Kind::Fluid, rank)]));
    assert_eq!(world.gather_vec(&(), size - 1)?.map(|all| all.len()), (rank == size - 1).then_some(size));
    assert!(world.allreduce_vec(&true, &Op::LAND)?[0]);
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn what_cannot_be_is_told(world: Communicator<'_>) -> Result<()> {
    let class = |result: Result<Vec<u64>>| result.expect_err("it cannot be").class();
    assert_eq!(class(world.allgatherv_vec(&[1], &[usize::MAX, 1])), ErrorClass::NoMem);
    assert_eq!(class(world.scatter_vec(&[1, 2], 1 << 60, 0)), ErrorClass::NoMem);
    assert_eq!(class(world.scatter_vec(&[1, 2], 1, 2)), ErrorClass::Root);
    assert_eq!(class(world.reduce_scatter_block_vec(&[1, 2, 3], &Op::SUM)), ErrorClass::Count);
    assert_eq!(class(world.reduce_scatter_vec(&[1, 2], &[2], &Op::SUM)), ErrorClass::Count);
    let error = world.gather_vec(&[1], 5).expect_err("there are two ranks");
    assert_eq!((error.class(), error.function()), (ErrorClass::Root, Some("MPI_Gather")));
    Ok(())
}

/// What a rank tells that is no value of the others' type is not seen.
#[oxmpi::test(ranks = 2)]
fn what_is_no_value_is_not_seen(world: Communicator<'_>) -> Result<()> {
    if world.rank() == 0 {
        assert_eq!(world.allgather_vec(&7_u8)?, [7, 1]);
    } else {
        let error = world.allgather_vec(&Kind::Fluid).expect_err("7 is no kind");
        assert_eq!((error.class(), error.function()), (ErrorClass::Type, Some("MPI_Allgather")));
    }
    Ok(())
}

/// Nothing that is all 0 is a kind: what rank 0 does not get is not taken for one.
#[oxmpi::test(ranks = [1, 3])]
fn what_is_not_received_is_not_looked_at(world: Communicator<'_>) -> Result<()> {
    let mine = [Kind::Wall, Kind::Fluid];
    let before = world.exscan_vec(&mine, &Op::user(|_, right| right))?;
    assert_eq!(before, (world.rank() > 0).then_some(mine.to_vec()));
    Ok(())
}
