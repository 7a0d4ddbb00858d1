//! Messages that are waited for.

use std::thread;

use oxmpi::{Communicator, Dest, Multiple, Result, Source, TagPattern};

/// Everybody says hello, in turn.
pub fn hello(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    if let Some(before) = rank.checked_sub(1) {
        world.recv(&mut (), before, 0)?;
    }
    println!("hello from rank {rank} of {size}, on {}", oxmpi::processor_name());
    if rank + 1 < size {
        world.send(&(), rank + 1, 0)?;
    }
    Ok(())
}

/// What everybody has goes to the next rank, and around.
pub fn ring(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut token = rank;
    for step in 1..=size {
        world.sendrecv_replace(&mut token, right, 0, left, 0)?;
        assert_eq!(token, (rank + size - step) % size);
    }
    let (mine, mut theirs) = ([rank; 5], [0; 5]);
    let status = world.sendrecv(&mine, right, 1, &mut theirs, Source::Any, TagPattern::Any)?;
    assert_eq!((theirs, status.source(), status.count::<usize>()), ([left; 5], Some(left), Some(5)));
    Ok(())
}

/// A message may wait for its receiver, find it ready, or go into a buffer.
pub fn modes(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut received = [0; 3];
    let [synchronous, ready, buffered] = &mut received;
    world.scope(|scope| {
        let _ = scope.recv(synchronous, left, 0)?;
        let _ = scope.recv(ready, left, 1)?;
        world.barrier()?; // everybody is ready
        world.ssend(&1, right, 0)?;
        world.rsend(&2, right, 1)
    })?;
    let room = world.buffered(1_000)?;
    room.send(&3, right, 2)?;
    world.recv(buffered, left, 2)?;
    assert_eq!(received, [1, 2, 3]);
    Ok(())
}

/// At the ends of a line there is nobody, and messages with nobody are no messages.
pub fn nobody(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let left = rank.checked_sub(1).map_or(Source::Null, Source::Rank);
    let right = if rank + 1 < size { Dest::Rank(rank + 1) } else { Dest::Null };
    let mut from_left = usize::MAX;
    let status = world.sendrecv(&rank, right, 0, &mut from_left, left, 0)?;
    assert_eq!(status.source(), rank.checked_sub(1));
    assert_eq!(from_left, rank.checked_sub(1).unwrap_or(usize::MAX));
    Ok(())
}

/// Who does not know how much comes asks, or lets the call find out.
pub fn unknown_length(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let letters = vec![char::from(b'a' + (rank % 26) as u8); rank + 1];
    let first = world.isend(letters.clone(), right, 0)?;
    let second = world.isend(letters, right, 0)?;
    let (received, status) = world.recv_vec::<char>(left, 0)?;
    assert_eq!((received.len(), status.tag()), (left + 1, Some(0)));
    // The same by hand: a message that has been found is received by nobody else.
    let message = world.mprobe(left, 0)?;
    let mut buf = vec![' '; message.status().count::<char>().expect("whole letters")];
    message.recv(&mut buf)?;
    assert_eq!(buf, received);
    first.wait()?;
    second.wait().map(drop)
}

/// Clocks.
pub fn time(world: &Communicator<'_>) -> Result<()> {
    let begin = oxmpi::wall_time();
    world.barrier()?;
    let took = oxmpi::wall_time() - begin;
    assert!(took >= 0.0 && oxmpi::wall_tick() > 0.0);
    Ok(())
}

/// Threads of a rank call at the same time, if its type says so: that of `oxmpi::init_with::<Multiple>()`, or here,
/// of a job of two ranks that each rank makes for itself.
pub fn threads(_: &Communicator<'_>) -> Result<()> {
    let job = oxmpi::run_with::<Multiple, _>(2, |world| {
        let peer = 1 - world.rank();
        let exchange = |tag: i32| -> Result<i32> {
            let mut theirs = 0;
            world.sendrecv(&(10 * tag), peer, tag, &mut theirs, peer, tag)?;
            Ok(theirs)
        };
        thread::scope(|threads| {
            let exchanges = [1, 2, 3].map(|tag| threads.spawn(move || exchange(tag)));
            exchanges.into_iter().map(|thread| thread.join().expect("it does not panic")).sum::<Result<i32>>()
        })
    });
    assert_eq!(job?, [60; 2]);
    Ok(())
}
