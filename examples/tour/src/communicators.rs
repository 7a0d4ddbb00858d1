//! Who talks to whom.

use std::sync::atomic::{AtomicUsize, Ordering};

use oxmpi::{Beside, Communicator, Comparison, Here, Op, Result, There, balanced_dims};

/// Ranks of one color are by themselves.
pub fn split(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    // Backwards: a key decides the order.
    let mine = world.split(Some((rank % 2) as i32), -(rank as i32))?.expect("every rank has a color");
    mine.set_name(if rank.is_multiple_of(2) { "even" } else { "odd" });
    let mut first = rank;
    mine.bcast(&mut first, 0)?;
    assert!(first + 2 >= size, "the last of its color is the first");
    let none = world.split((rank == 0).then_some(0), 0)?;
    assert_eq!(none.is_some(), rank == 0);
    Ok(())
}

/// Groups are sets of processes, from which communicators are made.
pub fn groups(world: &Communicator<'_>) -> Result<()> {
    let (all, size) = (world.group(), world.size());
    let odd = all.include((1..size).step_by(2))?;
    let even = all.difference(&odd);
    let expected = if size == 1 { Comparison::Ident } else { Comparison::Similar };
    assert_eq!(odd.union(&even)?.compare(&all), expected);
    if let Some(odd) = world.create(&odd)? {
        let mut sum = 1;
        odd.allreduce_in_place(&mut sum, &Op::SUM)?;
        assert_eq!(sum, size / 2);
    }
    assert_eq!(world.duplicate()?.compare(world), Comparison::Congruent);
    Ok(())
}

/// How often a library has been called on a communicator, which it keeps there.
struct Calls(AtomicUsize);

/// What is kept with a communicator is known by its type, and is its duplicates' too.
pub fn attributes(world: &Communicator<'_>) -> Result<()> {
    let call = |comm: &Communicator<'_>| {
        let calls = comm.attribute::<Calls>().unwrap_or_else(|| {
            comm.set_attribute(Calls(AtomicUsize::new(0)));
            comm.attribute().expect("it was just set")
        });
        calls.0.fetch_add(1, Ordering::Relaxed) + 1
    };
    assert_eq!((call(world), call(world), call(&world.duplicate()?)), (1, 2, 3));
    let calls = world.remove_attribute::<Calls>().expect("it is there");
    assert_eq!((calls.0.load(Ordering::Relaxed), call(world)), (3, 1));
    Ok(())
}

/// Two groups, each of which hears what the other one says.
pub fn between_groups(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    if size < 2 {
        return Ok(()); // there is nobody on the other side
    }
    let is_master = rank == 0;
    let side = world.split(Some(i32::from(!is_master)), 0)?.expect("every rank has a color");
    let between = side.intercommunicator(0, world, usize::from(is_master), 0)?;
    let mut sum = 0;
    if is_master {
        between.bcast(Here(&[3_usize]))?;
        between.reduce(Here(&mut sum), &Op::SUM)?;
        assert_eq!(sum, 3 * (size - 1));
    } else {
        let mut task = [0_usize];
        between.bcast(There(0, &mut task))?;
        between.reduce(There(0, &task), &Op::SUM)?;
    }
    // The other way: one of the workers tells the master, the rest stand beside.
    let mut answer = 0_usize;
    match (is_master, side.rank()) {
        (true, _) => between.bcast(There(0, &mut answer))?,
        (false, 0) => between.bcast(Here(&42_usize))?,
        (false, _) => between.bcast::<usize>(Beside)?,
    }
    assert_eq!(answer, if is_master { 42 } else { 0 });
    Ok(())
}

/// A grid, its rows, and what comes from the neighbours.
pub fn grid(world: &Communicator<'_>) -> Result<()> {
    let dims = balanced_dims(world.size(), [0, 0])?;
    let grid = world.cartesian(&dims, &[true, false])?.expect("every rank has a place");
    let at = grid.coordinates(grid.rank())?;
    assert_eq!(grid.rank_at(&[at[0] as i32 + dims[0] as i32, at[1] as i32])?, grid.rank(), "it goes around");
    let row = grid.sub(&[false, true])?;
    assert_eq!((row.size(), row.rank()), (dims[1], at[1]));
    let mut around = [usize::MAX; 4];
    grid.neighbor_allgather(&grid.rank(), &mut around)?;
    let left = if at[1] == 0 { usize::MAX } else { grid.rank() - 1 };
    assert_eq!(around[2], left);
    Ok(())
}
