//! Receives that are given up.
//!
//! MPI-5.0: Point-to-Point Communication, Cancel: either the receive completes, or no part of its buffer is altered.

use std::mem;

use oxmpi::{Buffered, Communicator, Dest, Error, ErrorClass, Op, Result, Source, start_all};

#[oxmpi::test(ranks = 2)]
fn a_receive_that_nobody_matches_is_given_up_and_nothing_else_is(world: Communicator<'_>) -> Result<()> {
    let (buf, status) = world.irecv([7; 3], Source::Any, 9)?.cancel()?;
    assert_eq!((&buf[..], status), (&[7; 3][..], None));
    let mut buf = [7; 3];
    world.scope(|scope| {
        let (buf, status) = scope.recv(&mut buf, Source::Any, 9)?.cancel()?;
        assert_eq!((buf, status), (&mut [7; 3][..], None));
        Ok(())
    })?;
    let sum = world.iallreduce_in_place([1], &Op::SUM)?;
    assert_eq!(sum.cancel().map(drop).expect_err("no receive").class(), ErrorClass::Request);
    let send = world.isend([1], 1 - world.rank(), 3)?;
    world.recv(&mut [0], 1 - world.rank(), 3)?;
    assert_eq!(send.cancel().map(drop).expect_err("no receive").class(), ErrorClass::Request);
    Ok(())
}

/// Neither receive waits for a message that the other rank, which fails as well, does not send.
#[oxmpi::test(ranks = 2)]
fn a_scope_that_fails_gives_its_receives_up(world: Communicator<'_>) -> Result<()> {
    let peer = 1 - world.rank();
    let (mut first, mut second) = ([7; 3], [7; 3]);
    let failed = world.scope(|scope| {
        let first = scope.recv(&mut first, peer, 1)?;
        let _ = scope.recv(&mut second, Source::Any, 1)?;
        world.send(&1, world.size(), 0)?;
        first.wait().map(drop)
    });
    assert_eq!(failed.expect_err("there is no such rank").class(), ErrorClass::Rank);
    assert_eq!((first, second), ([7; 3], [7; 3]));
    // What a message has been matched to is received.
    world.send(&[8; 3], peer, 2)?;
    let failed: Result<()> = world.scope(|scope| {
        let first = scope.recv(&mut first, peer, 2)?;
        while !first.test()? {}
        Err(Error::new(ErrorClass::Other, "of the program's own"))
    });
    assert_eq!((failed.map_err(|error| error.class()), first), (Err(ErrorClass::Other), [8; 3]));
    Ok(())
}

/// Dropped on the way out, or forgotten.
#[oxmpi::test(ranks = 2)]
fn a_scope_that_fails_gives_persistent_receives_up(world: Communicator<'_>) -> Result<()> {
    let peer = 1 - world.rank();
    let (mut dropped, mut forgotten, mut inactive) = ([7; 3], [7; 3], [7; 3]);
    let failed = world.scope(|scope| {
        let dropped = scope.recv_init(&mut dropped, peer, 1)?.start()?;
        mem::forget(scope.recv_init(&mut forgotten, Source::Any, 1)?.start()?);
        mem::forget(scope.recv_init(&mut inactive, peer, 1)?);
        world.send(&1, world.size(), 0)?;
        dropped.wait().map(drop)
    });
    assert_eq!(failed.expect_err("there is no such rank").class(), ErrorClass::Rank);
    assert_eq!([dropped, forgotten, inactive], [[7; 3]; 3]);
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn a_scope_that_fails_gives_up_what_is_received_beside_a_send(world: Communicator<'_>) -> Result<()> {
    let long = vec![8; 300_000];
    if world.rank() == 1 {
        assert_eq!(world.recv_vec::<i32>(0, 2)?.0, long, "sends are waited for");
        assert_eq!(world.recv_vec::<i32>(0, 3)?.0, [7; 3]);
        return Ok(());
    }
    let (mut alone, mut beside, mut replaced) = ([7; 3], [7; 3], [7; 3]);
    let failed = world.scope(|scope| {
        let alone = scope.sendrecv(&1, Dest::Null, 0, &mut alone, 1, 1)?;
        let _ = scope.sendrecv(&long, 1, 2, &mut beside, Source::Any, 1)?;
        let _ = scope.sendrecv_replace(&mut replaced, 1, 3, 1, 1)?;
        world.send(&1, world.size(), 0)?;
        alone.wait().map(drop)
    });
    assert_eq!(failed.expect_err("there is no such rank").class(), ErrorClass::Rank);
    assert_eq!([alone, beside, replaced], [[7; 3]; 3]);
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn an_active_receive_that_is_dropped_is_given_up(world: Communicator<'_>) -> Result<()> {
    let peer = 1 - world.rank();
    drop(world.recv_init([7; 3], peer, 1)?.start()?);
    world.barrier()?;
    world.send(&[8; 3], peer, 1)?;
    assert_eq!(world.recv_vec::<i32>(peer, 1)?.0, [8; 3], "it is for who receives next");
    // What a message has been matched to is received.
    world.send(&[8; 3], peer, 2)?;
    let mut matched = [7; 3];
    world.scope(|scope| {
        let receive = scope.recv_init(&mut matched, peer, 2)?.start()?;
        while !receive.test()? {}
        drop(receive);
        Ok(())
    })?;
    assert_eq!(matched, [8; 3]);
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn receives_started_before_what_cannot_be_started_are_given_up(world: Communicator<'_>) -> Result<()> {
    let peer = 1 - world.rank();
    let buffered = world.buffered(100 + <Buffered>::OVERHEAD_BYTES)?;
    let tuple = (world.recv_init([7], peer, 1)?, buffered.send_init([0_u8; 101], peer, 2)?);
    let failed = start_all(tuple).map(drop);
    assert_eq!(failed.expect_err("there is no room").class(), ErrorClass::Buffer);
    let array = [world.recv_init([7_u8], peer, 1)?, buffered.send_init([0_u8; 101], peer, 2)?];
    let failed = start_all(array).map(drop);
    assert_eq!(failed.expect_err("there is no room").class(), ErrorClass::Buffer);
    world.barrier()?;
    world.send(&[8], peer, 1)?;
    assert_eq!(world.recv_vec::<i32>(peer, 1)?.0, [8]);
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn a_message_is_received_once_whether_its_receive_was_cancelled_or_not(
    world: Communicator<'_>,
) -> Result<()> {
    for count in [1, 5_000, 300_000] {
        for round in 0..50 {
            if world.rank() == 0 {
                world.send(&vec![round; count], 1, 0)?;
            } else {
                let receive = world.irecv(vec![-1; count], 0, 0)?;
                for _ in 0..round {
                    receive.test()?;
                }
                let (buf, status) = receive.cancel()?;
                match status {
                    Some(status) => {
                        assert_eq!((&buf[..], status.count::<i32>()), (&vec![round; count][..], Some(count)))
                    }
                    None => {
                        assert_eq!(buf[..], vec![-1; count]);
                        let mut buf = vec![-1; count];
                        world.recv(&mut buf, 0, 0)?;
                        assert_eq!(buf, vec![round; count]);
                    }
                }
            }
        }
    }
    Ok(())
}
