//! Messages that nobody asks for: how many of them a receiver keeps.
//!
//! MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication.

use oxmpi_engine::{Mode, OpKey, Received};

use crate::harness::{Lie, Store, World};

/// The longest that are eager; 80 MiB of them.
const BYTES: usize = 16 << 10;
const COUNT: usize = 5 << 10;
/// What is kept at most, and what the ring may bring before its sender hears that it is enough.
const MOST: usize = (64 << 20) / BYTES;
const RING: usize = 256;

/// Sends message after message to rank 1; what is under way of each.
fn flood(world: &mut World, mode: Mode) -> Vec<(Option<OpKey>, Store)> {
    let mut send = |number: usize| {
        let from = Store::of(&number.to_ne_bytes().repeat(BYTES / 8), Lie::Dense);
        let key = world.send(0, 1, 7, &from, mode);
        world.engines[1].poll();
        (key, from)
    };
    let sent = (0..COUNT).map(&mut send).collect();
    world.settle();
    sent
}

fn receive_all(world: &mut World) {
    for number in 0..COUNT {
        let into = Store::new(BYTES, Lie::Dense);
        let received = world.receive(1, Some(0), Some(7), &into);
        assert_eq!(world.finish(1, received).status.bytes, BYTES as u64);
        assert_eq!(into.get(), number.to_ne_bytes().repeat(BYTES / 8));
    }
}

#[test]
#[cfg_attr(miri, ignore = "it is long")]
fn what_is_not_asked_for_stays_with_its_sender_at_last() {
    for mode in [Mode::Standard, Mode::Synchronous] {
        let mut world = World::new(2, 1);
        let (_, before) = world.engines[1].memory();
        let sent = flood(&mut world, mode);
        let (_, after) = world.engines[1].memory();
        assert!(after - before <= (MOST + RING) * BYTES, "{mode:?}: {} bytes", after - before);
        if mode == Mode::Standard {
            let is_over = |key: OpKey| world.engines[0].p2p.is_done(key);
            let eager = sent.iter().filter(|(key, _)| key.is_none_or(is_over)).count();
            assert!((MOST * 9 / 10..=MOST + RING).contains(&eager), "{eager} messages are eager");
        }
        receive_all(&mut world);
        sent.into_iter().for_each(|(key, _from)| world.finish_send(0, key));
        let from = Store::of(&[1; BYTES], Lie::Dense);
        assert!(world.send(0, 1, 7, &from, Mode::Standard).is_none(), "it is eager again");
    }
}

/// Rank 2 is matched, or keeps to what is usual: a flood from another one is not its matter.
#[test]
#[cfg_attr(miri, ignore = "it is long")]
fn only_who_floods_is_held_up() {
    let mut world = World::new(3, 2);
    let sent = flood(&mut world, Mode::Standard);
    let from = Store::of(&[2; BYTES], Lie::Dense);
    for _ in 0..RING {
        let into = Store::new(BYTES, Lie::Dense);
        let received = world.receive(1, Some(2), None, &into);
        assert!(world.send(2, 1, 7, &from, Mode::Standard).is_none(), "it is eager");
        world.finish(1, received);
    }
    receive_all(&mut world);
    sent.into_iter().for_each(|(key, _from)| world.finish_send(0, key));
}

/// As many come again as there is room for, however full the ring is behind them.
#[test]
#[cfg_attr(miri, ignore = "it is long")]
fn no_more_comes_again_than_was_asked_for() {
    /// What is counted for a short message.
    const KEPT: usize = 192;
    for room in RING / 2..=2 * RING {
        let mut world = World::new(2, 1);
        world.engines[1].p2p.keep_at_most(0);
        let from = Store::of(&[1; 8], Lie::Dense);
        let send = |world: &mut World| {
            let key = world.send(0, 1, 7, &from, Mode::Standard);
            world.settle();
            key
        };
        let mut sent: Vec<_> = (0..2000).map(|_| send(&mut world)).collect();
        world.engines[1].p2p.keep_at_most(room * KEPT);
        sent.push(send(&mut world));
        let receive = |world: &mut World| world.receive(1, Some(0), Some(7), &Store::new(8, Lie::Dense));
        let mut kept = 0;
        let mut first = receive(&mut world);
        while let Received::Done(_) = first {
            kept += 1;
            first = receive(&mut world);
        }
        assert!(kept <= room, "{kept} messages are kept in place of {room}");
        world.finish(1, first);
        for _ in kept + 1..sent.len() {
            let received = receive(&mut world);
            world.finish(1, received);
        }
        sent.into_iter().for_each(|key| world.finish_send(0, key));
    }
}
