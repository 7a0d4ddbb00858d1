//! Whoever needs a process of another node that has died hears of it, and which one it was; others go on.

use std::sync::Arc;

use oxmpi_base::ErrorClass;
use oxmpi_engine::{Engine, Lifetime, Mode, OpKey, Outcome, Received};
use oxmpi_fabric::sim::Conduct;
use oxmpi_plan::{Collective, Shape};

use super::flow::MUCH_AT_ONCE;
use crate::collective::{Case, shape};
use crate::harness::{Lie, Store, World};
use crate::messages::contents;

pub(super) fn kill(world: &mut World, rank: usize) {
    let address = world.engines[rank].fabric_address().expect("it has joined");
    world.sim.as_ref().expect("there are nodes").kill(&address);
}

/// A rank waits for the dead.
pub(super) fn ask_after(world: &mut World, rank: usize, dead: usize) {
    let dead = world.engines[dead].whereabouts();
    let engine = &mut world.engines[rank];
    let (peer, mut absent) = (engine.peer(dead).expect("it is known"), engine.absent_or_silent(true));
    absent.is_leaving(peer);
    engine.ask_after(&absent, true);
    engine.suspect();
}

/// How an operation of the first rank ends, which waits for the dead meanwhile.
fn outcome_beside_dead(world: &mut World, key: OpKey, dead: usize) -> Outcome {
    for _ in 0..10_000 {
        world.engines[0].poll();
        if let Some(outcome) = world.engines[0].p2p.take_outcome(key) {
            return outcome;
        }
        ask_after(world, 0, dead);
    }
    panic!("seed {}: nothing happens", world.seed)
}

/// A rank is told that another one is dead.
fn give_up(world: &mut World, rank: usize, dead: usize) {
    let dead = world.engines[dead].whereabouts();
    let engine = &mut world.engines[rank];
    let peer = engine.peer(dead).expect("it is known");
    engine.give_up(peer);
}

/// Turns of those that live, some of which look for the dead.
pub(super) fn turns(world: &mut World, dead: usize, count: usize) {
    for turn in 0..count {
        let rank = world.random.below(world.engines.len());
        if rank != dead {
            world.engines[rank].poll();
            if turn % 50 == 0 {
                ask_after(world, rank, dead);
            }
        }
    }
}

fn assert_lost(world: &World, outcome: &Outcome, dead: usize) {
    let error = outcome.error.as_ref().expect("it cannot end otherwise");
    assert_eq!(error.class(), ErrorClass::ProcAborted, "seed {}", world.seed);
    let named = format!("rank {dead}, on host {dead}");
    assert!(error.to_string().contains(&named), "{error:?}");
}

/// MPI-5.0: Error Handling (what exhausts a resource is an error).
#[test]
fn who_has_no_memory_for_the_network_says_so_of_all_whom_it_needs() {
    let mut world = World::of_nodes(&[1, 1], 0, Conduct::ROUGH);
    let address = world.engines[0].fabric_address().expect("it has joined");
    world.sim.as_ref().expect("there are nodes").starve(&address);
    let into = Store::new(8, Lie::Dense);
    let Received::Pending(key) = world.receive(0, Some(1), Some(0), &into) else { panic!("too early") };
    let outcome = outcome_beside_dead(&mut world, key, 1);
    let error = outcome.error.expect("it cannot end otherwise");
    assert_eq!(error.class(), ErrorClass::NoMem);
    assert!(error.text().contains("rank 1, on host 1, is not reached"), "{error:?}");
    assert_eq!(world.engines[0].lost_part(), None, "that one has not ended");
}

#[test]
fn what_needs_the_dead_fails_and_names_it() {
    for seed in 0..40 {
        let mut world = World::of_nodes(&[2, 2], seed, Conduct::ROUGH);
        let sizes = [8, 3000, 100_000, 700_000];
        let stores =
            sizes.map(|bytes| (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense)));
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for (tag, (from, into)) in (0..).zip(&stores) {
            let key = world.send(0, 3, tag, from, Mode::Synchronous).expect("nobody receives it");
            sends.push(key);
            let source = world.random.pick(&[Some(3), None]);
            let Received::Pending(key) = world.receive(1, source, Some(tag), into) else {
                panic!("too early")
            };
            receives.push(key);
        }
        let before = world.random.below(300);
        turns(&mut world, 3, before);
        kill(&mut world, 3);
        turns(&mut world, 3, 3000);
        for key in sends {
            let outcome = world.engines[0].p2p.take_outcome(key).expect("over");
            assert_lost(&world, &outcome, 3);
        }
        for key in receives {
            let outcome = world.engines[1].p2p.take_outcome(key).expect("over");
            assert_lost(&world, &outcome, 3);
        }
        let key = world.send(0, 3, 0, &stores[0].0, Mode::Standard).expect("an operation");
        let outcome = world.engines[0].p2p.take_outcome(key).expect("over at once");
        assert_lost(&world, &outcome, 3);
        // The fellow of the dead is there.
        let key = world.send(0, 2, 0, &stores[2].0, Mode::Standard);
        let received = world.receive(2, Some(0), None, &stores[2].1);
        world.finish(2, received);
        world.finish_send(0, key);
        assert!(stores[2].1.get() == stores[2].0.get());
    }
}

/// The memory of a receive is its caller's again when the receive is over, whoever has died.
#[test]
fn nothing_is_written_when_a_receive_has_failed() {
    for seed in 0..60 {
        // It is read, or written.
        let conduct = if seed % 2 == 0 { Conduct::ROUGH } else { MUCH_AT_ONCE };
        let mut world = World::of_nodes(&[1, 1], seed, conduct);
        let bytes = 900_000;
        let (from, into) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
        let Received::Pending(receive) = world.receive(0, Some(1), None, &into) else { panic!("too early") };
        world.send(1, 0, 0, &from, Mode::Standard);
        let before = world.random.below(700);
        (0..before).for_each(|_| world.turn());
        kill(&mut world, 1);
        let outcome = outcome_beside_dead(&mut world, receive, 1);
        match outcome.error {
            Some(_) => assert_lost(&world, &outcome, 1),
            None => assert!(into.get() == from.get()),
        }
        into.put(&vec![7; bytes]);
        turns(&mut world, 1, 1000);
        assert!(into.get() == vec![7; bytes], "seed {seed}");
    }
}

/// A message of which the rest was never given to the network has not been sent.
#[test]
fn a_send_that_the_dead_have_in_part_fails() {
    let mut whole = 0;
    for seed in 0..60 {
        let mut world = World::of_nodes(&[1, 1], seed, MUCH_AT_ONCE);
        let bytes = 900_000;
        let (from, into) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
        world.receive(1, Some(0), None, &into);
        let send = world.send(0, 1, 0, &from, Mode::Standard).expect("it is long");
        let before = world.random.below(500);
        (0..before).for_each(|_| world.turn());
        give_up(&mut world, 0, 1);
        (0..1000).for_each(|_| _ = world.engines[0].poll());
        let outcome = world.engines[0].p2p.take_outcome(send).expect("over");
        if outcome.error.is_some() {
            assert_lost(&world, &outcome, 1);
            continue;
        }
        let traffic = world.sim.as_ref().expect("there are nodes").traffic();
        let written = traffic.writes * MUCH_AT_ONCE.limits.remote_bytes as u64;
        assert!(written >= bytes as u64, "seed {seed}: {written} bytes were written at most");
        whole += 1;
    }
    assert!((1..60).contains(&whole), "{whole} of 60 were sent");
}

/// A frame may be sent from the memory of its send, which is over only then, whatever happens.
#[test]
fn a_send_whose_memory_a_frame_is_sent_from_ends_though_its_receiver_has_died() {
    let mut failed = 0;
    for seed in 0..60 {
        let mut world = World::of_nodes(&[1, 1], seed, MUCH_AT_ONCE);
        let (hello, into) = (Store::of(&[7], Lie::Dense), Store::new(1, Lie::Dense));
        let sent = world.send(0, 1, 1, &hello, Mode::Standard);
        let received = world.receive(1, Some(0), Some(1), &into);
        world.finish(1, received);
        world.finish_send(0, sent);
        let bytes = 60_000;
        let from = Store::of(&contents(0, 0, bytes), Lie::Dense);
        let send = world.send(0, 1, 0, &from, Mode::Standard);
        let before = world.random.below(60);
        (0..before).for_each(|_| world.turn());
        kill(&mut world, 1);
        let outcome = send.map(|send| outcome_beside_dead(&mut world, send, 1));
        let failure = outcome.filter(|outcome| outcome.error.is_some());
        failure.iter().for_each(|outcome| assert_lost(&world, outcome, 1));
        failed += usize::from(failure.is_some());
        turns(&mut world, 1, 300);
    }
    assert!((1..60).contains(&failed), "{failed} of 60 have failed");
}

/// What has come is here, however much of it and however its sender was lost.
#[test]
fn messages_that_have_arrived_outlive_their_sender() {
    for polls in 0..4 {
        let mut world = World::of_nodes(&[1, 1], 1, Conduct::SMOOTH);
        let (from, into) = (Store::of(&[7; 8], Lie::Dense), Store::new(8, Lie::Dense));
        for _ in 0..200 {
            world.send(1, 0, 0, &from, Mode::Standard);
        }
        (0..300).for_each(|_| _ = world.engines[1].poll());
        (0..polls).for_each(|_| _ = world.engines[0].poll());
        give_up(&mut world, 0, 1);
        for number in 0..200 {
            let received = world.receive(0, Some(1), None, &into);
            assert!(matches!(received, Received::Done(_)), "message {number} after {polls} polls");
        }
    }
}

/// The memory of a receive is not to be written into for a message that the dead have announced.
#[test]
fn what_the_dead_have_announced_opens_no_receive() {
    let mut world = World::of_nodes(&[1, 1], 5, MUCH_AT_ONCE);
    let bytes = 900_000;
    let (from, into) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
    world.send(1, 0, 0, &from, Mode::Standard);
    world.settle();
    kill(&mut world, 1);
    turns(&mut world, 1, 3000);
    let Received::Pending(receive) = world.receive(0, Some(1), None, &into) else {
        panic!("its data is gone")
    };
    turns(&mut world, 1, 100);
    let outcome = world.engines[0].p2p.take_outcome(receive).expect("over");
    assert_lost(&world, &outcome, 1);
    assert_eq!(world.sim.as_ref().expect("there are nodes").registered(), 0);
}

#[test]
fn a_run_with_the_dead_fails_and_the_channel_knows() {
    for seed in 0..20 {
        let mut world = World::of_nodes(&[2, 1, 1], seed, Conduct::ROUGH);
        let nodes = world.nodes();
        let shape = Shape { nodes, commutative: true, ..shape((Collective::Allreduce, 0), 4, 1000) };
        let algorithm = *oxmpi_plan::candidates(&shape).iter().find(|one| one.admits(&shape)).expect("one");
        let case = Case::new(shape, algorithm, false, Lie::Dense);
        let keys: Vec<_> = (0..4)
            .map(|rank| {
                case.fill(rank, 1);
                let (plan, binding) = (Arc::new(case.plan(rank)), case.binding(rank));
                world.engines[rank].keep(world.channels[rank], plan, binding, Lifetime::Nonblocking)
            })
            .collect();
        for round in 0..2 {
            for (engine, &key) in world.engines.iter_mut().zip(&keys).take(3) {
                engine.start(key);
            }
            if round == 0 {
                let before = world.random.below(200);
                turns(&mut world, 3, before);
                kill(&mut world, 3);
            }
            turns(&mut world, 3, 6000);
            for (engine, &key) in world.engines.iter_mut().zip(&keys).take(3) {
                assert!(engine.is_idle(key), "seed {seed}, round {round}");
                let error = engine.outcome(key).expect_err("a member is gone");
                assert_eq!(error.class(), ErrorClass::ProcAborted, "{error:?}");
            }
        }
    }
}

/// What a process has done before it closed its endpoint is done.
#[test]
fn who_has_left_in_order_is_not_missed() {
    let mut world = World::of_nodes(&[1, 1], 3, Conduct::SMOOTH);
    let (from, into) = (Store::of(&contents(0, 0, 5000), Lie::Dense), Store::new(5000, Lie::Dense));
    let key = world.send(1, 0, 0, &from, Mode::Standard);
    assert!(key.is_none(), "it is eager");
    let channel = world.channels[1];
    world.engines[1].leave_channel(channel);
    world.until("the end of all that is on its way", |engines| engines[1].is_quiet());
    kill(&mut world, 1);
    turns(&mut world, 1, 200);
    let received = world.receive(0, Some(1), None, &into);
    assert!(world.finish(0, received).error.is_none());
    assert!(into.get() == from.get());
}

/// Finalizing MPI: who sees that a rank leaves has all that it has told.
#[test]
fn who_leaves_tells_those_it_has_talked_to_and_those_who_ask() {
    for seed in 0..40 {
        let mut world = World::of_nodes(&[1, 1, 1], seed, Conduct::ROUGH);
        let (from, into) = (Store::of(&contents(0, 0, 900), Lie::Dense), Store::new(900, Lie::Dense));
        let count = world.random.below(30);
        for tag in 0..count {
            let key = world.send(1, 0, tag as i32, &from, Mode::Standard);
            assert!(key.is_none(), "there is room");
        }
        world.engines[1].tell_of_leaving();
        let leaver = world.engines[1].whereabouts();
        let peers = [0, 2].map(|rank| world.engines[rank].peer(leaver).expect("it is known"));
        let leaves = |engine: &Engine, peer| engine.absent(true).is_leaving(peer);
        if count > 0 {
            world.until("a farewell", |engines| leaves(&engines[0], peers[0]));
            while world.engines[0].poll() {} // as who waits takes in what is here
            for tag in 0..count {
                let received = world.receive(0, Some(1), Some(tag as i32), &into);
                assert!(matches!(received, Received::Done(_)), "seed {seed}: it was told before");
            }
        }
        world.settle();
        let engine = &mut world.engines[2];
        let mut absent = engine.absent_or_silent(true);
        assert!(!absent.is_leaving(peers[1]), "nothing was exchanged");
        engine.ask_after(&absent, true);
        world.until("an answer", |engines| leaves(&engines[2], peers[1]));
        assert!(!world.engines[2].absent(false).is_leaving(peers[1]), "it may come back for a session");
    }
}

/// The Sessions Model: a process may be initialised again, and meet those it has never talked to.
#[test]
fn who_comes_back_is_not_taken_for_one_who_leaves() {
    let mut world = World::of_nodes(&[1, 1, 1], 7, Conduct::ROUGH);
    let (from, into) = (Store::of(&contents(0, 0, 900), Lie::Dense), Store::new(900, Lie::Dense));
    let exchange = |world: &mut World, other: u32| {
        for (from_rank, to) in [(1, other), (other, 1)] {
            assert!(world.send(from_rank, to, 0, &from, Mode::Standard).is_none(), "there is room");
            let received = world.receive(to, Some(from_rank), Some(0), &into);
            world.finish(to, received);
        }
        world.settle();
    };
    let leaver = world.engines[1].whereabouts();
    let leaves = |world: &mut World, other: usize| {
        let peer = world.engines[other].peer(leaver).expect("it is known");
        world.engines[other].absent(true).is_leaving(peer)
    };
    exchange(&mut world, 0);
    world.engines[1].tell_of_leaving();
    world.settle();
    assert!(leaves(&mut world, 0), "it was told");
    world.engines[1].come_back();
    exchange(&mut world, 2);
    assert!(!leaves(&mut world, 2), "it is in use");
}

/// Session Destruction: who has told all, and may end, has waited for those who use MPI to have it; for nobody else.
#[test]
fn who_rests_takes_nothing_with_it_and_does_not_wait_for_those_who_rest() {
    let may_rest = |engine: &Engine| engine.is_quiet() && engine.p2p.kept_from_rest().next().is_none();
    for seed in 0..40 {
        let mut world = World::of_nodes(&[1, 1, 1], seed, Conduct::ROUGH);
        let (from, into) = (Store::of(&contents(0, 0, 900), Lie::Dense), Store::new(900, Lie::Dense));
        let count = 1 + world.random.below(30);
        for tag in 0..count {
            assert!(world.send(1, 0, tag as i32, &from, Mode::Standard).is_none(), "there is room");
        }
        world.engines[1].p2p.go_to_rest(true);
        (0..300).for_each(|_| _ = world.engines[1].poll());
        assert!(!may_rest(&world.engines[1]), "seed {seed}: rank 0 has taken nothing");
        world.until("a word that all was taken", |engines| may_rest(&engines[1]));
        // It uses MPI no more, and what it has sent is there.
        let farewell = world.send(0, 1, 0, &from, Mode::Standard);
        world.engines[0].p2p.go_to_rest(true);
        let is_over = |_| {
            world.engines[0].poll();
            may_rest(&world.engines[0])
        };
        assert!(farewell.is_none() && (0..3000).any(is_over), "seed {seed}: rank 1 rests");
        kill(&mut world, 1);
        turns(&mut world, 1, 200);
        for tag in 0..count {
            let received = world.receive(0, Some(1), Some(tag as i32), &into);
            assert!(matches!(received, Received::Done(_)), "seed {seed}: it was taken before");
        }
    }
}

/// The same of one that comes back.
#[test]
fn who_has_rested_is_waited_for_again() {
    for seed in 0..20 {
        let mut world = World::of_nodes(&[1, 1], seed, Conduct::ROUGH);
        let (from, into) = (Store::of(&[1], Lie::Dense), Store::new(1, Lie::Dense));
        for _ in 0..3 {
            let sent = world.send(1, 0, 0, &from, Mode::Standard);
            let received = world.receive(0, Some(1), Some(0), &into);
            world.finish(0, received);
            world.finish_send(1, sent);
            world.engines[1].p2p.go_to_rest(true);
            world.until("rest", |engines| engines[1].p2p.kept_from_rest().next().is_none());
            world.engines[1].p2p.go_to_rest(false);
            let sent = world.send(1, 0, 1, &from, Mode::Standard);
            let received = world.receive(0, Some(1), Some(1), &into);
            world.finish(0, received);
            world.finish_send(1, sent);
            let sent = world.send(0, 1, 0, &from, Mode::Standard);
            world.engines[0].p2p.go_to_rest(true);
            (0..300).for_each(|_| _ = world.engines[0].poll());
            assert!(
                world.engines[0].p2p.kept_from_rest().next().is_some(),
                "seed {seed}: rank 1 has come back"
            );
            world.engines[0].p2p.go_to_rest(false);
            let received = world.receive(1, Some(0), Some(0), &into);
            world.finish(1, received);
            world.finish_send(0, sent);
        }
    }
}
