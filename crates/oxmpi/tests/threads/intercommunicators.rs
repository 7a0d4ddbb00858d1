//! Two groups that talk to each other.

use oxmpi::{Beside, Communicator, ErrorClass, Here, Intercommunicator, Op, Result, Source, There};

/// The even ranks on one side, the odd ones on the other: which side this is, and what is between them.
fn sides<'env>(world: &Communicator<'env>) -> Result<(usize, Intercommunicator<'env>)> {
    let side = world.rank() % 2;
    let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    Ok((side, group.intercommunicator(0, world, 1 - side, 0)?))
}

#[oxmpi::test(ranks = [2, 3, 5, 8])]
fn everybody_hears_the_other_group(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    let others: Vec<usize> = (1 - side..world.size()).step_by(2).collect();
    assert_eq!((between.size(), between.remote_size()), (between.group().size(), others.len()));
    assert_eq!(between.remote_group().size(), others.len());
    between.barrier()?;
    let mut all = vec![0; others.len()];
    between.allgather(&world.rank(), &mut all)?;
    assert_eq!(all, others);
    let mut sum = 0;
    between.allreduce(&world.rank(), &mut sum, &Op::SUM)?;
    assert_eq!(sum, others.iter().sum());
    let send: Vec<usize> = others.iter().map(|other| 100 * world.rank() + other).collect();
    let mut recv = vec![0; others.len()];
    between.alltoall(&send, &mut recv)?;
    assert!(recv.into_iter().eq(others.iter().map(|other| 100 * other + world.rank())));
    Ok(())
}

#[oxmpi::test(ranks = [2, 3, 5, 8])]
fn a_root_is_on_one_side(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    for root_side in 0..2 {
        let is_root = side == root_side && between.rank() == between.size() - 1;
        let there = between.remote_size() - 1;
        let others: Vec<usize> = (1 - side..world.size()).step_by(2).collect();
        let mut value = [0; 2];
        let mut sum = 0;
        let mut all = vec![0; others.len()];
        if is_root {
            between.bcast(Here(&[1, 2]))?;
            between.reduce(Here(&mut sum), &Op::SUM)?;
            between.gather(Here(&mut all))?;
            between.scatter(Here(&others))?;
            assert_eq!((sum, &all), (others.iter().sum(), &others));
        } else if side == root_side {
            between.bcast::<i32>(Beside)?;
            between.reduce(Beside, &Op::<usize>::SUM)?;
            between.gather::<usize>(Beside)?;
            between.scatter::<usize>(Beside)?;
        } else {
            between.bcast(There(there, &mut value))?;
            between.reduce(There(there, &world.rank()), &Op::SUM)?;
            between.gather(There(there, &world.rank()))?;
            between.scatter(There(there, &mut sum))?;
            assert_eq!((value, sum), ([1, 2], world.rank()));
        }
    }
    let error = between.bcast(There(between.remote_size(), &mut 0)).expect_err("no such root");
    assert_eq!(error.class(), ErrorClass::Root);
    Ok(())
}

#[oxmpi::test(ranks = [2, 5])]
fn messages_go_to_the_other_group(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    let between = between.duplicate()?;
    if between.rank() == 0 {
        let receive = between.irecv([0], Source::Any, 7)?;
        between.send(&side, 0, 7)?;
        assert_eq!(receive.wait()?.0, [1 - side]);
    }
    let both = between.merge(side == 1)?;
    let mut sides = vec![0; both.size()];
    both.allgather(&side, &mut sides)?;
    assert!(sides.is_sorted(), "{sides:?}");
    Ok(())
}
