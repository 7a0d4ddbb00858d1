//! Collectives that make the vectors which they receive into.

use oxmpi::{Beside, Communicator, Datatype, ErrorClass, Here, Op, Result, Shape, There, View};

use crate::intercommunicators::{others, sides};

/// An enumeration of which no bits that are all 0 are a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Datatype)]
#[repr(u8)]
enum Kind {
    #[default]
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
    let mine = Vec::from_iter(0..size);
    let turned = Vec::from_iter((0..size).rev().map(|place| Shape::range(place..place + 1)));
    assert_eq!(world.alltoallw_vec(&mine, &turned, &vec![1; size])?, vec![size - 1 - rank; size]);
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

/// So many of each.
fn of_each(ranks: &[usize], count: impl Fn(usize) -> usize) -> Vec<usize> {
    ranks.iter().enumerate().flat_map(|(index, &rank)| vec![rank; count(index)]).collect()
}

#[oxmpi::test(ranks = [2, 3, 5, 8])]
fn vectors_come_from_the_other_group(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    let (rank, size, count) = (world.rank(), between.size(), between.remote_size());
    let theirs = others(side, world.size());
    let sum: usize = theirs.iter().sum();
    for length in [0, 1, 5_000] {
        let all = of_each(&theirs, |_| length);
        assert_eq!(between.allgather_vec(&vec![rank; length], length)?, all);
        assert_eq!(between.alltoall_vec(&vec![rank; length * count], length)?, all);
        assert_eq!(between.allreduce_vec(&vec![rank; length], &Op::SUM)?, vec![sum; length]);
        // The two groups combine as many.
        let (mine, block) = (vec![rank; length * size * count], vec![sum; length * count]);
        assert_eq!(between.reduce_scatter_block_vec(&mine, &Op::SUM)?, block);
        let counts = vec![length * count; size];
        assert_eq!(between.reduce_scatter_vec(&mine, &counts, &Op::SUM)?, block);
    }
    // Each tells one more than its rank in its group.
    let (each, all) = (between.rank() + 1, of_each(&theirs, |index| index + 1));
    let (mine, counts) = (vec![rank; each * count], Vec::from_iter(1..=count));
    assert_eq!(between.allgatherv_vec(&mine[..each], &counts)?, all);
    assert_eq!(between.alltoallv_vec(&mine, vec![each; count], &counts)?, all);
    let shapes = Vec::from_iter((0..count).map(|index| Shape::range(index * each..(index + 1) * each)));
    assert_eq!(between.alltoallw_vec(&mine, &shapes, &counts)?, all);
    Ok(())
}

#[oxmpi::test(ranks = [2, 3, 5])]
fn vectors_come_from_and_to_a_root_of_the_other_group(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    let (rank, each, count) = (world.rank(), between.rank() + 1, between.remote_size());
    let theirs = others(side, world.size());
    let all = of_each(&theirs, |index| index + 1);
    let counts = Vec::from_iter(1..=count);
    for root_side in [0, 1] {
        if side == root_side && each == between.size() {
            between.bcast(Here(&[1, 2]))?;
            assert_eq!(between.gather_vec::<usize>(1)?, theirs);
            assert_eq!(between.gatherv_vec::<usize>(&counts)?, all);
            assert_eq!(between.reduce_vec::<usize>(1, &Op::SUM)?, [theirs.iter().sum()]);
            between.scatter(Here(&theirs))?;
            between.scatterv(Here(&all), &counts)?;
        } else if side == root_side {
            between.bcast::<i32>(Beside)?;
            between.gather::<usize>(Beside)?;
            between.gatherv::<usize>(Beside, [])?;
            between.reduce(Beside, &Op::<usize>::SUM)?;
            between.scatter::<usize>(Beside)?;
            between.scatterv::<usize>(Beside, [])?;
        } else {
            let root = count - 1;
            assert_eq!(between.bcast_vec::<i32>(root, 2)?, [1, 2]);
            between.gather(There(root, &rank))?;
            between.gatherv(There(root, &vec![rank; each]), [])?;
            between.reduce(There(root, &rank), &Op::SUM)?;
            assert_eq!(between.scatter_vec::<usize>(root, 1)?, [rank]);
            assert_eq!(between.scatterv_vec::<usize>(root, each)?, vec![rank; each]);
        }
    }
    let class = |result: Result<Vec<u64>>| result.expect_err("it cannot be").class();
    assert_eq!(class(between.bcast_vec(count, 1)), ErrorClass::Root);
    assert_eq!(class(between.gather_vec(usize::MAX)), ErrorClass::NoMem);
    Ok(())
}

/// Which is a value of any type, as memory that is all 0 is not.
#[oxmpi::test(ranks = [1, 2, 4])]
fn what_comes_from_nobody_is_the_default(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let line = world.cartesian(&[size], &[false])?.expect("every rank has a place");
    let is_there = [rank > 0, rank + 1 < size];
    let kinds = is_there.map(|is_there| if is_there { Kind::Wall } else { Kind::Fluid });
    assert_eq!(line.neighbor_allgather_vec(&Kind::Wall)?, kinds);
    // Who is on the left tells what it has for its right, and the other way round.
    let (left, right) =
        (if is_there[0] { 10 * rank + 1 } else { 0 }, if is_there[1] { 10 * rank + 20 } else { 0 });
    let mine = [10 * rank + 10, 10 * rank + 11];
    assert_eq!(line.neighbor_alltoall_vec(&mine)?, [left, right]);
    assert_eq!(line.neighbor_alltoallv_vec(&mine, [1, 1], &[1, 1])?, [left, right]);
    let ends = [Shape::range(0..1), Shape::range(1..2)];
    assert_eq!(line.neighbor_alltoallw_vec(&mine, &ends, &[1, 1])?, [left, right]);
    let error = world.neighbor_alltoall_vec(&mine).expect_err("the world has no neighbours");
    assert_eq!(error.class(), ErrorClass::Topology);
    Ok(())
}

#[oxmpi::test(ranks = [2, 5])]
fn blocks_of_neighbours_have_lengths_of_their_own(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    // Everybody sends to all that come behind it.
    let graph = world.dist_graph_adjacent(0..rank, rank + 1..size)?;
    let (before, behind) = (Vec::from_iter(0..rank), size - 1 - rank);
    let (counts, all) = (Vec::from_iter(1..=rank), of_each(&before, |rank| rank + 1));
    assert_eq!(graph.neighbor_allgatherv_vec(&vec![rank; rank + 1], &counts)?, all);
    let mine = vec![rank; (rank + 1) * behind];
    assert_eq!(graph.neighbor_alltoallv_vec(&mine, vec![rank + 1; behind], &counts)?, all);
    assert_eq!(
        graph.neighbor_allgather_vec(&[rank, 7])?,
        before.iter().flat_map(|&it| [it, 7]).collect::<Vec<_>>()
    );
    assert!(graph.neighbor_alltoall_vec(&Vec::<u8>::new())?.is_empty());
    Ok(())
}
