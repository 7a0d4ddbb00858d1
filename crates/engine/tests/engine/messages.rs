//! What the standard promises about messages, whatever protocol carries them.
//!
//! MPI-5.0: Point-to-Point Communication.

use oxmpi_base::ErrorClass;
use oxmpi_engine::{AtOnce, Mode, Pattern, PeerId, Received};

use crate::harness::{Lie, Random, Store, World};

/// Lengths around each border between protocols: in a cell, in the bulk, in pieces, long.
pub const SIZES: [usize; 9] = [0, 8, 80, 81, 1000, 16 << 10, (16 << 10) + 1, 100_000, 1 << 20];

pub const LIES: [Lie; 2] = [Lie::Dense, Lie::Scattered];

/// What message `number` from `rank` holds.
pub fn contents(rank: u32, number: usize, bytes: usize) -> Vec<u8> {
    Random::new(1 + u64::from(rank) * 100_000 + number as u64).bytes(bytes)
}

/// Semantics of Point-to-Point Communication, Order: messages are non-overtaking.
#[test]
pub fn messages_from_one_sender_are_received_in_the_order_they_were_sent() {
    const EACH: usize = 40;
    for seed in 0..12 {
        let mut world = World::new(3, seed);
        let sizes: Vec<usize> = (0..2 * EACH).map(|_| world.random.pick(&SIZES[..8])).collect();
        let size = |sender: u32, number: usize| sizes[(sender as usize - 1) * EACH + number];
        let (mut sent, mut sends, mut receives) = ([0; 3], Vec::new(), Vec::new());
        while sent[1] + sent[2] + receives.len() < 4 * EACH {
            match world.random.below(4) {
                0 if receives.len() < 2 * EACH => {
                    let into = Store::new(100_000, Lie::Dense);
                    let tag = world.random.pick(&[None, Some(7)]);
                    receives.push((world.receive(0, None, tag, &into), into));
                }
                sender @ 1..=2 if sent[sender] < EACH => {
                    let (rank, number) = (sender as u32, sent[sender]);
                    let from = Store::of(&contents(rank, number, size(rank, number)), Lie::Dense);
                    let mode = world.random.pick(&[Mode::Standard, Mode::Synchronous]);
                    sends.push((rank, world.send(rank, 0, 7, &from, mode), from));
                    sent[sender] += 1;
                }
                _ => world.turn(),
            }
        }
        let mut seen = [0; 3];
        for (received, into) in receives {
            let outcome = world.finish(0, received);
            let sender = outcome.status.source.cast_unsigned();
            let number = seen[sender as usize];
            seen[sender as usize] += 1;
            let bytes = size(sender, number);
            assert_eq!(outcome.status.bytes, bytes as u64, "seed {seed}: message {number} of {sender}");
            assert_eq!(into.get()[..bytes], contents(sender, number, bytes), "seed {seed}");
        }
        sends.into_iter().for_each(|(rank, key, _from)| world.finish_send(rank, key));
    }
}

/// Semantics of Point-to-Point Communication, Order: of two receives that match, the earlier gets the message.
#[test]
pub fn receives_that_name_a_sender_or_a_tag_get_what_they_ask_for_in_order() {
    for seed in 0..20 {
        let mut world = World::new(3, seed);
        let early = world.random.chance();
        let wanted = [(None, Some(1)), (Some(2), None), (Some(1), None), (None, None), (Some(2), Some(3))];
        let stores: Vec<Store> = wanted.iter().map(|_| Store::new(20_000, Lie::Dense)).collect();
        let mut receives: Vec<Received> = Vec::new();
        if early {
            let posted = wanted.iter().zip(&stores);
            receives.extend(posted.map(|(&(source, tag), into)| world.receive(0, source, tag, into)));
        }
        let mut keys = Vec::new();
        for (sender, tag, bytes) in [(1, 1, 20_000), (1, 2, 8), (2, 1, 0), (2, 4, 90), (2, 3, 17_000)] {
            let from = Store::of(&contents(sender, tag as usize, bytes), Lie::Dense);
            keys.push((sender, world.send(sender, 0, tag, &from, Mode::Standard), from));
            world.settle();
        }
        if !early {
            let posted = wanted.iter().zip(&stores);
            receives.extend(posted.map(|(&(source, tag), into)| world.receive(0, source, tag, into)));
        }
        let outcomes = receives.into_iter().map(|received| world.finish(0, received).status);
        let got: Vec<_> = outcomes.map(|status| (status.source, status.tag, status.bytes)).collect();
        let expected = [(1, 1, 20_000), (2, 1, 0), (1, 2, 8), (2, 4, 90), (2, 3, 17_000)];
        assert_eq!(got, expected, "seed {seed}, early: {early}");
        keys.into_iter().for_each(|(rank, key, _from)| world.finish_send(rank, key));
    }
}

/// Communication Modes: a synchronous send is complete only when the matching receive has been started.
#[test]
pub fn a_synchronous_send_is_complete_only_when_a_receive_has_matched() {
    for (seed, bytes) in (0..).zip(SIZES) {
        let mut world = World::new(2, seed);
        let from = Store::of(&contents(0, 0, bytes), Lie::Dense);
        let key = world.send(0, 1, 3, &from, Mode::Synchronous).expect("nobody has received");
        let other = Store::new(bytes, Lie::Dense);
        let unrelated = world.receive(1, Some(0), Some(4), &other);
        world.settle();
        assert!(!world.engines[0].p2p.is_done(key), "{bytes} bytes");
        let into = Store::new(bytes, Lie::Dense);
        let received = world.receive(1, Some(0), Some(3), &into);
        let outcome = world.finish(1, received);
        assert_eq!((outcome.status.bytes, into.get()), (bytes as u64, from.get()));
        world.finish_send(0, Some(key));
        let Received::Pending(unrelated) = unrelated else { panic!("nothing was sent to it") };
        world.engines[1].p2p.cancel(unrelated);
        assert!(world.engines[1].p2p.take_outcome(unrelated).is_some_and(|end| end.status.cancelled));
    }
}

/// Semantics of Point-to-Point Communication, Progress and Resource Limitations.
#[test]
pub fn many_more_messages_than_the_rings_hold_cross_each_other() {
    for (seed, bytes, count) in [(1, 8, 2000), (2, 81, 500), (3, 16 << 10, 60), (4, 300_000, 6)] {
        let mut world = World::new(2, seed);
        let mut sends = Vec::new();
        for number in 0..count {
            for rank in 0..2 {
                let from = Store::of(&contents(rank, number, bytes), Lie::Dense);
                sends.push((rank, world.send(rank, 1 - rank, 0, &from, Mode::Standard), from));
            }
        }
        for number in 0..count {
            for rank in 0..2 {
                let into = Store::new(bytes, Lie::Dense);
                let received = world.receive(rank, Some(1 - rank), Some(0), &into);
                let outcome = world.finish(rank, received);
                assert_eq!(outcome.status.bytes, bytes as u64, "seed {seed}");
                assert_eq!(into.get(), contents(1 - rank, number, bytes), "seed {seed}, message {number}");
            }
        }
        sends.into_iter().for_each(|(rank, key, _from)| world.finish_send(rank, key));
        world.settle();
        assert!(world.engines.iter().all(oxmpi_engine::Engine::is_quiet), "seed {seed}");
    }
}

#[test]
pub fn long_messages_cross_each_other_among_all_ranks() {
    let bytes = 1 << 20;
    let mut world = World::new(4, 9);
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for src in 0..4 {
        for dst in (0..4).filter(|&dst| dst != src) {
            let from = Store::of(&contents(src, dst as usize, bytes), Lie::Dense);
            sends.push((src, world.send(src, dst, 0, &from, Mode::Standard), from));
            let into = Store::new(bytes, Lie::Dense);
            receives.push((dst, src, world.receive(dst, Some(src), None, &into), into));
        }
    }
    for (dst, src, received, into) in receives {
        assert!(world.finish(dst, received).error.is_none());
        assert!(into.get() == contents(src, dst as usize, bytes), "from {src} to {dst}");
    }
    sends.into_iter().for_each(|(rank, key, _from)| world.finish_send(rank, key));
}

/// Communicator argument aside, a process may send to itself: Blocking Send.
#[test]
fn a_rank_sends_to_itself_in_every_mode_before_and_after_it_receives() {
    // Miri looks at each byte several times: of each protocol one that tells it from the shorter one.
    let sizes = SIZES.into_iter().filter(|bytes| !cfg!(miri) || [8, 81, (16 << 10) + 1].contains(bytes));
    for (seed, bytes) in (0..).zip(sizes) {
        for mode in [Mode::Standard, Mode::Synchronous] {
            for early in [false, true] {
                let mut world = World::new(2, seed);
                let (from, into) =
                    (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
                let early = early.then(|| world.receive(1, Some(1), Some(2), &into));
                let key = world.send(1, 1, 2, &from, mode);
                let unmatched = early.is_none() && mode == Mode::Synchronous;
                assert_eq!(key.is_some(), unmatched, "{mode:?}, {bytes} bytes");
                let received = early.unwrap_or_else(|| world.receive(1, None, None, &into));
                let status = world.finish(1, received).status;
                assert_eq!((status.source, status.tag, status.bytes), (1, 2, bytes as u64));
                assert_eq!(into.get(), from.get());
                world.finish_send(1, key);
                assert!(world.engines[1].is_quiet());
            }
        }
    }
}

/// Blocking Receive: the length of the message must be no more than that of the buffer.
#[test]
pub fn a_message_that_is_too_long_is_cut_and_the_next_one_is_whole() {
    for (seed, (bytes, room)) in
        (0..).zip([(9, 8), (80, 0), (16 << 10, 100), (20_000, 16 << 10), (1 << 20, 7)])
    {
        for (early, src) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
            let mut world = World::new(2, seed);
            let (cut, whole) = (Store::new(room, Lie::Dense), Store::new(bytes, Lie::Dense));
            let posted =
                early.then(|| [world.receive(1, None, None, &cut), world.receive(1, None, None, &whole)]);
            let froms = [0, 1].map(|number| Store::of(&contents(0, number, bytes), Lie::Dense));
            let keys = froms.each_ref().map(|from| world.send(src, 1, 5, from, Mode::Standard));
            if !early {
                world.settle();
            }
            let [first, second] = posted.unwrap_or_else(|| {
                [world.receive(1, None, None, &cut), world.receive(1, None, None, &whole)]
            });
            let outcome = world.finish(1, first);
            assert_eq!((outcome.status.bytes, outcome.status.error), (room as u64, ErrorClass::Truncate));
            let error = outcome.error.expect("it was cut");
            assert_eq!(error.class(), ErrorClass::Truncate);
            for number in [bytes, room] {
                assert!(error.text().contains(&format!(" {number} ")), "{error:?} names {number}");
            }
            assert_eq!(cut.get(), contents(0, 0, bytes)[..room], "{bytes} bytes into {room}");
            assert!(world.finish(1, second).error.is_none());
            assert!(whole.get() == contents(0, 1, bytes), "{bytes} bytes after {room}");
            keys.into_iter().for_each(|key| world.finish_send(src, key));
        }
    }
}

#[test]
pub fn data_with_gaps_arrive_from_and_in_any_memory() {
    for (seed, bytes) in (0..).zip(SIZES) {
        for (from, into) in LIES.iter().flat_map(|&from| LIES.map(|into| (from, into))) {
            for src in [0, 1] {
                let mut world = World::new(2, seed);
                let (from, into) = (Store::of(&contents(0, 0, bytes), from), Store::new(bytes, into));
                let key = world.send(src, 1, 0, &from, Mode::Standard);
                let received = world.receive(1, Some(src), Some(0), &into);
                assert_eq!(world.finish(1, received).status.bytes, bytes as u64);
                assert!(into.get() == contents(0, 0, bytes), "{bytes} bytes");
                world.finish_send(src, key);
            }
        }
    }
}

/// Nonblocking Receive may be mixed with blocking: what is received at once keeps the order, too.
#[test]
fn receiving_at_once_takes_only_what_no_earlier_receive_waits_for() {
    let mut world = World::new(2, 1);
    let pattern = Pattern { source: Some(0), tag: Some(0) };
    let context = world.context;
    let at_once = |world: &mut World, into: &Store| {
        world.engines[1].p2p.receive_at_once(context, PeerId::of_rank(0), &pattern, into.buffer())
    };
    let into = Store::new(8, Lie::Dense);
    assert!(matches!(at_once(&mut world, &into), AtOnce::NotYet));
    for number in 0..4 {
        let from = Store::of(&contents(0, number, 8), Lie::Dense);
        assert!(world.send(0, 1, 0, &from, Mode::Standard).is_none());
        if number == 1 {
            world.settle(); // 0 and 1 are kept, 2 and 3 stay in the ring
        }
    }
    for number in 0..3 {
        let AtOnce::Done(outcome) = at_once(&mut world, &into) else { panic!("message {number} is there") };
        assert_eq!(outcome.status.bytes, 8);
        assert_eq!(into.get(), contents(0, number, 8));
    }
    let waiting = Store::new(8, Lie::Dense);
    let received = world.receive(1, None, None, &waiting);
    assert!(matches!(at_once(&mut world, &into), AtOnce::NeedsOperation), "an earlier receive waits");
    world.finish(1, received);
    assert_eq!(waiting.get(), contents(0, 3, 8));
}

/// What comes behind the message that is waited for need not be copied twice.
#[test]
fn what_nobody_asks_for_stays_in_the_ring_while_another_message_is_awaited() {
    let mut world = World::new(2, 1);
    let into = [(); 3].map(|()| Store::new(8, Lie::Dense));
    let mut receives: Vec<_> = into[..2].iter().map(|into| world.receive(1, Some(0), None, into)).collect();
    for number in 0..4 {
        let from = Store::of(&contents(0, number, 8), Lie::Dense);
        assert!(world.send(0, 1, 0, &from, Mode::Standard).is_none());
    }
    let Received::Pending(second) = receives[1] else { panic!("nothing has come before") };
    let kept = world.engines[1].p2p.kept();
    assert!(world.engines[1].p2p.look_for(second), "both are filled");
    receives.push(world.receive(1, Some(0), None, &into[2]));
    assert_eq!(world.engines[1].p2p.kept(), kept, "the others have stayed where they were");
    for (number, (received, into)) in receives.into_iter().zip(&into).enumerate() {
        assert!(world.finish(1, received).error.is_none());
        assert_eq!(into.get(), contents(0, number, 8));
    }
    world.settle();
    assert_ne!(world.engines[1].p2p.kept(), kept, "who waits for nothing takes in everything");
}

#[test]
fn a_long_message_is_asked_for_though_a_short_one_was_awaited() {
    let mut world = World::alive(2, 1);
    let (short, long) = (Store::new(8, Lie::Dense), Store::new(200_000, Lie::Dense));
    let into_long = world.receive(1, Some(0), Some(1), &long);
    let Received::Pending(awaited) = world.receive(1, Some(0), Some(0), &short) else { panic!("not yet") };
    let from = [Store::new(8, Lie::Dense), Store::new(200_000, Lie::Dense)];
    assert!(world.send(0, 1, 0, &from[0], Mode::Standard).is_none());
    world.send(0, 1, 1, &from[1], Mode::Standard).expect("it is long");
    assert!(world.engines[1].p2p.look_for(awaited));
    assert!(world.engines[0].p2p.poll(), "who sends hears of the receive, while its owner computes");
    world.finish(1, into_long);
}
