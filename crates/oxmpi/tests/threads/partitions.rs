//! Partitioned messages of what a scope has borrowed.

use std::{mem, thread};

use oxmpi::{
    Communicator, Dest, ErrorClass, Multiple, Result, Source, Startable, Waitable, start_all, wait_all,
};

#[oxmpi::test(ranks = [1, 2, 3])]
fn threads_fill_what_is_borrowed_and_it_is_sent_again(world: Communicator<'_, Multiple>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let (mut mine, mut theirs) = (vec![0; 1200], Box::<[usize]>::from([usize::MAX; 1200]));
    world.scope(|scope| {
        let mut send = scope.psend_init(&mut mine, 6, right, 0)?;
        let mut recv = scope.precv_init(&mut theirs, 3, left, 0)?;
        for round in 0..4 {
            let (receiving, mut sending) = start_all((recv, send))?;
            thread::scope(|threads| {
                for mut partition in sending.partitions() {
                    threads.spawn(move || {
                        partition.fill(100 * rank + round);
                        partition.ready()
                    });
                }
            });
            let arrived = loop {
                if let Some(arrived) = receiving.arrived(1)? {
                    break arrived;
                }
            };
            assert_eq!(arrived, [100 * left + round; 400]);
            (recv, send) = wait_all((receiving, sending))?;
            assert_eq!(recv.buf(), [100 * left + round; 1200]);
            recv.buf_mut().fill(usize::MAX);
            send.buf_mut().fill(usize::MAX);
        }
        Ok(())
    })?;
    assert_eq!((mine[1199], theirs[0]), (usize::MAX, usize::MAX));
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn what_a_request_has_kept_comes_back(world: Communicator<'_>) -> Result<()> {
    let (rank, peer) = (world.rank(), 1 - world.rank());
    let send = world.psend_init(vec![rank; 6], 3, peer, 0)?;
    let recv = world.precv_init(vec![9; 6], 2, peer, 0)?;
    let (send, recv) = wait_all(start_all((send, recv))?)?;
    assert_eq!((send.into_buffers(), recv.into_buffers()), (vec![rank; 6], vec![peer; 6]));
    // What a scope has lent comes back at its end, and the request is free before.
    let mut theirs = 9;
    world.scope(|scope| {
        scope.recv_init(&mut theirs, peer, 0)?.into_buffers();
        world.send(&rank, peer, 0)
    })?;
    world.recv(&mut theirs, peer, 0)?;
    assert_eq!(theirs, peer);
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn who_asks_for_what_does_not_arrive_any_more_is_told(world: Communicator<'_>) -> Result<()> {
    if world.rank() == 0 {
        let _ = world.psend_init(vec![1_u8; 8], 2, 1, 0)?.start()?.wait(); // whether it fails is not said
        return Ok(());
    }
    let recv = world.precv_init(vec![0_u8; 16], 2, 0, 0)?.start()?;
    let told = loop {
        match recv.arrived(1) {
            Ok(None) => {}
            other => break other.map(drop),
        }
    };
    assert_eq!(told.expect_err("8 bytes are sent").class(), ErrorClass::Request);
    assert_eq!(recv.wait().map(drop).expect_err("8 bytes are sent").class(), ErrorClass::Truncate);
    Ok(())
}

/// What is forgotten while it is active is over at the end of the scope: partitions that are not ready become so.
#[oxmpi::test(ranks = 2)]
fn what_is_forgotten_is_sent_and_received(world: Communicator<'_>) -> Result<()> {
    let peer = 1 - world.rank();
    let (mut mine, mut theirs, mut nothing) = ([3; 6], [0; 6], [0_u8; 0]);
    world.scope(|scope| {
        mem::forget(scope.precv_init(&mut theirs, 2, peer, 0)?.start()?);
        let mut send = scope.psend_init(&mut mine, 3, peer, 0)?.start()?;
        send.partitions().nth(1).expect("there are three").ready()?;
        mem::forget(send);
        mem::forget(scope.psend_init(&mut nothing, 1, Dest::Null, 0)?);
        Ok(())
    })?;
    assert_eq!((mine, theirs), ([3; 6], [3; 6]));
    Ok(())
}

/// Who waits for several lets all have their partitions first, in whatever order they stand.
#[oxmpi::test(ranks = 2)]
fn a_receive_is_waited_for_before_its_send(world: Communicator<'_>) -> Result<()> {
    let peer = 1 - world.rank();
    let recv = world.precv_init(vec![0; 4], 2, peer, 0)?;
    let send = world.psend_init(vec![7; 4], 2, peer, 0)?;
    let (recv, send) = (recv, send).start()?.wait()?;
    assert_eq!(recv.buf(), [7; 4]);
    let (recv, [send]) = (vec![recv], [send]).start()?.wait()?;
    drop((recv, send));
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn what_has_arrived_is_looked_at(world: Communicator<'_>) -> Result<()> {
    let peer = 1 - world.rank();
    let (mut mine, mut theirs) = ([0_u8, 1, 1, 2], [false; 4]);
    world.scope(|scope| {
        let recv = scope.precv_init(&mut theirs, 2, peer, 0)?.start()?;
        let send = scope.psend_init(&mut mine, 2, peer, 0)?.start()?.wait()?;
        world.barrier()?;
        let first = loop {
            if let Some(first) = recv.arrived(0)? {
                break first;
            }
        };
        assert_eq!(first, [false, true]);
        let error = loop {
            match recv.arrived(1) {
                Ok(arrived) => assert_eq!(arrived, None),
                Err(error) => break error,
            }
        };
        assert_eq!(error.class(), ErrorClass::Type);
        assert_eq!(recv.wait().map(drop).expect_err("2 is no bool").class(), ErrorClass::Type);
        assert_eq!(send.buf(), [0, 1, 1, 2]);
        Ok(())
    })?;
    assert_eq!(theirs, [false, true, true, true]);
    Ok(())
}

#[oxmpi::test(ranks = 1)]
fn what_cannot_be_divided_is_told(world: Communicator<'_>) -> Result<()> {
    let (mut buf, mut other) = ([0; 5], [0; 4]);
    world.scope(|scope| {
        let error = scope.psend_init(&mut buf, 2, 0, 0).expect_err("5 are no two halves");
        assert_eq!((error.class(), error.function()), (ErrorClass::Arg, Some("MPI_Psend_init")));
        let error = scope.precv_init(&mut other, 0, Source::Null, 0).expect_err("there are none");
        assert_eq!((error.class(), error.function()), (ErrorClass::Arg, Some("MPI_Precv_init")));
        Ok(())
    })
}
