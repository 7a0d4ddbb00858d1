//! Grids, graphs, and what neighbours exchange.

use oxmpi::{
    Blocks, Cartesian, Communicator, Dest, ErrorClass, Graph, Info, Key, Result, Source, start_all, wait_all,
};

const NONE: usize = usize::MAX;

#[oxmpi::test(ranks = 7)]
fn a_grid_knows_its_places(world: Communicator<'_>) -> Result<()> {
    let Some(grid) = world.cartesian(&[2, 3], &[true, false])? else {
        assert_eq!(world.rank(), 6);
        return Ok(());
    };
    assert_eq!((grid.dims(), grid.periodic()), (vec![2, 3], vec![true, false]));
    let at = grid.coordinates(grid.rank())?;
    assert_eq!(at, [grid.rank() / 3, grid.rank() % 3]);
    assert_eq!(grid.rank_at(&[at[0] as i32 - 2, at[1] as i32])?, grid.rank());
    let (before, after) = grid.shift(1, 1)?;
    assert_eq!(before, if at[1] == 0 { Source::Null } else { Source::Rank(grid.rank() - 1) });
    assert_eq!(after, if at[1] == 2 { Dest::Null } else { Dest::Rank(grid.rank() + 1) });
    let column = grid.sub(&[true, false])?;
    assert_eq!((column.size(), column.rank()), (2, at[0]));
    for wrong in [grid.rank_at(&[0, 3]), grid.rank_at(&[0]), grid.shift(2, 1).map(|_| 0)] {
        assert_eq!(wrong.expect_err("outside").class(), ErrorClass::Arg);
    }
    Ok(())
}

#[oxmpi::test(ranks = [1, 2, 4])]
fn neighbours_exchange_in_every_lifetime(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let line = world.cartesian(&[size], &[false])?.expect("every rank has a place");
    let send = [10 * rank, 10 * rank + 1];
    let left = if rank == 0 { NONE } else { 10 * (rank - 1) + 1 };
    let right = if rank + 1 == size { NONE } else { 10 * (rank + 1) };
    let mut recv = [NONE; 2];
    line.neighbor_alltoall(&send, &mut recv)?;
    assert_eq!(recv, [left, right]);
    let mut recv = [NONE; 2];
    line.scope(|scope| scope.neighbor_alltoall(&send, &mut recv)?.wait().map(drop))?;
    assert_eq!(recv, [left, right]);
    let (_, recv) = line.ineighbor_alltoall(send, [NONE; 2])?.wait()?.0;
    assert_eq!(recv, [left, right]);
    let mut halo = line.neighbor_alltoall_init(send, [NONE; 2])?;
    for _ in 0..3 {
        halo.recv_buf_mut().fill(NONE);
        halo = halo.start()?.wait()?;
        assert_eq!(halo.recv_buf(), [left, right]);
    }
    Ok(())
}

#[oxmpi::test(ranks = [2, 5])]
fn a_graph_has_edges_of_each_rank(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    // Everybody sends to all that come behind it.
    let graph = world.dist_graph_adjacent(0..rank, rank + 1..size)?;
    assert_eq!((graph.sources().len(), graph.destinations().len()), (rank, size - 1 - rank));
    let mut before = vec![NONE; rank];
    graph.neighbor_allgather(&rank, &mut before)?;
    assert!(before.into_iter().eq(0..rank));
    // Rank i sends i elements along each edge.
    let counts: Vec<usize> = (0..rank).collect();
    let mut all = vec![NONE; counts.iter().sum()];
    graph.neighbor_allgatherv(&vec![rank; rank], &mut all, &counts)?;
    assert!(all.into_iter().eq((0..rank).flat_map(|source| vec![source; source])));
    // Each edge has an element more than the one before.
    let sent = Blocks::consecutive(1..size - rank);
    let send: Vec<usize> = (1..size - rank).flat_map(|count| vec![rank; count]).collect();
    let received: Vec<usize> = (0..rank).map(|source| rank - source).collect();
    let mut recv = vec![NONE; received.iter().sum()];
    graph.neighbor_alltoallv(&send, &sent, &mut recv, &received)?;
    assert!(recv.into_iter().eq((0..rank).flat_map(|source| vec![source; rank - source])));
    Ok(())
}

/// Buffers lie where they lay, and contexts are used again; edges and data are others each time.
#[oxmpi::test(ranks = [1, 2, 4])]
fn neighbours_are_those_of_the_topology_that_is_made_again(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (mut send, mut recv) = ([NONE; 2], [NONE; 2]);
    for turn in 0..6 {
        let far = turn % size;
        let (from, to) = ((rank + size - far) % size, (rank + far) % size);
        let ring = world.dist_graph_adjacent([from], [to])?;
        for step in 0..3 {
            send = [rank, 10 * turn + step];
            ring.neighbor_alltoall(&send, &mut recv)?;
            assert_eq!(recv, [from, 10 * turn + step]);
        }
        let mut blocks = ring.neighbor_alltoall_init(send, recv)?;
        let mut gathered = ring.neighbor_allgatherv_init([rank; 2], vec![NONE; 2], &[2])?;
        if turn % 2 == 0 {
            drop(ring); // what was made by it goes on
        }
        for step in 0..3 {
            blocks.send_buf_mut()[1] = 100 * turn + step;
            gathered.send_buf_mut()[0] = 1000 * turn + rank + step;
            (gathered, blocks) = wait_all(start_all((gathered, blocks))?)?;
            assert_eq!(blocks.recv_buf(), [from, 100 * turn + step]);
            assert_eq!(gathered.recv_buf(), [1000 * turn + from + step, from]);
        }
    }
    Ok(())
}

#[oxmpi::test(ranks = 3)]
fn what_cannot_be_is_an_error(world: Communicator<'_>) -> Result<()> {
    let error = world.neighbor_allgather(&1, &mut [0; 2]).expect_err("nobody has neighbours");
    assert_eq!(error.class(), ErrorClass::Topology);
    assert_eq!(world.cartesian(&[2, 2], &[true; 2]).expect_err("too many").class(), ErrorClass::Dims);
    assert_eq!(world.cartesian(&[3], &[]).expect_err("one missing").class(), ErrorClass::Dims);
    assert_eq!(world.dist_graph_adjacent([], [3]).expect_err("no rank").class(), ErrorClass::Rank);
    assert_eq!(oxmpi::balanced_dims(7, [2, 0]).expect_err("odd").class(), ErrorClass::Dims);
    let error = oxmpi::balanced_dims(usize::MAX, [0, 0]).expect_err("too many");
    assert_eq!(error.class(), ErrorClass::Arg);
    assert!(error.to_string().contains("number of places, 18446744073709551615,"), "{error}");
    let ring = world.cartesian(&[3], &[true])?.expect("every rank has a place");
    let error = ring.neighbor_alltoall(&[1; 3], &mut [0; 2]).expect_err("not two blocks");
    assert_eq!(error.class(), ErrorClass::Count);
    Ok(())
}

/// MPI-5.0: Topologies: MPI_COMM_DUP hands the topology on.
#[oxmpi::test(ranks = [2, 5])]
fn duplicates_have_the_topology_and_the_type(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let circle = world.cartesian(&[size], &[true])?.expect("every rank has a place");
    let ring = world.dist_graph_adjacent([left], [right])?;
    let exact = Info::new().with(Key::EXACT_LENGTH, true);
    let circles = [circle.duplicate()?, circle.duplicate_with_info(&exact)?, circle.iduplicate()?.wait()?.0];
    for circle in circles {
        assert_eq!(circle.shift(0, 1)?, (Source::Rank(left), Dest::Rank(right)));
        let mut heard = [NONE; 2];
        circle.neighbor_allgather(&rank, &mut heard)?;
        assert_eq!(heard, [left, right]);
        assert_eq!(circle.sub(&[false])?.size(), 1);
    }
    for ring in [ring.duplicate()?, ring.duplicate_with_info(&exact)?, ring.iduplicate()?.wait()?.0] {
        let mut heard = [NONE];
        ring.neighbor_allgather(&rank, &mut heard)?;
        assert_eq!((heard, ring.destinations()), ([left], vec![right]));
    }
    // A communicator whose type says nothing of it becomes what it is, and nothing else.
    assert_eq!(Cartesian::try_from(Communicator::duplicate(&circle)?)?.dims(), [size]);
    assert_eq!(Graph::try_from(Communicator::duplicate(&ring)?)?.sources(), [left]);
    let class = |made: Result<()>| made.expect_err("it is none").class();
    assert_eq!(class(Graph::try_from(Communicator::duplicate(&circle)?).map(drop)), ErrorClass::Topology);
    assert_eq!(class(Cartesian::try_from(Communicator::duplicate(&ring)?).map(drop)), ErrorClass::Topology);
    assert_eq!(class(Cartesian::try_from(world.duplicate()?).map(drop)), ErrorClass::Topology);
    Ok(())
}
