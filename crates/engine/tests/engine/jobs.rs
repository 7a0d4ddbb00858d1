//! Processes of different jobs: links that are made when they are needed, and end.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Establishing Communication.

use std::sync::Arc;

use oxmpi_base::ErrorClass;
use oxmpi_engine::machine::Phase;
use oxmpi_engine::{Address, Engine, Lifetime, Mode, Pattern, Received, Run};

use crate::groups::{GroupsCase, Kind};
use crate::harness::{Lie, Store, World};
use crate::inter::{Pair, run_everything_of};
use crate::messages::contents;

#[test]
fn every_collective_gives_the_result_between_jobs() {
    for (first, second) in [(1, 1), (2, 3), (5, 1)] {
        let pair = Pair::of_jobs(first, second, u64::from(first));
        run_everything_of(pair, &[0, 1, 100, 5000], &[Lie::Dense, Lie::Scattered]);
    }
}

#[test]
fn long_vectors_go_from_job_to_job() {
    run_everything_of(Pair::of_jobs(2, 2, 5), &[300_000], &[Lie::Dense]);
}

/// An address of the context `context` of the engine `to`, as the engine `from` knows it.
fn address(world: &mut World, from: usize, to: usize, context: u32) -> Address {
    let process = world.engines[to].whereabouts();
    Address { peer: world.engines[from].peer(process).expect("its job is attached"), context }
}

#[test]
fn messages_between_jobs_keep_their_order_and_every_protocol_works() {
    let mut world = World::of_jobs(&[2, 2], 3);
    let context = world.engines[3].p2p.open_context();
    let to = address(&mut world, 0, 3, context);
    // No channel needs the jobs.
    for (rank, other) in [(0, 3), (3, 0)] {
        let there = world.engines[other].whereabouts().job();
        assert!(world.engines[rank].hold(there));
    }
    let lengths = [0, 8, 3000, 100_000, 700_000, 1];
    for (tag, &bytes) in (0..).zip(&lengths) {
        let mode = if tag % 2 == 0 { Mode::Standard } else { Mode::Synchronous };
        let from = Store::of(&contents(0, tag as usize, bytes), Lie::Dense);
        let sent = world.engines[0].p2p.send(to, 0, tag, from.buffer(), mode);
        let into = Store::new(bytes, Lie::Scattered);
        let pattern = Pattern { source: Some(0), tag: None };
        let outcome = match world.engines[3].p2p.receive(context, pattern, None, into.buffer().clone()) {
            Received::Done(outcome) => outcome,
            Received::Pending(op) => {
                world.until("a message", |engines| engines[3].p2p.is_done(op));
                world.engines[3].p2p.take_outcome(op).expect("done")
            }
        };
        assert_eq!((outcome.status.tag, outcome.status.bytes), (tag, bytes as u64));
        assert_eq!(into.get(), contents(0, tag as usize, bytes));
        if let Some(op) = sent {
            world.until("the end of a send", |engines| engines[0].p2p.is_done(op));
        }
    }
}

/// Progress: a message whose send is complete arrives whatever its sender does then.
#[test]
fn data_that_was_sent_by_a_new_ring_arrives_though_the_sender_calls_no_more() {
    let mut world = World::of_jobs(&[1, 1], 3);
    let context = world.engines[1].p2p.open_context();
    let to = address(&mut world, 0, 1, context);
    for (rank, other) in [(0, 1), (1, 0)] {
        let there = world.engines[other].whereabouts().job();
        assert!(world.engines[rank].hold(there));
    }
    const BYTES: usize = 64 << 10;
    let (from, into) = (Store::of(&contents(0, 0, BYTES), Lie::Dense), Store::new(BYTES, Lie::Dense));
    let sent = world.engines[0].p2p.send(to, 0, 0, from.buffer(), Mode::Standard).expect("it is long");
    let pattern = Pattern { source: Some(0), tag: None };
    let received = world.engines[1].p2p.receive(context, pattern, None, into.buffer().clone());
    let Received::Pending(received) = received else { panic!("only its envelope is here") };
    for _ in 0..100 {
        world.engines[1].poll();
        if !world.engines[0].p2p.is_done(sent) {
            world.engines[0].poll();
        }
    }
    assert!(world.engines[0].p2p.is_done(sent), "a wide ring has room for all");
    assert!(world.engines[1].p2p.is_done(received));
    assert_eq!(into.get(), from.get());
}

#[test]
fn a_link_ends_with_the_last_channel_and_is_made_again_in_the_same_memory() {
    let (mut world, pair) = Pair::of_jobs(2, 3, 43);
    let case = GroupsCase::new(Kind::Allreduce, pair.sizes, 1000, Lie::Dense);
    let mut before = None;
    for cycle in 0..100 {
        for rank in 0..5 {
            let other = if rank < 2 { 2 } else { 0 };
            let [engine, other] = world.engines.get_disjoint_mut([rank, other]).expect("two");
            engine.attach_here(other).expect("numbers enough");
        }
        let channels = pair.open_all(&mut world);
        let keys = pair.keep(&mut world, &channels, &case);
        pair.run(&mut world, &keys, &case, 2);
        for rank in pair.sizes.ranks() {
            let engine = pair.engine(&mut world, rank);
            engine.forget(keys[rank as usize]);
            engine.leave_channel(channels[rank as usize]);
        }
        world.settle();
        let there = world.engines[4].whereabouts();
        assert!(!world.engines[0].is_attached(there.job()), "nothing needs the other job in cycle {cycle}");
        let memory: Vec<usize> = world.engines.iter().map(|engine| engine.memory().0).collect();
        if cycle > 2 {
            assert_eq!(before.as_ref(), Some(&memory), "cycle {cycle}");
        }
        before = Some(memory);
    }
}

/// Who is about to make the first channel with a job has attached it, and not yet met its processes.
#[test]
fn a_job_that_is_held_stays_attached() {
    let mut world = World::of_jobs(&[1, 1], 1);
    let there = world.engines[1].whereabouts().job();
    let engine = &mut world.engines[0];
    assert!(engine.hold(there) && engine.hold(there));
    for _ in 0..2 {
        engine.suspect();
        engine.poll();
        assert!(engine.is_attached(there), "it is held");
        engine.let_go(there);
    }
    engine.poll();
    assert!(!engine.is_attached(there) && !engine.hold(there), "nothing needs it");
}

/// Whether each of two processes shows that it is connected with the other one.
fn show_ties(world: &World) -> [bool; 2] {
    [0, 1].map(|rank| {
        let there = world.engines[1 - rank].whereabouts().job();
        let ties = world.engines[rank].state().ties();
        assert_eq!(ties.more, 0);
        ties.jobs == [there] || {
            assert!(ties.jobs.is_empty(), "there is no other job");
            false
        }
    })
}

/// Releasing Connections: however many communicators tie two processes, in whatever order they end.
#[test]
fn communicators_tie_until_all_are_disconnected_or_left() {
    let (mut world, pair) = Pair::of_jobs(1, 1, 13);
    for _ in 0..20 {
        for rank in 0..2 {
            let [engine, other] = world.engines.get_disjoint_mut([rank, 1 - rank]).expect("two");
            engine.attach_here(other).expect("numbers enough");
        }
        assert_eq!(show_ties(&world), [false; 2]);
        let [first, freed, last] = [(); 3].map(|()| pair.open_communicator(&mut world));
        for (engine, key) in world.engines.iter_mut().zip(first) {
            engine.untie(key);
            engine.leave_channel(key);
        }
        assert_eq!(show_ties(&world), [true; 2]);
        world.engines[0].leave_channel(freed[0]);
        (0..2).for_each(|rank| world.engines[rank].untie(last[rank]));
        assert_eq!(show_ties(&world), [false, true], "one has not freed it, and that suffices");
        world.engines[1].leave_channel(freed[1]);
        assert_eq!(show_ties(&world), [false; 2], "though the last one has not ended yet");
        (0..2).for_each(|rank| world.engines[rank].leave_channel(last[rank]));
        world.settle();
    }
    let there = world.engines[1].whereabouts().job();
    assert!(!world.engines[0].is_attached(there), "nothing needs it");
}

/// Who is about to make a communicator may be missed already; and the channel of an operation ties nobody.
#[test]
fn who_holds_a_job_is_tied_to_it_and_channels_of_operations_are_not() {
    let (mut world, pair) = Pair::of_jobs(1, 1, 17);
    let channels = pair.open_all(&mut world);
    assert_eq!(show_ties(&world), [false; 2]);
    let there = world.engines[1].whereabouts().job();
    assert!(world.engines[0].hold(there) && world.engines[0].hold(there));
    assert_eq!(show_ties(&world), [true, false]);
    world.engines[0].let_go(there);
    assert_eq!(show_ties(&world), [true, false]);
    world.engines[0].let_go(there);
    assert_eq!(show_ties(&world), [false; 2]);
    (0..2).for_each(|rank| world.engines[rank].leave_channel(channels[rank]));
}

/// Comm_disconnect: what a process has done is done, though others have not looked at it yet.
#[test]
fn who_has_done_its_part_and_left_is_not_missed() {
    let (mut world, pair) = Pair::of_jobs(1, 2, 9);
    let channels = pair.open_all(&mut world);
    let case = GroupsCase::new(Kind::Bcast { root: 0 }, pair.sizes, 20, Lie::Dense);
    let keys = pair.keep(&mut world, &channels, &case);
    (0..3).for_each(|rank| case.fill(rank, 1));
    let root = &mut world.engines[0];
    root.start(keys[0]);
    while !root.drive(keys[0]) {
        root.poll();
    }
    root.forget(keys[0]);
    root.leave_channel(channels[0]);
    while !root.p2p.is_told() {
        root.poll();
    }
    root.state().set_phase(Phase::Finalized);
    for rank in 1..3 {
        world.engines[rank].suspect();
        world.engines[rank].start(keys[rank]);
        let key = keys[rank];
        world.until("the end of a run", |engines| {
            engines[rank].suspect();
            engines[rank].drive(key)
        });
        world.engines[rank].outcome(key).expect("it has all that it needs");
        case.check(rank as u32, 1, "seed 9");
    }
}

/// Though the run is under way when it is noticed, and waits for somebody else.
#[test]
fn who_has_left_before_it_was_gone_spoils_no_run() {
    let (mut world, pair) = Pair::of_jobs(2, 1, 11);
    let channels = pair.open_all(&mut world);
    let case = GroupsCase::new(Kind::Reduce { root: 2 }, pair.sizes, 20, Lie::Dense);
    let keys = pair.keep(&mut world, &channels, &case);
    (0..3).for_each(|rank| case.fill(rank, 1));
    let first = &mut world.engines[0];
    first.start(keys[0]);
    assert!(first.is_idle(keys[0]), "what is short is posted at once");
    first.forget(keys[0]);
    first.leave_channel(channels[0]);
    assert!(first.is_quiet(), "it has shown that it has left");
    first.state().set_phase(Phase::Finalized);
    world.engines[2].start(keys[2]);
    (0..10).for_each(|_| world.engines[2].suspect());
    assert!(!world.engines[2].drive(keys[2]), "the other one is missing");
    world.engines[1].start(keys[1]);
    world.until("the end of a run", |engines| {
        engines[2].suspect();
        engines[2].drive(keys[2])
    });
    world.engines[2].outcome(keys[2]).expect("all have done their part");
    case.check(2, 1, "seed 11");
}

#[test]
fn who_needs_a_process_that_has_gone_gets_an_error_and_goes_on() {
    let (mut world, pair) = Pair::of_jobs(2, 2, 7);
    let offers = pair.offer(&mut world);
    let channels: Vec<_> = (0..4).map(|rank| pair.open(&mut world, &offers, rank)).collect();
    let case = GroupsCase::new(Kind::Allreduce, pair.sizes, 100, Lie::Dense);
    let keys = pair.keep(&mut world, &channels, &case);
    pair.run(&mut world, &keys, &case, 1);
    for rank in 0..3 {
        pair.engine(&mut world, rank).start(keys[rank as usize]);
    }
    // The last rank of the second job never calls it. It is gone, and its fellow is not.
    world.engines[3].state().set_phase(Phase::Finalized);
    for rank in 0..2 {
        let key = keys[rank];
        world.until("an error", |engines| {
            engines[rank].suspect();
            engines[rank].is_idle(key)
        });
        let error = world.engines[rank].outcome(key).expect_err("a member is gone");
        assert_eq!(error.class(), ErrorClass::ProcAborted, "{error:?}");
    }
    // Messages to and from it fail, those with the others do not.
    let context = world.engines[2].p2p.open_context();
    let [alive, gone] = [2, 3].map(|to| address(&mut world, 0, to, context));
    let from = Store::of(&contents(0, 0, 100_000), Lie::Dense);
    let failed = world.engines[0].p2p.send(gone, 0, 0, from.buffer(), Mode::Standard).expect("an operation");
    let outcome = world.engines[0].p2p.take_outcome(failed).expect("over at once");
    assert_eq!(outcome.error.expect("it failed").class(), ErrorClass::ProcAborted);
    assert!(world.engines[0].p2p.send(alive, 0, 0, from.buffer(), Mode::Standard).is_some());
    let key = pair.engine(&mut world, 0).keep(
        channels[0],
        Arc::new(case.plan(0)),
        case.binding(0),
        Lifetime::Nonblocking,
    );
    world.engines[0].start(key);
    world.until("another error", |engines| {
        engines[0].suspect();
        engines[0].is_idle(key)
    });
    world.engines[0].outcome(key).expect_err("the member is still gone");
    assert!(world.engines.iter().all(|engine: &Engine| engine.state().phase() != Phase::Stranded(3)));
}

/// As of one that was in `MPI_Finalize`, where the world model of its own job has not ended.
#[test]
fn who_was_given_up_may_answer_still() {
    let (mut world, pair) = Pair::of_jobs(1, 1, 11);
    pair.open_all(&mut world);
    let context = world.engines[1].p2p.open_context();
    let to = address(&mut world, 0, 1, context);
    let from = Store::of(&contents(0, 0, 100_000), Lie::Dense);
    let sent = world.engines[0].p2p.send(to, 0, 0, from.buffer(), Mode::Synchronous).expect("an operation");
    for _ in 0..10 {
        world.engines[0].poll();
    }
    world.engines[0].give_up(to.peer);
    let outcome = world.engines[0].p2p.take_outcome(sent).expect("over at once");
    assert_eq!(outcome.error.expect("it failed").class(), ErrorClass::ProcAborted);
    world.engines[1].p2p.end_context(context);
    world.settle();
}

/// A blocking call, which has sent its part, hears first from its receive that a member is gone.
#[test]
fn a_message_that_cannot_come_is_not_taken_for_a_short_one() {
    let (mut world, pair) = Pair::of_jobs(1, 1, 3);
    let channels = pair.open_all(&mut world);
    let case = GroupsCase::new(Kind::Exchange, pair.sizes, 100, Lie::Dense);
    let (plan, binding) = (case.plan(0), case.binding(0));
    let mut run = Run::new(&plan, Lifetime::Blocking);
    let engine = pair.engine(&mut world, 0);
    engine.begin(channels[0], &mut run, &plan, &binding);
    assert!(!engine.advance(channels[0], &mut run, &plan, &binding).expect("all are there"));
    world.settle();
    world.engines[1].state().set_phase(Phase::Finalized);
    let mut outcome = Ok(false);
    world.until("an error", |engines| {
        engines[0].suspect();
        outcome = engines[0].advance(channels[0], &mut run, &plan, &binding);
        !matches!(outcome, Ok(false))
    });
    let error = outcome.expect_err("a member is gone");
    assert_eq!(error.class(), ErrorClass::ProcAborted, "{error:?}");
}
