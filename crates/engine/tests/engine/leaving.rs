//! Ranks that post no receives any more, and those that wait for them.

use oxmpi_engine::{Mode, Needs, PeerId, Received};
use oxmpi_shm::Phase;

use crate::harness::{Lie, Store, World};
use crate::messages::contents;

/// No context is excepted.
const NONE: u32 = u32::MAX;

#[test]
fn a_send_that_nobody_will_receive_ends_cancelled_or_says_so() {
    for seed in 0..200 {
        let mut world = World::new(2, seed);
        let bytes = world.random.pick(&[0, 8, 200_000]);
        let from = Store::of(&contents(0, 0, bytes), Lie::Dense);
        let key = world.send(0, 1, 0, &from, Mode::Synchronous).expect("unmatched");
        let turns = |world: &mut World| (0..world.random.below(6)).for_each(|_| world.turn());
        turns(&mut world);
        let is_cancelled = world.random.chance();
        if is_cancelled && world.random.chance() {
            world.engines[0].p2p.cancel(key);
        }
        turns(&mut world);
        assert!(!world.engines[0].is_quiet() || world.engines[0].p2p.is_done(key), "seed {seed}");
        world.engines[1].p2p.refuse_all_but(NONE);
        turns(&mut world);
        if is_cancelled {
            world.engines[0].p2p.cancel(key);
        }
        world.settle();
        let p2p = &mut world.engines[0].p2p;
        let needs = if is_cancelled { Needs::Nothing } else { Needs::Receive(PeerId::of_rank(1)) };
        assert_eq!(p2p.needs(key), needs, "seed {seed}");
        assert_eq!(
            p2p.take_outcome(key).map(|outcome| outcome.status.cancelled),
            is_cancelled.then_some(true)
        );
        p2p.detach(key);
        assert!(world.engines.iter().all(oxmpi_engine::Engine::is_quiet), "seed {seed}");
    }
}

#[test]
fn receives_that_were_posted_before_get_their_messages() {
    for bytes in [0, 8, 200_000] {
        let mut world = World::new(2, 1);
        let (from, into) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
        let received = world.receive(1, Some(0), None, &into);
        world.engines[1].p2p.refuse_all_but(NONE);
        let key = world.send(0, 1, 0, &from, Mode::Synchronous);
        world.finish_send(0, key);
        assert!(world.finish(1, received).error.is_none());
        assert!(into.get() == from.get());
    }
}

#[test]
fn a_rank_has_told_all_when_only_answers_are_to_come() {
    let mut world = World::new(2, 1);
    let from = Store::of(&contents(0, 0, 200_000), Lie::Dense);
    let into = Store::new(200_000, Lie::Dense);
    let key = world.send(0, 1, 0, &from, Mode::Standard).expect("it is long");
    assert!(world.engines[0].p2p.is_told() && !world.engines[0].p2p.is_quiet());
    let received = world.receive(1, Some(0), None, &into);
    let Received::Pending(receive) = received else { panic!("it is long") };
    assert_eq!(world.engines[1].p2p.needs(receive), Needs::Message(Some(0)));
    world.until("the match", |engines| engines[1].p2p.needs(receive) != Needs::Message(Some(0)));
    world.finish(1, received);
    world.finish_send(0, Some(key));
    assert!(world.engines[0].p2p.is_told() && world.engines[0].is_quiet());
}

#[test]
fn who_is_found_absent_stays_so_and_nobody_else_becomes_it() {
    let world = World::new(3, 1);
    let state = |rank: usize| world.engines[rank].state();
    state(1).set_phase(Phase::Leaving);
    let (mut absent, mut of_sessions) = (world.engines[0].absent(true), world.engines[0].absent(false));
    assert!(
        absent.is_leaving(PeerId::of_rank(1))
            && !absent.is_leaving(PeerId::of_rank(2))
            && !absent.is_gone(PeerId::of_rank(1))
    );
    assert!(!of_sessions.is_leaving(PeerId::of_rank(1)), "it may come back for a session");
    absent.settle();
    state(2).set_gone();
    assert!(
        absent.is_leaving(PeerId::of_rank(1))
            && !absent.is_leaving(PeerId::of_rank(2))
            && !absent.is_gone(PeerId::of_rank(2))
    );
    assert!(of_sessions.is_gone(PeerId::of_rank(2)));
}
