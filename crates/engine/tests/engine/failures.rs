//! A run in which something goes wrong says so on the ranks concerned, and the channel can be used on.

use std::sync::Arc;

use oxmpi_base::{ErrorClass, Result};
use oxmpi_engine::{Binding, Call, Lifetime, Program, Run};
use oxmpi_plan::{Action, Buf, Line, Peer, Plan, Span, Step, Take};

use crate::harness::{Lie, Store, World};

const BYTES: u64 = 1000;
/// A slot longer than all shared memory of a rank.
const ENDLESS: u64 = 1 << 40;

fn plan(actions: &[Action], lines: Vec<Line>) -> Plan {
    let steps = actions.iter().map(|&action| Step { action, delay: 0, after: Vec::new() });
    Plan { steps: steps.collect(), segments: 1, lines, scratch_bytes: 0 }
}

/// Posts for the other rank and takes what it posts.
fn swap(rank: u32, slot_bytes: u64) -> Plan {
    let (from, into) = (Span::fixed(Buf::Send, 0, BYTES), Span::fixed(Buf::Recv, 0, BYTES));
    let pull = Action::Pull { peer: Peer::Local(1 - rank), line: 0, skip: 0, into, take: Take::Copy };
    plan(&[Action::Post { line: 0, from }, pull], vec![Line { slot_bytes, depth: 1 }])
}

/// Runs a plan per rank, and tells how each ended.
fn run(world: &mut World, plans: &[Plan; 2]) -> [Result<Vec<u8>>; 2] {
    let stores = [0, 1].map(|_| {
        let send = Store::of(&[7; BYTES as usize], Lie::Dense);
        (send, Store::new(BYTES as usize, Lie::Dense))
    });
    let keys = [0, 1].map(|rank| {
        let (send, recv): &(Store, Store) = &stores[rank];
        let (send, recv) = (send.buffer().clone(), recv.buffer().clone());
        let binding = Binding { send, recv, reducer: None, images: None };
        let key = world.engines[rank].keep(
            world.channels[rank],
            Arc::new(Program::new(plans[rank].clone(), Call::UNKNOWN)),
            binding,
            Lifetime::Nonblocking,
        );
        world.engines[rank].start(key);
        key
    });
    world.until("the end of both runs", |engines| (0..2).all(|rank| engines[rank].is_idle(keys[rank])));
    [0, 1].map(|rank| {
        let outcome = world.engines[rank].outcome(keys[rank]);
        world.engines[rank].forget(keys[rank]);
        outcome.map(|()| stores[rank].1.get())
    })
}

fn class(outcome: &Result<Vec<u8>>) -> ErrorClass {
    outcome.as_ref().map_or_else(oxmpi_base::Error::class, |_| ErrorClass::Success)
}

/// More often than the channel is deep.
fn assert_usable(world: &mut World) {
    for _ in 0..40 {
        let outcomes = run(world, &[swap(0, BYTES), swap(1, BYTES)]);
        assert!(outcomes.iter().all(|outcome| outcome.as_ref().is_ok_and(|got| *got == [7; BYTES as usize])));
    }
    assert!(world.engines.iter().all(oxmpi_engine::Engine::is_quiet));
}

#[test]
fn without_shared_memory_the_rank_and_its_readers_say_so() {
    let mut world = World::new(2, 1);
    for _ in 0..20 {
        let outcomes = run(&mut world, &[swap(0, ENDLESS), swap(1, BYTES)]);
        assert_eq!(outcomes.each_ref().map(class), [ErrorClass::NoMem; 2]);
    }
    assert_usable(&mut world);
}

/// Ranks whose arguments do not fit together: one posts in the line itself what the other looks for elsewhere.
#[test]
fn a_peer_that_posts_something_else_is_an_error_and_no_crash() {
    let mut world = World::new(2, 2);
    for bytes in [8, oxmpi_shm::INLINE_BYTES as u64] {
        let from = Span::fixed(Buf::Send, 0, bytes);
        let short = plan(&[Action::Post { line: 0, from }], vec![Line { slot_bytes: bytes, depth: 1 }]);
        let outcomes = run(&mut world, &[short, swap(1, BYTES)]);
        assert_eq!(outcomes.each_ref().map(class), [ErrorClass::Success, ErrorClass::Truncate]);
    }
    assert_usable(&mut world);
}

#[test]
fn a_message_too_long_fails_its_run_and_no_other() {
    let mut world = World::new(2, 3);
    let from = Span::fixed(Buf::Send, 0, BYTES);
    for early in [false, true] {
        let send = plan(&[Action::Send { to: Peer::Local(1), from }], Vec::new());
        let into = Span::fixed(Buf::Recv, 0, 8);
        let receive = plan(&[Action::Receive { from: Peer::Local(0), into }], Vec::new());
        world.hold(Some(usize::from(early)));
        let outcomes = run(&mut world, &[send, receive]);
        assert_eq!(outcomes.each_ref().map(class), [ErrorClass::Success, ErrorClass::Truncate]);
    }
    assert_usable(&mut world);
}

#[test]
fn a_run_tells_its_failure_once_and_is_over_then() {
    let mut world = World::new(2, 4);
    let post = Action::Post { line: 0, from: Span::fixed(Buf::Send, 0, BYTES) };
    let plan = Program::new(plan(&[post], vec![Line { slot_bytes: ENDLESS, depth: 1 }]), Call::UNKNOWN);
    let store = Store::new(BYTES as usize, Lie::Dense);
    let (send, recv) = (store.buffer().clone(), store.buffer().clone());
    let binding = Binding { send, recv, reducer: None, images: None };
    let (engine, channel) = (&mut world.engines[0], world.channels[0]);
    let mut run = Run::new(&plan, Lifetime::Blocking);
    engine.begin(channel, &mut run, &plan, &binding);
    let error = engine.advance(channel, &mut run, &plan, &binding).expect_err("there is no memory");
    assert_eq!(error.class(), ErrorClass::NoMem);
    assert!(engine.advance(channel, &mut run, &plan, &binding).expect("the failure was told"));
    assert_eq!(engine.channel(channel).under_way(), 0);
}
