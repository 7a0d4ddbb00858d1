//! Collectives that are waited for.

use oxmpi::{Blocks, Communicator, Op, Result};

/// Nobody leaves before all have come.
pub fn barrier(world: &Communicator<'_>) -> Result<()> {
    world.barrier()
}

/// One rank knows, then all do.
pub fn broadcast(world: &Communicator<'_>) -> Result<()> {
    let root = world.size() - 1;
    let mut table = [[0.0; 4]; 4];
    if world.rank() == root {
        (0..4).for_each(|i| table[i][i] = 1.0);
    }
    world.bcast(&mut table, root)?;
    assert_eq!(table[3], [0.0, 0.0, 0.0, 1.0]);
    Ok(())
}

/// A block of each for one, or for all; and of one for each.
pub fn gather(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mine = [rank, rank * rank];
    let mut all = vec![0; 2 * size];
    world.gather(&mine, &mut all, 0)?;
    let mut everywhere = vec![0; 2 * size];
    world.allgather(&mine, &mut everywhere)?;
    if rank == 0 {
        assert_eq!(all, everywhere);
    }
    assert!(everywhere.chunks(2).enumerate().all(|(rank, block)| block == [rank, rank * rank]));
    let mut is_even = vec![false; size];
    world.allgather(&(rank % 2 == 0), &mut is_even)?;
    assert_eq!(is_even.iter().filter(|&&is_even| is_even).count(), size.div_ceil(2));
    let mut back = [0; 2];
    world.scatter(&everywhere, &mut back, 0)?;
    assert_eq!(back, mine);
    Ok(())
}

/// The same with blocks that are not equally long.
pub fn gather_blocks(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let blocks = Blocks::consecutive(1..=size);
    let mut all = vec![0; size * (size + 1) / 2];
    world.gatherv(&vec![rank; rank + 1], &mut all, &blocks, 0)?;
    let mut back = vec![0; rank + 1];
    world.scatterv(&all, &blocks, &mut back, 0)?;
    assert_eq!(back, vec![rank; rank + 1]);
    world.allgatherv(&back, &mut all, &blocks)?;
    assert_eq!(all.last(), Some(&(size - 1)));
    Ok(())
}

/// A block from everybody to everybody.
pub fn exchange(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let send: Vec<usize> = (0..size).map(|other| 100 * rank + other).collect();
    let mut recv = vec![0; size];
    world.alltoall(&send, &mut recv)?;
    assert!(recv.into_iter().eq((0..size).map(|other| 100 * other + rank)));
    Ok(())
}

/// What all have, combined: for one, for all, or a block for each.
pub fn reduce(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank() as i64, world.size() as i64);
    let mut greatest = 0;
    world.reduce(&rank, &mut greatest, &Op::MAX, 0)?;
    assert_eq!(greatest, if rank == 0 { size - 1 } else { 0 });
    let mut sums = [rank, -rank];
    world.allreduce_in_place(&mut sums, &Op::SUM)?;
    assert_eq!(sums, [size * (size - 1) / 2, -size * (size - 1) / 2]);
    let (mine, mut least) = ((f64::from(rank as i32) - 1.5, rank), (0.0, 0));
    world.allreduce(&mine, &mut least, &Op::MINLOC)?;
    assert_eq!(least, (-1.5, 0));
    let mut part = 0;
    world.reduce_scatter_block(&vec![rank; size as usize], &mut part, &Op::SUM)?;
    assert_eq!(part, sums[0]);
    Ok(())
}

/// An operation of one's own is a closure over elements.
pub fn user_operation(world: &Communicator<'_>) -> Result<()> {
    // A mean and how many it is of.
    let join = |(a, n): (f64, u32), (b, m): (f64, u32)| {
        let all = n + m;
        ((a * f64::from(n) + b * f64::from(m)) / f64::from(all), all)
    };
    let mut mean = (world.rank() as f64, 1);
    world.allreduce_in_place(&mut mean, &Op::user_commutative(join))?;
    assert!((mean.0 - (world.size() - 1) as f64 / 2.0).abs() < 1e-9);
    Ok(())
}

/// What the ranks up to this one have.
pub fn scan(world: &Communicator<'_>) -> Result<()> {
    let rank = world.rank();
    let (mut up_to, mut before) = (0, 0);
    world.scan(&1, &mut up_to, &Op::SUM)?;
    world.exscan(&1, &mut before, &Op::SUM)?;
    assert_eq!((up_to, before), (rank + 1, rank));
    Ok(())
}
