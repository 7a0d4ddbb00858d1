//! What may happen to a message on its way: cancelled, forgotten, probed, copied, read directly.
//!
//! MPI-5.0: Point-to-Point Communication, Probe and Cancel; Buffer Allocation and Usage.

use oxmpi_engine::{Mode, Needs, OpKey, Pattern, Received};
use oxmpi_shm::Phase;

use crate::harness::{Lie, Store, World};
use crate::messages::{SIZES, contents};

const ANY: Pattern = Pattern { source: None, tag: None };

/// Cancel: either the cancellation succeeds or the communication does, but not both.
#[test]
pub fn a_cancelled_receive_takes_no_message() {
    for (seed, bytes) in (0..).zip(SIZES) {
        let mut world = World::new(2, seed);
        let stores = [0, 1].map(|_| Store::new(bytes, Lie::Dense));
        let [first, second] = stores.each_ref().map(|into| world.receive(1, None, None, into));
        let Received::Pending(first) = first else { panic!("nothing was sent") };
        world.engines[1].p2p.cancel(first);
        let outcome = world.engines[1].p2p.take_outcome(first).expect("cancelling is local");
        assert!(outcome.status.cancelled && outcome.error.is_none());
        let from = Store::of(&contents(0, 0, bytes), Lie::Dense);
        let key = world.send(0, 1, 0, &from, Mode::Standard);
        assert!(!world.finish(1, second).status.cancelled);
        assert!(stores[1].get() == from.get());
        world.finish_send(0, key);
    }
}

#[test]
fn a_receive_that_has_matched_is_not_cancelled() {
    for (seed, bytes) in (0..).zip([8, 1 << 20]) {
        let mut world = World::new(2, seed);
        let (from, into) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
        let Received::Pending(receive) = world.receive(1, None, None, &into) else {
            panic!("nothing was sent")
        };
        let key = world.send(0, 1, 0, &from, Mode::Standard);
        world.engines[1].poll();
        world.engines[1].p2p.cancel(receive);
        let outcome = world.finish(1, Received::Pending(receive));
        assert_eq!((outcome.status.cancelled, outcome.status.bytes), (false, bytes as u64));
        assert!(into.get() == from.get());
        world.finish_send(0, key);
    }
}

#[test]
pub fn a_send_that_is_cancelled_in_its_queue_is_never_received() {
    let mut world = World::new(2, 1);
    let from = Store::of(&contents(0, 0, 8), Lie::Dense);
    let mut queued = Vec::new();
    let mut sent = 0;
    while queued.len() < 3 {
        queued.extend(world.send(0, 1, 0, &from, Mode::Standard));
        sent += 1;
        // One that has waited goes when there is room.
        let is_gone = |key: &OpKey| world.engines[0].p2p.is_done(*key);
        let (gone, waiting): (Vec<_>, Vec<_>) = queued.into_iter().partition(is_gone);
        gone.into_iter().for_each(|key| world.finish_send(0, Some(key)));
        queued = waiting;
    }
    world.engines[0].p2p.cancel(queued[1]);
    assert!(world.engines[0].p2p.take_outcome(queued[1]).is_some_and(|end| end.status.cancelled));
    for _ in 0..sent - 1 {
        let into = Store::new(8, Lie::Dense);
        let received = world.receive(1, None, None, &into);
        world.finish(1, received);
    }
    world.settle();
    assert!(world.engines[1].p2p.probe(world.context, &ANY).is_none());
    [queued[0], queued[2]].into_iter().for_each(|key| world.finish_send(0, Some(key)));
    assert!(world.engines[0].is_quiet());
}

/// Cancel: after it, waiting for the operation behaves as if it were local.
#[test]
pub fn a_send_that_nobody_has_received_is_cancelled_at_the_receiver() {
    for (seed, bytes) in (0..).zip(SIZES) {
        for dst in [0, 1] {
            let mut world = World::new(2, seed);
            let from = Store::of(&contents(0, 0, bytes), Lie::Dense);
            let keys =
                [0, 1].map(|tag| world.send(0, dst, tag, &from, Mode::Synchronous).expect("unmatched"));
            world.settle();
            world.engines[0].p2p.cancel(keys[0]);
            assert!(world.finish(0, Received::Pending(keys[0])).status.cancelled, "{bytes} bytes to {dst}");
            let into = Store::new(bytes, Lie::Dense);
            let received = world.receive(dst, None, None, &into);
            assert_eq!(world.finish(dst, received).status.tag, 1);
            world.finish_send(0, Some(keys[1]));
            world.settle();
            assert!(world.engines.iter().all(|engine| engine.is_quiet() && engine.describe(&()).is_empty()));
        }
    }
}

/// Cancel: either the cancellation succeeds or the communication does, but not both.
#[test]
pub fn a_send_that_is_received_and_cancelled_at_the_same_time_is_one_of_both_on_both_sides() {
    let mut cancelled = 0;
    for seed in 0..200 {
        let mut world = World::new(2, seed);
        let bytes = world.random.pick(&SIZES);
        let (from, into) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
        let key = world.send(0, 1, 0, &from, Mode::Synchronous).expect("unmatched");
        let most = if world.sim.is_some() { 400 } else { 6 };
        let turns = |world: &mut World| (0..world.random.below(most)).for_each(|_| world.turn());
        turns(&mut world);
        let cancels_first = world.random.chance();
        if cancels_first {
            world.engines[0].p2p.cancel(key);
            turns(&mut world);
        }
        let received = world.receive(1, None, None, &into);
        if !cancels_first {
            turns(&mut world);
            world.engines[0].p2p.cancel(key);
        }
        let is_cancelled = world.finish(0, Received::Pending(key)).status.cancelled;
        cancelled += usize::from(is_cancelled);
        match received {
            Received::Pending(receive) if is_cancelled => {
                world.settle();
                assert!(!world.engines[1].p2p.is_done(receive), "seed {seed}");
            }
            received => {
                assert!(!is_cancelled && world.finish(1, received).error.is_none(), "seed {seed}");
                assert!(into.get() == from.get(), "seed {seed}");
            }
        }
    }
    assert!((20..180).contains(&cancelled), "{cancelled} of 200 were cancelled");
}

#[test]
fn a_receive_that_waits_when_its_context_ends_is_cancelled() {
    let mut world = World::new(1, 1);
    let into = Store::new(8, Lie::Dense);
    let receives = [0, 1].map(|_| world.receive(0, None, None, &into));
    let [Received::Pending(forgotten), Received::Pending(known)] = receives else {
        panic!("nothing was sent")
    };
    let p2p = &mut world.engines[0].p2p;
    p2p.detach(forgotten);
    p2p.close_context(world.context);
    assert!(p2p.take_outcome(known).is_some_and(|outcome| outcome.status.cancelled));
    assert!(p2p.describe(&()).is_empty());
}

/// A communicator that has come about elsewhere, and not here.
#[test]
fn what_is_sent_to_a_context_that_came_to_nothing_is_refused_and_reaches_no_other() {
    for (seed, bytes) in (0..).zip(SIZES) {
        let mut world = World::new(2, seed);
        let from = Store::of(&contents(0, 0, bytes), Lie::Dense);
        let early = world.send(0, 1, 0, &from, Mode::Synchronous);
        world.settle();
        world.engines[1].p2p.end_context(world.context);
        let late = world.send(0, 1, 0, &from, Mode::Synchronous);
        let others: Vec<u32> = (0..3).map(|_| world.engines[1].p2p.open_context()).collect();
        assert!(!others.contains(&world.context), "{others:?}");
        world.settle();
        for key in [early, late] {
            let key = key.expect("nobody has received");
            assert!(matches!(world.engines[0].p2p.needs(key), Needs::Receive(_)), "{bytes} bytes");
        }
        let p2p = &mut world.engines[1].p2p;
        assert!(others.iter().all(|&other| p2p.probe(other, &ANY).is_none()), "{bytes} bytes");
    }
}

/// Communication Completion: a request that is freed lets its communication complete.
#[test]
pub fn a_detached_operation_goes_on_and_is_then_forgotten() {
    for (seed, bytes) in (0..).zip(SIZES) {
        let mut world = World::new(2, seed);
        let from = Store::of(&contents(0, 0, bytes), Lie::Dense);
        let into = [0, 1].map(|_| Store::new(bytes, Lie::Dense));
        let key = world.send(0, 1, 0, &from, Mode::Synchronous).expect("nobody has received");
        world.engines[0].p2p.detach(key);
        for into in &into[..1] {
            let Received::Pending(receive) = world.receive(1, None, None, into) else { continue };
            world.engines[1].p2p.detach(receive);
        }
        world.settle();
        assert!(into[0].get() == from.get(), "{bytes} bytes");
        for engine in &world.engines {
            assert!(engine.is_quiet() && engine.describe(&()).is_empty(), "{:?}", engine.describe(&()));
        }
    }
}

/// Probe: it tells about a message that the next receive gets; a matched one, of one that nobody else gets.
#[test]
pub fn a_probed_message_is_still_there_and_a_taken_one_is_for_its_taker_alone() {
    for (seed, bytes) in (0..).zip(SIZES) {
        let mut world = World::new(2, seed);
        let froms = [0, 1].map(|number| Store::of(&contents(0, number, bytes), Lie::Dense));
        let keys = [0, 1].map(|tag| world.send(0, 1, tag, &froms[tag as usize], Mode::Synchronous));
        world.settle();
        let context = world.context;
        let p2p = &mut world.engines[1].p2p;
        for _ in 0..2 {
            let status = p2p.probe(context, &ANY).expect("two messages are there");
            assert_eq!((status.source, status.tag, status.bytes), (0, 0, bytes as u64));
        }
        let taken = p2p.take_message(context, &ANY).expect("two messages are there");
        assert_eq!(taken.envelope(), (0, 0, bytes as u64));
        assert!(p2p.take_message(context, &Pattern { source: None, tag: Some(0) }).is_none());
        let (first, second) = (Store::new(bytes, Lie::Dense), Store::new(bytes, Lie::Scattered));
        let received = world.receive(1, None, None, &second);
        assert_eq!(world.finish(1, received).status.tag, 1);
        let received = world.engines[1].p2p.receive_message(taken, first.buffer().clone());
        assert_eq!(world.finish(1, received).status.tag, 0);
        assert!(first.get() == froms[0].get() && second.get() == froms[1].get());
        keys.into_iter().for_each(|key| world.finish_send(0, key));
    }
}

/// Communication Modes: a buffered send is complete whether or not a receive has been started.
/// Probe: a call that is repeated finds a message that was sent, some time, whatever else is probed for meanwhile.
#[test]
fn one_of_many_probes_finds_what_was_only_shown() {
    const TAGS: i32 = 150;
    for pause in 1..40 {
        let mut world = World::new(2, 1);
        world.engines[1].p2p.keep_at_most(0);
        let from = Store::of(&[1; 8], Lie::Dense);
        let mut kept = 0;
        while kept < 5 {
            kept += usize::from(world.send(0, 1, TAGS, &from, Mode::Standard).is_some());
            world.settle();
        }
        let tag = pause * 7 % TAGS;
        world.send(0, 1, tag, &from, Mode::Synchronous);
        world.settle();
        let mut found = None;
        for look in 0..200 * TAGS {
            world.engines[1].poll();
            if look % pause == 0 {
                world.engines[0].poll();
            }
            let pattern = Pattern { source: Some(0), tag: Some(look % TAGS) };
            found = found.or(world.engines[1].p2p.probe(world.context, &pattern).map(|status| status.tag));
        }
        assert_eq!(found, Some(tag), "a look of the sender for {pause} of the receiver");
    }
}

#[test]
pub fn a_copy_is_what_the_buffer_held_when_it_was_sent() {
    for (seed, bytes) in (0..).zip(SIZES) {
        for dst in [0, 1] {
            let mut world = World::new(2, seed);
            let to = world.address(0, dst as usize);
            let from = Store::new(bytes, Lie::Scattered);
            for number in 0..20 {
                from.put(&contents(0, number, bytes));
                world.engines[0].p2p.send_copy(to, 0, 0, from.buffer());
            }
            from.put(&vec![0; bytes]);
            for number in 0..20 {
                let into = Store::new(bytes, Lie::Dense);
                let received = world.receive(dst, Some(0), None, &into);
                world.finish(dst, received);
                assert!(into.get() == contents(0, number, bytes), "{bytes} bytes, message {number}");
            }
            world.settle();
            assert!(world.engines[0].is_quiet() && world.engines[0].describe(&()).is_empty());
        }
    }
}

#[test]
fn what_is_read_out_of_the_senders_memory_is_what_was_sent() {
    let bytes = 1 << 20;
    let mut world = World::alive(2, 1);
    for (number, room) in (0..).zip([bytes, bytes, 300_000, bytes]) {
        let (from, into) = (Store::of(&contents(0, number, bytes), Lie::Dense), Store::new(room, Lie::Dense));
        let key = world.send(0, 1, 0, &from, Mode::Standard);
        let received = world.receive(1, None, None, &into);
        assert_eq!(world.finish(1, received).error.is_some(), room < bytes);
        assert!(into.get() == from.get()[..room], "message {number}");
        world.finish_send(0, key);
    }
}

/// Session Creation and Destruction: ranks may end their sessions while others go on.
#[test]
fn nothing_is_expected_of_a_rank_that_has_left() {
    let mut world = World::new(3, 1);
    let from = Store::of(&contents(0, 0, 8), Lie::Dense);
    // The ring is full, and the last message waits for room.
    let queued = std::iter::repeat_with(|| world.send(0, 1, 0, &from, Mode::Standard)).find_map(|key| key);
    assert!(queued.is_some() && !world.engines[0].is_quiet());
    world.engines[2].state().set_phase(Phase::Finalized);
    assert!(!world.engines[0].is_quiet(), "another rank has left");
    world.engines[1].state().set_phase(Phase::Finalized);
    assert!(world.engines[0].is_quiet());
    // It is back.
    world.engines[1].state().set_phase(Phase::InSession);
    assert!(!world.engines[0].is_quiet());
    world.settle();
    assert!(world.engines[0].is_quiet());
}
