//! What is under way between two nodes is bounded, and what a channel used comes back.
//!
//! MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication; Groups, Contexts, Communicators,
//! and Caching, Communicator Destructors.

use oxmpi_engine::{Mode, Received};
use oxmpi_fabric::sim::{Conduct, Taking};
use oxmpi_fabric::{Fabric, Limits, Order};
use oxmpi_mem::Pool;

use crate::harness::{Lie, Store, World};
use crate::messages::contents;
use crate::planned::{plan_send, start};

/// Frames of a pair, what one of them has at most of messages that are there together, and what the pair's rings hold
/// of messages that fit into a cell.
const WINDOW: usize = 16;
const TOGETHER: usize = 32;
const CELLS: usize = 64;

/// What a rank's endpoint takes from now on.
pub(super) fn take(world: &mut World, rank: usize, taking: Taking) {
    let address = world.engines[rank].fabric_address().expect("it has joined");
    world.sim.as_ref().expect("there are nodes").let_take(&address, taking);
}

#[test]
fn who_does_not_look_is_not_flooded() {
    for (seed, conduct) in [(1, Conduct::SMOOTH), (2, Conduct::ROUGH)] {
        let mut world = World::of_nodes(&[1, 1], seed, conduct);
        let count = 1000;
        let mut sends = Vec::new();
        for number in 0..count {
            let from = Store::of(&contents(0, number, 8), Lie::Dense);
            sends.push((world.send(0, 1, 0, &from, Mode::Standard), from));
            world.engines[0].poll();
        }
        for _ in 0..10_000 {
            world.engines[0].poll();
        }
        let is_over = |key| world.engines[0].p2p.is_done(key);
        let gone = sends.iter().filter(|(key, _)| key.is_none_or(is_over)).count();
        assert!(gone <= WINDOW * TOGETHER + CELLS, "{gone} messages are gone");
        for number in 0..count {
            let into = Store::new(8, Lie::Dense);
            let received = world.receive(1, Some(0), Some(0), &into);
            world.finish(1, received);
            assert_eq!(into.get(), contents(0, number, 8));
        }
        sends.into_iter().for_each(|(key, _from)| world.finish_send(0, key));
    }
}

/// What is longer than a frame goes in two, of which the second may come first.
#[test]
fn payloads_of_about_a_frame_arrive_whole() {
    for seed in 0..20 {
        let mut world = World::of_nodes(&[1, 1], seed, Conduct::ROUGH);
        let sizes = [16_319, 16_320, 16_321, 16_384, 16_384, 16_321];
        let stores = sizes
            .map(|bytes| (Store::of(&contents(0, bytes, bytes), Lie::Dense), Store::new(bytes, Lie::Dense)));
        let sends: Vec<_> =
            stores.iter().map(|(from, _)| world.send(0, 1, 0, from, Mode::Standard)).collect();
        for (from, into) in &stores {
            let received = world.receive(1, Some(0), Some(0), into);
            assert!(world.finish(1, received).error.is_none(), "seed {seed}");
            assert!(into.get() == from.get(), "seed {seed}");
        }
        sends.into_iter().for_each(|key| world.finish_send(0, key));
    }
}

/// What a burst leaves in the ring until it is looked at goes in few frames.
#[test]
fn messages_that_are_there_together_go_in_one_frame() {
    let mut world = World::of_nodes(&[1, 1], 1, Conduct::SMOOTH);
    let stores: Vec<_> = (0..30).map(|number| Store::of(&contents(0, number, 8), Lie::Dense)).collect();
    let sends: Vec<_> = stores.iter().map(|from| world.send(0, 1, 0, from, Mode::Standard)).collect();
    for from in &stores {
        let into = Store::new(8, Lie::Dense);
        let received = world.receive(1, Some(0), Some(0), &into);
        assert!(world.finish(1, received).error.is_none());
        assert_eq!(into.get(), from.get());
    }
    sends.into_iter().for_each(|key| world.finish_send(0, key));
    let frames = world.sim.as_ref().expect("there are nodes").traffic().sends;
    assert!(frames <= 4, "{frames} frames, with the one that begins and those that give credit");
}

/// Those that go past the ring at first go by it when some are under way, and what it holds makes room for more.
#[test]
fn a_burst_of_messages_that_go_alone_else_takes_few_frames() {
    let limits = Limits { reads_alone: false, ..Conduct::SMOOTH.limits };
    for bytes in [4_096, 16_384] {
        let mut world = World::of_nodes(&[1, 1], 1, Conduct { limits, ..Conduct::SMOOTH });
        let stores: Vec<_> = (0..32)
            .map(|number| (Store::of(&contents(0, number, bytes), Lie::Dense), Store::new(bytes, Lie::Dense)))
            .collect();
        let received: Vec<_> =
            stores.iter().map(|(_, into)| world.receive(1, Some(0), Some(0), into)).collect();
        let sends: Vec<_> =
            stores.iter().map(|(from, _)| world.send(0, 1, 0, from, Mode::Standard)).collect();
        for (received, (from, into)) in received.into_iter().zip(&stores) {
            assert!(world.finish(1, received).error.is_none());
            assert!(into.get() == from.get());
        }
        sends.into_iter().for_each(|key| world.finish_send(0, key));
        let frames = world.sim.as_ref().expect("there are nodes").traffic().sends;
        assert!(frames <= 14, "{frames} frames for messages of {bytes} bytes, with those that give credit");
    }
}

/// Frames of several messages of which the ring to the receiver takes some now, and the others later.
#[test]
fn messages_that_go_together_arrive_whole_and_in_order_whenever_there_is_room() {
    for seed in 0..20 {
        let mut world = World::of_nodes(&[1, 1], seed, Conduct::ROUGH);
        let bytes = |number: usize| [0, 8, 80, 81, 1000, 5000, 8100, 9000][(number * 7 + seed as usize) % 8];
        let stores: Vec<_> =
            (0..200).map(|number| Store::of(&contents(0, number, bytes(number)), Lie::Dense)).collect();
        let mut sends = Vec::new();
        for (number, from) in stores.iter().enumerate() {
            sends.push(world.send(0, 1, 0, from, Mode::Standard));
            if number % (seed as usize + 2) == 0 {
                for engine in &mut world.engines {
                    engine.poll();
                }
            }
        }
        for (number, from) in stores.iter().enumerate() {
            let into = Store::new(bytes(number), Lie::Dense);
            let received = world.receive(1, Some(0), Some(0), &into);
            assert!(world.finish(1, received).error.is_none(), "seed {seed}");
            assert!(into.get() == from.get(), "seed {seed}, message {number}");
        }
        sends.into_iter().for_each(|key| world.finish_send(0, key));
    }
}

/// Of a fabric like sockets: it announces nothing itself, and reads nothing alone.
pub const MUCH_AT_ONCE: Conduct = Conduct {
    limits: Limits { message_bytes: 128 << 10, reads_alone: false, ..Conduct::ROUGH.limits },
    ..Conduct::ROUGH
};

/// Nobody asks for what is not much longer than a frame: it is there when a receive is.
#[test]
fn messages_of_some_frames_come_unasked() {
    for seed in 0..20 {
        let mut world = World::of_nodes(&[1, 1], seed, MUCH_AT_ONCE);
        let mut exchange = |bytes| {
            let (from, into) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
            let sent = world.send(0, 1, 0, &from, Mode::Standard);
            world.settle();
            assert!(sent.is_none_or(|key| world.engines[0].p2p.is_done(key)), "seed {seed}");
            match world.receive(1, Some(0), Some(0), &into) {
                Received::Done(outcome) => assert!(outcome.error.is_none(), "seed {seed}"),
                Received::Pending(_) => panic!("{bytes} bytes were not there, seed {seed}"),
            }
            assert!(into.get() == from.get(), "seed {seed}");
            world.finish_send(0, sent);
        };
        // The first one makes the ring.
        [8, 16_385, 40_000, 65_536, 16_384].into_iter().for_each(&mut exchange);
    }
}

/// A frame with a message tells how many were taken, and where all go one way a word does.
#[test]
fn many_messages_of_some_frames_go_one_way() {
    for seed in 0..10 {
        let mut world = World::of_nodes(&[1, 1], seed, MUCH_AT_ONCE);
        let bytes = 20_000;
        let from = Store::of(&contents(0, 0, bytes), Lie::Dense);
        let into: Vec<_> = (0..64).map(|_| Store::new(bytes, Lie::Dense)).collect();
        let received: Vec<_> = into.iter().map(|into| world.receive(1, Some(0), Some(0), into)).collect();
        let sent: Vec<_> = into.iter().map(|_| world.send(0, 1, 0, &from, Mode::Standard)).collect();
        for (received, into) in received.into_iter().zip(&into) {
            assert!(world.finish(1, received).error.is_none(), "seed {seed}");
            assert!(into.get() == from.get(), "seed {seed}");
        }
        sent.into_iter().for_each(|key| world.finish_send(0, key));
    }
}

/// What has gaps is packed piece by piece, not all at once, however much the network takes.
#[test]
fn few_pieces_of_a_long_message_with_gaps_are_packed_at_a_time() {
    let limits = Limits { under_way: 256, ..MUCH_AT_ONCE.limits };
    let mut world = World::of_nodes(&[1, 1], 1, Conduct { limits, delay: (60, 60), ..MUCH_AT_ONCE });
    let bytes = 9_000_000;
    let (from, into) = (Store::of(&contents(0, 0, bytes), Lie::Scattered), Store::new(bytes, Lie::Dense));
    let received = world.receive(1, Some(0), None, &into);
    let sent = world.send(0, 1, 0, &from, Mode::Standard);
    assert!(world.finish(1, received).error.is_none());
    assert!(into.get() == from.get());
    world.finish_send(0, sent);
    let carried = world.engines[0].p2p.carried_bytes();
    // Receives, and what is packed.
    let receives = limits.receives * limits.message_bytes;
    assert!(carried < receives + (1 << 20), "{carried} bytes");
}

/// One end may have been given an endpoint for messages alone, one that writes shorter pieces, or tells none.
#[test]
fn long_messages_pass_between_endpoints_with_unlike_limits() {
    let ends = [(0, false), (10_000, false), (30_000, false), (30_000, true), (0, true)];
    let told =
        ends.map(|(remote_bytes, reads_alone)| Limits { remote_bytes, reads_alone, ..MUCH_AT_ONCE.limits });
    let limits: Vec<Limits> =
        told.into_iter().chain([Limits { tells_writes: false, ..MUCH_AT_ONCE.limits }]).collect();
    let bytes = 300_000;
    for (seed, &one) in limits.iter().enumerate() {
        for &other in &limits {
            let limits = [one, other];
            let mut world = World::of_endpoints(&[0, 1], seed as u64, MUCH_AT_ONCE, |rank| limits[rank]);
            let from = Store::of(&contents(0, 0, bytes), Lie::Dense);
            for early in [false, true] {
                let into = Store::new(bytes, Lie::Dense);
                let posted = early.then(|| world.receive(1, Some(0), None, &into));
                let sent = world.send(0, 1, 0, &from, Mode::Standard);
                let received = posted.unwrap_or_else(|| world.receive(1, Some(0), None, &into));
                assert!(world.finish(1, received).error.is_none(), "{limits:?}");
                assert!(into.get() == from.get(), "{limits:?}");
                world.finish_send(0, sent);
            }
        }
    }
}

/// What is not received is kept as far as there is to be room; the others stay where they are.
#[test]
fn no_more_messages_of_some_frames_are_kept_than_are_to_be() {
    let mut world = World::of_nodes(&[1, 1], 3, MUCH_AT_ONCE);
    let (bytes, most) = (64 << 10, 1 << 20);
    world.engines[1].p2p.keep_at_most(most);
    let from = Store::of(&contents(0, 0, bytes), Lie::Dense);
    let sent: Vec<_> = (0..200).map(|_| world.send(0, 1, 0, &from, Mode::Standard)).collect();
    world.settle();
    let (_, kept) = world.engines[1].memory();
    assert!(kept < most + 2 * WINDOW * bytes, "{kept} bytes of {}", 200 * bytes);
    for key in sent {
        let into = Store::new(bytes, Lie::Dense);
        let received = world.receive(1, Some(0), Some(0), &into);
        assert!(world.finish(1, received).error.is_none());
        assert!(into.get() == from.get());
        world.finish_send(0, key);
    }
}

/// Who has received a message may compute for long before it calls again: the sender does not wait for that.
#[test]
fn the_sender_hears_that_a_message_was_read_though_its_receiver_calls_no_more() {
    for (seed, bytes) in (0..10).flat_map(|seed| [40_000, 3 << 20].map(|bytes| (seed, bytes))) {
        let mut world = World::of_nodes(&[1, 1], seed, Conduct::SMOOTH);
        let (from, into) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
        let sent = world.send(0, 1, 0, &from, Mode::Synchronous).expect("it is announced");
        let received = world.receive(1, Some(0), Some(0), &into);
        world.finish(1, received);
        let hears = |_| {
            world.engines[0].poll();
            world.engines[0].p2p.is_done(sent)
        };
        assert!((0..1000).any(hears), "seed {seed}, {bytes} bytes");
        world.finish_send(0, Some(sent));
    }
}

/// Receives are there before the data, or while it comes; some messages are cancelled, and of these some have matched.
#[test]
fn messages_of_some_frames_are_received_whole_or_cancelled() {
    for seed in 0..40 {
        let mut world = World::of_nodes(&[1, 1], seed, MUCH_AT_ONCE);
        let hello = Store::of(&[1], Lie::Dense);
        let first = world.send(0, 1, 0, &hello, Mode::Standard);
        let (mut cancelled, mut whole) = (0, 0);
        for number in 0..10 {
            let bytes = 20_000 + number * 12_000;
            let (from, into) =
                (Store::of(&contents(0, number, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
            let sent = world.send(0, 1, 1, &from, Mode::Synchronous).expect("its receiver is asked");
            let turns = world.random.below(60);
            (0..turns).for_each(|turn| _ = world.engines[turn % 2].poll());
            let received = world.random.chance().then(|| world.receive(1, Some(0), Some(1), &into));
            let is_cancelled = received.is_none() || world.random.chance();
            if is_cancelled {
                world.engines[0].p2p.cancel(sent);
            }
            let outcome = world.finish(0, Received::Pending(sent));
            match (received, outcome.status.cancelled) {
                (Some(received), false) => {
                    assert!(world.finish(1, received).error.is_none(), "seed {seed}");
                    assert!(into.get() == from.get(), "seed {seed}");
                    whole += 1;
                }
                (Some(Received::Pending(receive)), true) => {
                    world.engines[1].p2p.cancel(receive);
                    assert!(world.finish(1, Received::Pending(receive)).status.cancelled, "seed {seed}");
                    cancelled += 1;
                }
                (Some(Received::Done(_)), true) => panic!("it was received, seed {seed}"),
                (None, is_gone) => assert!(is_gone, "seed {seed}"),
            }
        }
        assert!(whole + cancelled > 0, "seed {seed}");
        let into = Store::new(1, Lie::Dense);
        let received = world.receive(1, Some(0), Some(0), &into);
        world.finish(1, received);
        world.finish_send(0, first);
    }
}

/// Some come unasked and others are read, or streamed where no memory can be registered.
#[test]
fn messages_arrive_whole_whichever_way_their_lengths_go() {
    for seed in 0..60 {
        let registered = if seed % 5 == 4 { 1 } else { usize::MAX };
        let mut world = World::of_nodes(&[1, 1], seed, Conduct { registered, ..MUCH_AT_ONCE });
        let lie = [Lie::Dense, Lie::Scattered];
        let lengths = [65_537, 70_000, 100_000, 300_000, 65_536, 1 << 20];
        let stores: Vec<_> = (0..12)
            .map(|number: usize| {
                let bytes = lengths[world.random.below(lengths.len())];
                let room = if world.random.below(6) == 0 { bytes / 3 } else { bytes };
                let [from, into] = [number % 2, number % 3 % 2].map(|place| lie[place]);
                (Store::of(&contents(0, number, bytes), from), Store::new(room, into))
            })
            .collect();
        let first = world.random.below(13);
        let receive =
            |world: &mut World, (_, into): &(Store, Store)| world.receive(1, Some(0), Some(0), into);
        let mut received: Vec<_> = stores[..first].iter().map(|store| receive(&mut world, store)).collect();
        let sent: Vec<_> = stores.iter().map(|(from, _)| world.send(0, 1, 0, from, Mode::Standard)).collect();
        (0..world.random.below(300)).for_each(|turn| _ = world.engines[turn % 2].poll());
        received.extend(stores[first..].iter().map(|store| receive(&mut world, store)));
        for (received, (from, into)) in received.into_iter().zip(&stores) {
            let room = into.get().len();
            let is_cut = world.finish(1, received).error.is_some();
            assert_eq!(is_cut, room < from.get().len(), "seed {seed}");
            assert!(into.get() == from.get()[..room], "seed {seed}");
        }
        sent.into_iter().for_each(|key| world.finish_send(0, key));
        world.settle();
        assert_eq!(world.sim.as_ref().expect("there are nodes").registered(), 0, "seed {seed}");
    }
}

/// A send that is over may begin again before its receiver has it: what is answered is the synchronous one alone.
#[test]
fn what_is_received_late_ends_no_other_send() {
    for seed in 0..20 {
        let mut world = World::of_nodes(&[1, 1], seed, MUCH_AT_ONCE);
        let bytes = 40_000;
        let from = Store::of(&contents(0, 0, bytes), Lie::Dense);
        let hello = world.send(0, 1, 1, &from, Mode::Standard);
        let [standard, synchronous] =
            [Mode::Standard, Mode::Synchronous].map(|mode| plan_send(&mut world, 0, 1, 0, &from, mode));
        let receive = |world: &mut World, number| {
            let into = Store::new(bytes, Lie::Dense);
            let received = world.receive(1, Some(0), Some(0), &into);
            world.finish(1, received);
            assert!(into.get() == contents(0, number, bytes), "message {number}, seed {seed}");
        };
        for number in 0..20 {
            if number >= 3 {
                receive(&mut world, number - 3);
                world.settle();
            }
            from.put(&contents(0, number, bytes));
            let waits = start(&mut world, 0, standard);
            world.finish(0, waits); // nobody has received it
        }
        let waits = start(&mut world, 0, synchronous);
        for number in 17..20 {
            (0..500).for_each(|turn| _ = world.engines[turn % 2].poll());
            assert!(!world.engines[0].p2p.is_done(synchronous), "nobody has received it, seed {seed}");
            receive(&mut world, number);
        }
        receive(&mut world, 19);
        world.finish(0, waits);
        let into = Store::new(bytes, Lie::Dense);
        let received = world.receive(1, Some(0), Some(1), &into);
        world.finish(1, received);
        world.finish_send(0, hello);
    }
}

/// What no memory can be registered for is streamed, in frames that are full.
#[test]
fn a_stream_fills_its_frames() {
    let mut world = World::of_nodes(&[1, 1], 1, Conduct { registered: 0, ..Conduct::SMOOTH });
    let bytes = 1 << 20;
    let (from, into) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
    let key = world.send(0, 1, 0, &from, Mode::Standard);
    let received = world.receive(1, Some(0), Some(0), &into);
    assert!(world.finish(1, received).error.is_none());
    world.finish_send(0, key);
    assert!(into.get() == from.get());
    let frames = world.sim.as_ref().expect("there are nodes").traffic().sends as usize;
    assert!(
        frames < bytes / (15 << 10) + 2 * WINDOW,
        "{frames} frames, with those that announce it and give credit"
    );
}

/// What a rank wants of the others may change between the two frames of a payload.
#[test]
fn who_asks_for_less_between_the_parts_of_a_payload_is_understood() {
    for seed in 0..10 {
        let mut world = World::of_nodes(&[1, 1], seed, Conduct::ROUGH);
        world.engines.iter_mut().for_each(|engine| engine.p2p.keep_at_most(100_000));
        let stores: Vec<_> = (0..80)
            .map(|number| (number % 2, Store::of(&contents(number % 2, number as usize, 16_384), Lie::Dense)))
            .collect();
        let mut sends = Vec::new();
        for (rank, from) in &stores {
            let rank = *rank;
            sends.push((rank, world.send(rank, 1 - rank, 0, from, Mode::Standard)));
            for turn in 0..seed as usize {
                world.engines[turn % 2].poll();
            }
        }
        for turn in 0..2000 {
            world.engines[turn % 2].poll();
        }
        for (rank, from) in &stores {
            let into = Store::new(16_384, Lie::Dense);
            let received = world.receive(1 - rank, Some(*rank), Some(0), &into);
            assert!(world.finish(1 - rank, received).error.is_none(), "seed {seed}");
            assert!(into.get() == from.get(), "seed {seed}");
        }
        sends.into_iter().for_each(|(rank, key)| world.finish_send(rank, key));
    }
}

/// A receiver of much has others wait for it alone.
#[test]
fn who_sends_to_one_that_does_not_look_reaches_others() {
    let mut world = World::of_nodes(&[1, 1, 1], 3, Conduct { refuses: 0, ..Conduct::SMOOTH });
    let from = Store::of(&contents(0, 0, 8), Lie::Dense);
    let flood: Vec<_> = (0..500).filter_map(|_| world.send(0, 1, 0, &from, Mode::Standard)).collect();
    for number in 0..500 {
        let (sent, into) = (Store::of(&contents(0, number, 8), Lie::Dense), Store::new(8, Lie::Dense));
        let key = world.send(0, 2, 0, &sent, Mode::Standard);
        let Received::Pending(receive) = world.receive(2, Some(0), None, &into) else {
            panic!("nothing has come")
        };
        let mut turns = 0;
        while !world.engines[2].p2p.is_done(receive) {
            world.engines[0].poll();
            world.engines[2].poll();
            turns += 1;
            assert!(turns < 1000, "message {number}");
        }
        assert!(world.engines[2].p2p.take_outcome(receive).is_some_and(|outcome| outcome.error.is_none()));
        assert_eq!(into.get(), contents(0, number, 8));
        world.finish_send(0, key);
    }
    drop(flood);
}

/// All that a long message may have under way leaves room for others, whatever its receiver does.
#[test]
fn who_writes_much_to_one_that_computes_reaches_others() {
    let limits = Limits { reads_alone: false, remote_bytes: 4096, under_way: 16, ..Conduct::SMOOTH.limits };
    for seed in 0..10 {
        let mut world = World::of_nodes(&[1, 1, 1], seed, Conduct { limits, ..Conduct::SMOOTH });
        let stores = [(); 2]
            .map(|()| (Store::of(&contents(0, 0, 1 << 20), Lie::Dense), Store::new(1 << 20, Lie::Dense)));
        let received: Vec<_> =
            stores.iter().map(|(_, into)| world.receive(1, Some(0), Some(0), into)).collect();
        let sends: Vec<_> =
            stores.iter().map(|(from, _)| world.send(0, 1, 0, from, Mode::Standard)).collect();
        // Until it has said where to write, and some was.
        while world.sim.as_ref().expect("there are nodes").traffic().writes < 3 {
            world.turn();
        }
        take(&mut world, 1, Taking::Later);
        for number in 0..100 {
            let (sent, into) = (Store::of(&contents(0, number, 8), Lie::Dense), Store::new(8, Lie::Dense));
            let key = world.send(0, 2, 0, &sent, Mode::Standard);
            let received = world.receive(2, Some(0), None, &into);
            assert!(world.finish(2, received).error.is_none(), "seed {seed}");
            assert_eq!(into.get(), contents(0, number, 8));
            world.finish_send(0, key);
        }
        take(&mut world, 1, Taking::All);
        for (received, (from, into)) in received.into_iter().zip(&stores) {
            assert!(world.finish(1, received).error.is_none(), "seed {seed}");
            assert!(into.get() == from.get(), "seed {seed}");
        }
        sends.into_iter().for_each(|key| world.finish_send(0, key));
    }
}

#[test]
fn a_context_is_used_again_when_members_on_all_nodes_have_left() {
    let mut world = World::of_nodes(&[2, 1], 1, Conduct::ROUGH);
    let channels = world.open_spread_channel(None);
    let contexts: Vec<u32> =
        world.engines.iter().zip(&channels).map(|(engine, &key)| engine.channel(key).context()).collect();
    for rank in [0, 2] {
        world.engines[rank].leave_channel(channels[rank]);
        world.settle();
    }
    world.look_at_departures();
    for (engine, &context) in world.engines.iter_mut().zip(&contexts) {
        assert_ne!(engine.p2p.open_context(), context, "rank 1 may still send");
    }
    world.engines[1].leave_channel(channels[1]);
    world.settle();
    (0..2).for_each(|_| world.look_at_departures());
    for (engine, context) in world.engines.iter_mut().zip(contexts) {
        assert_eq!(engine.p2p.open_context(), context);
    }
}

#[test]
fn channels_over_nodes_are_opened_and_left_in_the_same_memory() {
    let mut world = World::of_nodes(&[2, 1, 2], 4, Conduct::SMOOTH);
    let mut before = None;
    for cycle in 0..200 {
        let channels = world.open_spread_channel(None);
        for (engine, channel) in world.engines.iter_mut().zip(channels) {
            engine.leave_channel(channel);
        }
        world.settle();
        (0..2).for_each(|_| world.look_at_departures());
        let memory: Vec<usize> = world.engines.iter().map(|engine| engine.memory().0).collect();
        if cycle > 2 {
            assert_eq!(before.as_ref(), Some(&memory), "cycle {cycle}");
        }
        before = Some(memory);
    }
}

/// A job may meet others for as long as it lives: rings to and from those that no channel has as members are given up.
#[test]
fn rings_end_with_the_last_channel_and_are_made_again_for_what_is_told_later() {
    const PEERS: usize = 15;
    let mut world = World::of_nodes(&[1; 1 + PEERS], 6, Conduct::ROUGH);
    let from = Store::of(&contents(0, 0, 3000), Lie::Dense);
    let exchange = |world: &mut World| {
        for (src, dst) in (1..=PEERS as u32).flat_map(|other| [(0, other), (other, 0)]) {
            let into = Store::new(3000, Lie::Dense);
            let key = world.send(src, dst, 0, &from, Mode::Standard);
            let received = world.receive(dst, Some(src), Some(0), &into);
            assert!(world.finish(dst, received).error.is_none());
            world.finish_send(src, key);
            assert!(into.get() == from.get());
        }
    };
    let without_rings: Vec<usize> = world.engines.iter().map(|engine| engine.p2p.shared_bytes()).collect();
    exchange(&mut world);
    for (engine, &channel) in world.engines.iter_mut().zip(&world.channels) {
        engine.leave_channel(channel);
    }
    world.settle();
    (0..2).for_each(|_| world.look_at_departures());
    let contexts: Vec<u32> = world.engines.iter_mut().map(|engine| engine.p2p.open_context()).collect();
    assert!(contexts.windows(2).all(|two| two[0] == two[1]), "equal calls give equal contexts");
    world.context = contexts[0];
    for _ in 0..3 {
        exchange(&mut world);
        world.settle();
        for (engine, &without) in world.engines.iter().zip(&without_rings) {
            let bytes = engine.p2p.shared_bytes();
            assert!(bytes <= without, "{bytes} bytes, and {without} before");
        }
    }
}

/// Whatever others send to an endpoint: what is no frame of a process that is known is dropped.
#[test]
fn strangers_are_not_listened_to() {
    let mut world = World::of_nodes(&[1, 1], 5, Conduct::SMOOTH);
    let mut stranger = world.sim.as_ref().expect("there are nodes").open();
    let mut pool = Pool::default();
    let target = stranger.reach(&world.engines[1].fabric_address().expect("it has one")).expect("it is open");
    let known = world.engines[0].whereabouts();
    for number in 0..300 {
        let bytes = world.random.below(200);
        let mut message = world.random.bytes(bytes);
        if number % 2 == 0 && bytes >= 64 {
            // As if it came from rank 0, a credit for what was never sent, or far ahead.
            message[..8].copy_from_slice(&known.job().to_le_bytes());
            message[8..12].copy_from_slice(&known.rank().to_le_bytes());
            message[12..16].copy_from_slice(&(bytes as u32 - 64).to_le_bytes());
            message[16..24].copy_from_slice(&[0xff; 8]);
        }
        let memory = pool.take(bytes);
        memory.write(&message);
        while !stranger.send(target, *memory, Order::Any, 0).is_accepted() {
            stranger.completions(100, &mut Vec::new());
            world.turn();
        }
        let (from, into) = (Store::of(&contents(0, number, 100), Lie::Dense), Store::new(100, Lie::Dense));
        let key = world.send(0, 1, 0, &from, Mode::Synchronous);
        let received = world.receive(1, Some(0), None, &into);
        world.finish(1, received);
        world.finish_send(0, key);
        assert!(into.get() == from.get());
    }
}

/// What finds its receive goes there from the frame, also behind what lies in the ring, and is received in order.
#[test]
fn messages_that_fill_frames_and_short_ones_keep_their_order() {
    for seed in 0..40 {
        let mut world =
            World::of_nodes(&[1, 1], seed, if seed % 2 == 0 { MUCH_AT_ONCE } else { Conduct::ROUGH });
        let lengths = [0, 8, 500, 4_056, 4_057, 9_000, 16_320, 16_321, 16_384, 40_000, 65_536];
        let stores: Vec<_> = (0..60)
            .map(|number| {
                let bytes = lengths[world.random.below(lengths.len())];
                (Store::of(&contents(0, number, bytes), Lie::Dense), Store::new(bytes, Lie::Dense))
            })
            .collect();
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        while sent.len() < stores.len() || received.len() < stores.len() {
            let (next, asked) = (sent.len(), received.len());
            match world.random.below(8) {
                0..=1 if next < stores.len() => {
                    let mode = if next.is_multiple_of(7) { Mode::Synchronous } else { Mode::Standard };
                    sent.push(world.send(0, 1, 0, &stores[next].0, mode));
                }
                2..=3 if asked < stores.len() => {
                    received.push(world.receive(1, Some(0), Some(0), &stores[asked].1));
                }
                _ => world.turn(),
            }
        }
        for (number, (received, (from, into))) in received.into_iter().zip(&stores).enumerate() {
            assert!(world.finish(1, received).error.is_none(), "seed {seed}, message {number}");
            assert!(into.get() == from.get(), "seed {seed}, message {number}");
        }
        sent.into_iter().for_each(|key| world.finish_send(0, key));
    }
}
