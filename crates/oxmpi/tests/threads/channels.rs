//! Channels of messages.

use oxmpi::{Communicator, Error, ErrorClass, Multiple, Op, Result, Source};

#[oxmpi::test(ranks = [1, 2, 3])]
fn messages_come_in_their_order(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    for (tag, count) in [(0, 1), (1, 1_000), (2, 50_000)] {
        let mut right = world.sender((rank + 1) % size, tag, count)?;
        let mut left = world.receiver::<usize>((rank + size - 1) % size, tag, count)?;
        for step in 0..7 {
            right.fill(|buf| {
                buf.fill(100 * rank + step);
                Ok(())
            })?;
            assert_eq!(left.recv()?, vec![100 * ((rank + size - 1) % size) + step; count]);
        }
    }
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn what_has_not_come_is_not_waited_for(world: Communicator<'_>) -> Result<()> {
    let peer = 1 - world.rank();
    let mut from = world.receiver::<u32>(Source::Any, 0, 4)?;
    assert_eq!(from.try_recv()?, None);
    world.barrier()?;
    world.send(&[1_u32, 2], peer, 0)?;
    let message = loop {
        if let Some(message) = from.try_recv()? {
            break message;
        }
    };
    assert_eq!(message, [1, 2], "shorter than it could be");
    drop(from);
    world.barrier()?;
    world.send(&[3_u32], peer, 0)?;
    assert_eq!(world.recv_vec::<u32>(peer, 0)?.0, [3], "the channel receives no more");
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn what_does_not_fit_is_an_error(world: Communicator<'_>) -> Result<()> {
    let rank = world.rank();
    let mut to = world.sender(rank, 0, 2)?;
    let mut from = world.receiver::<u8>(rank, 0, 1)?;
    let told =
        |error: Error, class| assert_eq!((error.class(), error.rank()), (class, Some(rank)), "{error}");
    told(to.send(&[1_u8]).expect_err("too few"), ErrorClass::Count);
    to.send(&[1, 2])?;
    told(from.recv().expect_err("too many"), ErrorClass::Truncate);
    told(from.recv().expect_err("it is gone"), ErrorClass::Request);
    Ok(())
}

/// As `recv_vec` tells it.
#[oxmpi::test(ranks = 1)]
fn what_ends_within_an_element_is_an_error(world: Communicator<'_>) -> Result<()> {
    for waits in [true, false] {
        let mut from = world.receiver::<u32>(0, 0, 4)?;
        world.send(&[1_u8; 6], 0, 0)?;
        let outcome = loop {
            let received = if waits { from.recv().map(Some) } else { from.try_recv() };
            if !matches!(received, Ok(None)) {
                break received.map(drop);
            }
        };
        let error = outcome.expect_err("6 bytes are no number of elements");
        assert_eq!((error.class(), error.rank()), (ErrorClass::Type, Some(0)), "{error}");
        assert_eq!(from.recv().expect_err("it is gone").class(), ErrorClass::Request);
    }
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn a_channel_goes_to_another_thread(world: Communicator<'_, Multiple>) -> Result<()> {
    let peer = 1 - world.rank();
    let mut from = world.receiver::<i32>(peer, 0, 1)?;
    let mut to = world.sender(peer, 0, 1)?;
    std::thread::scope(|threads| {
        let received = threads.spawn(move || (0..100).map(|_| from.recv().map(|message| message[0])).sum());
        (0..100).try_for_each(|number| to.send(&[number]))?;
        let sum: Result<i32> = received.join().expect("it does not panic");
        assert_eq!(sum?, 4_950);
        Ok(())
    })?;
    let mut ranks = 1;
    world.allreduce_in_place(&mut ranks, &Op::SUM)?;
    assert_eq!(ranks, 2);
    Ok(())
}
