//! Persistent requests on what a scope has borrowed.

use std::mem;

use oxmpi::{Communicator, ErrorClass, Op, Result, start_all, wait_all};

#[oxmpi::test(ranks = [1, 2, 3])]
fn buffers_are_the_programs_while_requests_are_inactive(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (mut send, mut sum, mut table) = ([0; 4], vec![0; 4], [0; 2]);
    world.scope(|scope| {
        let mut reduction = scope.allreduce_init(&mut send, &mut sum, &Op::SUM)?;
        let mut broadcast = scope.bcast_init(&mut table, size - 1)?;
        for step in 1..5 {
            reduction.send_mut().fill(rank + step);
            if rank == size - 1 {
                broadcast.buf_mut().fill(step);
            }
            (reduction, broadcast) = wait_all(start_all((reduction, broadcast))?)?;
            assert_eq!(reduction.recv(), [size * (size - 1) / 2 + size * step; 4]);
            assert_eq!(broadcast.buf(), [step; 2]);
        }
        Ok(())
    })?;
    assert_eq!((send, table), ([rank + 4; 4], [4; 2]));
    Ok(())
}

#[oxmpi::test(ranks = [1, 2, 3])]
fn what_is_forgotten_is_over_at_the_end_of_the_scope(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (mut mine, mut left, mut all) = ([rank; 20_000], vec![0; 20_000], vec![0; size]);
    world.scope(|scope| {
        let send = scope.send_init(&mut mine, (rank + 1) % size, 0)?;
        let recv = scope.recv_init(&mut left, (rank + size - 1) % size, 0)?;
        mem::forget(start_all([recv, send])?);
        mem::forget(scope.bcast_init(&mut all, 0)?);
        Ok(())
    })?;
    assert_eq!(left, vec![(rank + size - 1) % size; 20_000]);
    Ok(())
}

#[oxmpi::test(ranks = 1)]
fn what_a_forgotten_request_has_received_is_looked_at(world: Communicator<'_>) -> Result<()> {
    world.send(&[1_u8, 2], 0, 0)?;
    let mut flags = [false; 2];
    let result = world.scope(|scope| {
        mem::forget(scope.recv_init(&mut flags, 0, 0)?.start()?);
        Ok(())
    });
    assert_eq!(result.expect_err("2 is no bool").class(), ErrorClass::Type);
    assert_eq!(flags, [true; 2]);
    Ok(())
}

#[test]
fn a_panic_while_one_is_active_ends_the_rank() {
    let error = oxmpi::run(2, |world| {
        let mut buf = [0];
        world.scope(|scope| {
            let active = scope.recv_init(&mut buf, 1 - world.rank(), 0)?.start()?;
            if world.rank() == 0 {
                panic!("a defect of the program");
            }
            active.wait().map(drop)
        })
    });
    let error = error.expect_err("rank 0 cannot go on");
    assert!(error.to_string().contains("could not go on after an error"), "{error}");
}
