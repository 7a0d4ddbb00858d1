//! Persistent requests on what a scope has borrowed.

use std::{mem, thread};

use oxmpi::{Communicator, ErrorClass, Multiple, Op, Result, Shape, ViewMut, start_all, wait_all};

#[oxmpi::test(ranks = [1, 2, 3])]
fn buffers_are_the_programs_while_requests_are_inactive(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (mut send, mut sum, mut table) = ([0; 4], vec![0; 4], [0; 2]);
    world.scope(|scope| {
        let mut reduction = scope.allreduce_init(&mut send, &mut sum, &Op::SUM)?;
        let mut broadcast = scope.bcast_init(&mut table, size - 1)?;
        for step in 1..5 {
            reduction.send_buf_mut().fill(rank + step);
            if rank == size - 1 {
                broadcast.buf_mut().fill(step);
            }
            (reduction, broadcast) = wait_all(start_all((reduction, broadcast))?)?;
            assert_eq!(reduction.recv_buf(), [size * (size - 1) / 2 + size * step; 4]);
            assert_eq!(broadcast.buf(), [step; 2]);
        }
        Ok(())
    })?;
    assert_eq!((send, table), ([rank + 4; 4], [4; 2]));
    Ok(())
}

#[oxmpi::test(ranks = [1, 2, 3])]
fn views_are_started_again_with_other_data(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let (mut mine, mut theirs, mut one) = (vec![(0_u8, 0); 12], [(9, 9); 12], (0_u8, 0));
    let column = Shape::strided(3, 1, 4);
    let mut corner = ViewMut::new(&mut mine, &Shape::subarray([3, 4], [0..2, 1..3]))?;
    let mut received = ViewMut::new(&mut theirs, &Shape::indexed([8..10, 0..2]))?;
    world.scope(|scope| {
        let mut send = scope.send_init(&mut corner, right, 0)?;
        let mut recv = scope.recv_init(&mut received, left, 0)?;
        for step in 0..4 {
            let told = |rank: usize| [(rank as u8, 10 * step), (1, 2), (step, 4), (5, rank as u8)];
            send.buf_mut().copy_from_slice(&told(rank));
            (send, recv) = wait_all(start_all((send, recv))?)?;
            assert_eq!((send.buf().to_vec(), recv.buf().to_vec()), (told(rank).into(), told(left).into()));
        }
        Ok(())
    })?;
    let (here, there) = (rank as u8, left as u8);
    assert_eq!(mine[4..8], [(0, 0), (3, 4), (5, here), (0, 0)]);
    assert_eq!(theirs[..3], [(3, 4), (5, there), (9, 9)]);
    assert_eq!(theirs[7..], [(9, 9), (there, 30), (1, 2), (9, 9), (9, 9)]);
    // A view there, and what follows each other here; single values.
    let mut table = vec![0_usize; 12];
    let (mut sums, mut view) = ([0; 3], ViewMut::new(&mut table, &column)?);
    world.scope(|scope| {
        let mut reduction = scope.allreduce_init(&mut view, &mut sums, &Op::SUM)?;
        let mut broadcast = scope.bcast_init(&mut one, size - 1)?;
        for step in 0..4 {
            reduction.send_buf_mut().copy_from_slice(&[rank, step, 7]);
            if rank == size - 1 {
                *broadcast.buf_mut() = (step as u8, 3);
            }
            (broadcast, reduction) = wait_all(start_all((broadcast, reduction))?)?;
            assert_eq!(reduction.recv_buf(), [size * (size - 1) / 2, size * step, size * 7]);
            assert_eq!(broadcast.buf(), &(step as u8, 3));
        }
        Ok(())
    })?;
    assert_eq!((&table[3..6], one), (&[0, 3, 0][..], (3, 3)));
    Ok(())
}

#[oxmpi::test(ranks = 1)]
fn what_a_view_has_received_is_looked_at(world: Communicator<'_>) -> Result<()> {
    let mut flags = [false; 4];
    let mut odd = ViewMut::new(&mut flags[1..], &Shape::strided(2, 1, 2))?;
    let result = world.scope(|scope| {
        let request = scope.recv_init(&mut odd, 0, 0)?;
        world.send(&[1_u8, 1], 0, 0)?;
        let request = request.start()?.wait()?;
        assert_eq!(request.buf().to_vec(), [true; 2]);
        world.send(&[3_u8, 0], 0, 0)?;
        request.start()?.wait().map(drop)
    });
    assert_eq!(result.expect_err("3 is no bool").class(), ErrorClass::Type);
    assert_eq!(flags, [false, true, false, false]);
    Ok(())
}

/// Nobody waits for it, or it has failed, or another one that is waited for before has.
#[oxmpi::test(ranks = 1)]
fn what_was_received_is_looked_at_however_the_operation_ends(world: Communicator<'_>) -> Result<()> {
    let words = |flags: &[bool]| flags.iter().map(|&flag| flag as u8).collect::<Vec<_>>();
    let (mut dropped, mut short, mut other) = ([false; 2], [false; 4], [false; 1]);
    world.send(&[1_u8, 2], 0, 0)?;
    world.scope(|scope| {
        drop(scope.recv_init(&mut dropped, 0, 0)?.start()?);
        Ok(())
    })?;
    assert_eq!(words(&dropped), [1, 1]);
    for alone in [true, false] {
        world.send(&[9_u8; 8], 0, 0)?;
        world.send(&[2_u8], 0, 1)?;
        let result = world.scope(|scope| {
            let both = (scope.recv_init(&mut short, 0, 0)?, scope.recv_init(&mut other, 0, 1)?);
            let (long, one) = start_all(both)?;
            if alone {
                return long.wait().map(drop);
            }
            wait_all((long, one)).map(drop)
        });
        assert_eq!(result.expect_err("there were 8").class(), ErrorClass::Truncate);
        assert_eq!((words(&short), words(&other)), (vec![1; 4], vec![1]));
        (short, other) = ([false; 4], [false; 1]);
    }
    Ok(())
}

#[oxmpi::test(ranks = 1)]
fn all_are_waited_for_when_the_first_has_failed(world: Communicator<'_>) -> Result<()> {
    let mut bufs = [[0]; 6];
    world.scope(|scope| {
        let mut receives = Vec::new();
        for (tag, buf) in (0..).zip(&mut bufs) {
            receives.push(scope.recv(buf, 0, tag)?);
            world.send(if tag % 2 == 0 { &[1, 2][..] } else { &[3] }, 0, tag)?;
        }
        let last = receives.split_off(4);
        let [first, second, third, fourth] = receives.try_into().expect("four are left");
        let failed = [
            wait_all((first, second)).map(drop),
            wait_all([third, fourth]).map(drop),
            wait_all(last).map(drop),
        ];
        for failed in failed {
            assert_eq!(failed.expect_err("it is longer").class(), ErrorClass::Truncate);
        }
        assert!(format!("{scope:?}").contains("pending: 0"), "{scope:?}");
        Ok(())
    })
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

#[oxmpi::test(ranks = 2)]
fn another_thread_starts_what_this_one_has_made(world: Communicator<'_, Multiple>) -> Result<()> {
    let mut sum = [world.rank() + 1];
    world.scope(|scope| {
        let request = scope.allreduce_in_place_init(&mut sum, &Op::SUM)?;
        let request = thread::scope(|threads| {
            threads.spawn(move || request.start()?.wait()).join().expect("it does not panic")
        })?;
        assert_eq!(request.buf(), [3]);
        Ok(())
    })
}

/// Here in the call that makes it ready, which takes it as its argument.
#[oxmpi::test(ranks = 1)]
fn what_a_partition_has_is_read_while_it_is_made_ready(world: Communicator<'_>) -> Result<()> {
    let recv = world.precv_init(vec![0_usize; 4], 2, 0, 0)?.start()?;
    let mut send = world.psend_init(vec![0; 4], 2, 0, 0)?.start()?;
    for mut partition in send.partitions() {
        let value = partition.index() + 1;
        partition.fill(value);
        partition.ready()?;
    }
    let (recv, _send) = wait_all((recv, send))?;
    assert_eq!(recv.buf(), [1, 1, 2, 2]);
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
