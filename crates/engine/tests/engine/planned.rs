//! Planned messages are as others are: whatever the other end does, in every order.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests.

use oxmpi_base::ErrorClass;
use oxmpi_engine::machine::Phase;
use oxmpi_engine::{Address, Mode, OpKey, Outcome, Pattern, Received};

use crate::harness::{Lie, Store, World};
use crate::inter::Pair;
use crate::messages::{SIZES, contents};

pub const ANY: Pattern = Pattern { source: None, tag: None };

pub fn plan_send(world: &mut World, src: u32, dst: u32, tag: i32, from: &Store, mode: Mode) -> OpKey {
    let to = world.address(src as usize, dst as usize);
    world.engines[src as usize].p2p.plan_send(to, src.cast_signed(), tag, from.buffer().clone(), mode)
}

pub fn plan_receive(world: &mut World, dst: u32, pattern: Pattern, into: &Store) -> OpKey {
    let from = pattern.source.map(|source| world.peer(dst as usize, source as usize));
    world.engines[dst as usize].p2p.plan_receive(world.context, pattern, from, into.buffer().clone())
}

pub fn start(world: &mut World, rank: u32, key: OpKey) -> Received {
    let p2p = &mut world.engines[rank as usize].p2p;
    match p2p.start(key) {
        true => Received::Done(p2p.take_outcome(key).expect("it is over")),
        false => Received::Pending(key),
    }
}

fn from(source: u32, tag: i32) -> Pattern {
    Pattern { source: Some(source.cast_signed()), tag: Some(tag) }
}

fn assert_nothing_is_left(world: &mut World) {
    world.settle();
    let is_quiet = |engine: &oxmpi_engine::Engine| engine.is_quiet() && engine.describe(&()).is_empty();
    assert!(world.engines.iter().all(is_quiet), "seed {}", world.seed);
}

#[test]
pub fn each_start_sends_what_the_memory_holds_then() {
    for (seed, bytes) in (0..).zip(SIZES) {
        for (src, mode) in
            [0, 1].into_iter().flat_map(|src| [Mode::Standard, Mode::Synchronous].map(|mode| (src, mode)))
        {
            let mut world = World::new(2, seed);
            let [sent, received] = [0, 1].map(|_| Store::new(bytes, Lie::Scattered));
            let send = plan_send(&mut world, src, 1, 3, &sent, mode);
            let receive = plan_receive(&mut world, 1, from(src, 3), &received);
            for round in 0..20 {
                sent.put(&contents(0, round, bytes));
                let posted = (round % 3 != 0).then(|| start(&mut world, 1, receive));
                let started = start(&mut world, src, send);
                if round % 2 == 0 {
                    world.settle();
                }
                let posted = posted.unwrap_or_else(|| start(&mut world, 1, receive));
                let status = world.finish(1, posted).status;
                assert_eq!((status.source, status.tag, status.bytes), (src.cast_signed(), 3, bytes as u64));
                assert!(received.get() == contents(0, round, bytes), "{bytes} bytes, round {round}");
                assert!(world.finish(src, started).error.is_none());
            }
            world.engines[src as usize].p2p.detach(send);
            world.engines[1].p2p.detach(receive);
            assert_nothing_is_left(&mut world);
        }
    }
}

/// Of two receives that match, the first one gets the message, and each gets all of it or says that it was too long.
#[test]
fn a_receive_takes_what_is_at_the_head_of_the_ring_only_if_it_waits_alone_for_that() {
    let mut world = World::new(3, 1);
    let sent = Store::of(&contents(0, 0, 8), Lie::Dense);
    let (short, long) = (Store::new(4, Lie::Dense), Store::new(8, Lie::Dense));
    let receives = [(1, 7, &long), (1, 8, &long), (2, 7, &long), (1, 7, &short)];
    let receives = receives.map(|(source, tag, into)| plan_receive(&mut world, 0, from(source, tag), into));
    let send = |world: &mut World| assert!(world.send(1, 0, 7, &sent, Mode::Standard).is_none());
    for key in receives {
        assert!(!world.engines[0].p2p.start(key));
        assert_eq!(world.engines[0].p2p.take_at_head(key), None, "nothing has come");
    }
    send(&mut world);
    let heads = receives.map(|key| world.engines[0].p2p.take_at_head(key));
    assert_eq!(heads, [None; 4], "others wait, too");
    world.settle();
    assert!(world.finish(0, Received::Pending(receives[0])).error.is_none());
    for key in &receives[1..] {
        world.engines[0].p2p.cancel(*key);
        assert!(world.finish(0, Received::Pending(*key)).status.cancelled);
    }
    send(&mut world);
    for key in &receives[1..] {
        assert!(!world.engines[0].p2p.start(*key), "it is for another one, or too long");
        assert_eq!(world.engines[0].p2p.take_at_head(*key), None);
        if *key == receives[3] {
            world.settle();
            assert!(world.finish(0, Received::Pending(*key)).error.is_some());
        } else {
            world.engines[0].p2p.cancel(*key);
            world.finish(0, Received::Pending(*key));
        }
    }
    assert!(!world.engines[0].p2p.start(receives[0]));
    send(&mut world);
    let status = world.engines[0].p2p.take_at_head(receives[0]).expect("it is there");
    assert_eq!((status.source, status.tag, status.bytes), (1, 7, 8));
    send(&mut world);
    assert!(world.engines[0].p2p.start(receives[0]), "it was there before");
    assert_eq!(world.engines[0].p2p.take_status(receives[0]), Some(status));
    assert!(long.get() == sent.get());
    assert_nothing_is_left(&mut world);
}

#[test]
pub fn nothing_is_written_into_a_receive_that_is_not_started() {
    for (seed, bytes) in (0..).zip(SIZES) {
        let mut world = World::new(2, seed);
        let (sent, received) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
        let send = plan_send(&mut world, 0, 1, 0, &sent, Mode::Standard);
        let receive = plan_receive(&mut world, 1, from(0, 0), &received);
        for round in 0..3 {
            received.put(&vec![round; bytes]);
            let started = start(&mut world, 0, send);
            world.settle();
            assert!(received.get() == vec![round; bytes]);
            let probed = world.engines[1].p2p.probe(world.context, &ANY).expect("it has arrived");
            assert_eq!(probed.bytes, bytes as u64);
            if round == 1 {
                let message = world.engines[1].p2p.take_message(world.context, &ANY).expect("just seen");
                let into = Store::new(bytes, Lie::Dense);
                let taken = world.engines[1].p2p.receive_message(message, into.buffer().clone());
                world.finish(1, taken);
                assert!(into.get() == sent.get() && received.get() == vec![round; bytes]);
            } else {
                let posted = start(&mut world, 1, receive);
                world.finish(1, posted);
                assert!(received.get() == sent.get());
            }
            world.finish(0, started);
        }
        assert_nothing_is_left(&mut world);
    }
}

/// Cancel: the active operation is cancelled, and the request can be started again, with other data.
#[test]
pub fn what_was_cancelled_is_started_again() {
    for (seed, bytes) in (0..).zip(SIZES) {
        for dst in [0, 1] {
            let mut world = World::new(2, seed);
            let [sent, received] = [0, 1].map(|_| Store::new(bytes, Lie::Dense));
            let send = plan_send(&mut world, 0, dst, 0, &sent, Mode::Synchronous);
            let receive = plan_receive(&mut world, dst, ANY, &received);
            for round in 0..3 {
                sent.put(&contents(0, 2 * round, bytes));
                for (rank, key) in [(0, send), (dst, receive)] {
                    let started = start(&mut world, rank, key);
                    world.settle();
                    world.engines[rank as usize].p2p.cancel(key);
                    let outcome = world.finish(rank, started);
                    assert!(outcome.status.cancelled && outcome.error.is_none(), "{bytes} bytes");
                }
                sent.put(&contents(0, 2 * round + 1, bytes));
                let [started, posted] =
                    [(0, send), (dst, receive)].map(|(rank, key)| start(&mut world, rank, key));
                assert!(!world.finish(dst, posted).status.cancelled);
                assert!(!world.finish(0, started).status.cancelled);
                assert!(received.get() == sent.get());
                // What is inactive is not cancelled.
                world.engines[0].p2p.cancel(send);
            }
            assert_nothing_is_left(&mut world);
        }
    }
}

/// Non-overtaking: a start that was cancelled in the outbox leaves no place there to the next one.
#[test]
fn what_was_cancelled_in_its_queue_is_started_behind_what_was_sent_since() {
    let mut world = World::new(2, 1);
    let [planned, other] = [1, 2].map(|byte| Store::of(&[byte; 8], Lie::Dense));
    let send = plan_send(&mut world, 0, 1, 0, &planned, Mode::Standard);
    let mut first = None;
    let mut before = 0;
    while first.is_none() {
        first = world.send(0, 1, 0, &other, Mode::Standard);
        before += 1;
    }
    let cancelled = start(&mut world, 0, send);
    world.engines[0].p2p.cancel(send);
    assert!(world.finish(0, cancelled).status.cancelled, "to cancel it is local");
    let second = world.send(0, 1, 0, &other, Mode::Standard);
    let started = start(&mut world, 0, send);
    let received: Vec<u8> = (0..before + 2)
        .map(|_| {
            let into = Store::new(8, Lie::Dense);
            let received = world.receive(1, Some(0), Some(0), &into);
            world.finish(1, received);
            into.get()[0]
        })
        .collect();
    assert_eq!(received.iter().position(|&byte| byte == 1), Some(before + 1), "it was started last");
    world.finish(0, started);
    [first, second].into_iter().for_each(|key| world.finish_send(0, key));
    world.settle();
    assert_nothing_is_left(&mut world);
}

/// Request_free: the operation goes on, and is deallocated when it is complete.
#[test]
pub fn what_is_let_go_while_it_is_active_ends_by_itself() {
    for (seed, bytes) in (0..).zip(SIZES) {
        let mut world = World::new(2, seed);
        let (sent, received) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
        let send = plan_send(&mut world, 0, 1, 0, &sent, Mode::Synchronous);
        let receive = plan_receive(&mut world, 1, ANY, &received);
        for (rank, key) in [(0, send), (1, receive)] {
            let started = start(&mut world, rank, key);
            assert!(matches!(started, Received::Pending(_)) || rank == 1);
            world.engines[rank as usize].p2p.detach(key);
        }
        world.settle();
        assert!(received.get() == sent.get());
        assert_nothing_is_left(&mut world);
    }
}

#[test]
pub fn each_round_that_is_cut_says_so_and_the_next_may_be_whole() {
    for (seed, room) in [(0, 8), (1, 20_000)] {
        let mut world = World::new(2, seed);
        let [short, long] = [room, 2 * room].map(|bytes| Store::of(&contents(0, 0, bytes), Lie::Dense));
        let received = Store::new(room, Lie::Dense);
        let sends = [&short, &long].map(|from| plan_send(&mut world, 0, 1, 0, from, Mode::Standard));
        let receive = plan_receive(&mut world, 1, ANY, &received);
        for round in 0..6 {
            let started = start(&mut world, 0, sends[round % 2]);
            let posted = start(&mut world, 1, receive);
            let Outcome { status, error } = world.finish(1, posted);
            let class = error.map_or(ErrorClass::Success, |error| error.class());
            let expected = if round % 2 == 0 { ErrorClass::Success } else { ErrorClass::Truncate };
            assert_eq!((status.bytes, class), (room as u64, expected));
            world.finish(0, started);
        }
    }
}

#[test]
fn what_needs_a_process_that_has_gone_fails_each_time() {
    let (mut world, pair) = Pair::of_jobs(1, 1, 5);
    pair.open_all(&mut world);
    let there = world.engines[1].whereabouts();
    let to = Address { peer: world.engines[0].peer(there).expect("attached"), context: 0 };
    let store = Store::new(8, Lie::Dense);
    let p2p = &mut world.engines[0].p2p;
    let send = p2p.plan_send(to, 0, 0, store.buffer().clone(), Mode::Synchronous);
    assert!(!p2p.start(send));
    world.engines[1].state().set_phase(Phase::Finalized);
    world.engines[0].suspect();
    let p2p = &mut world.engines[0].p2p;
    for _ in 0..3 {
        let error = p2p.take_outcome(send).and_then(|outcome| outcome.error).expect("it fails at once");
        assert_eq!(error.class(), ErrorClass::ProcAborted);
        assert!(p2p.start(send));
    }
    p2p.detach(send);
    assert!(p2p.describe(&()).is_empty());
}
