//! Messages of a few pieces that are sent without being asked for.

use oxmpi_base::ErrorClass;
use oxmpi_engine::{Mode, OpKey};

use crate::harness::{Lie, Store, World};
use crate::messages::contents;

const KIB: usize = 1 << 10;

/// Two ranks of which the first has sent a long message: the ring by which it sends is a wide one.
fn world(seed: u64) -> World {
    let mut world = World::new(2, seed);
    let (from, into) = (Store::of(&contents(0, 0, 100 * KIB), Lie::Dense), Store::new(100 * KIB, Lie::Dense));
    let received = world.receive(1, Some(0), Some(0), &into);
    let key = world.send(0, 1, 0, &from, Mode::Standard);
    world.finish(1, received);
    world.finish_send(0, key);
    world
}

#[test]
fn what_is_not_long_is_sent_at_once_and_comes_before_or_after_its_receive() {
    let mut world = world(1);
    for (tag, bytes) in (0_i32..).zip([16 * KIB + 1, 32 * KIB, 50_000, 64 * KIB]) {
        for (lie, is_posted) in
            [(Lie::Dense, false), (Lie::Dense, true), (Lie::Scattered, false), (Lie::Scattered, true)]
        {
            let (from, into) = (Store::of(&contents(0, bytes, bytes), lie), Store::new(bytes, lie));
            let posted = is_posted.then(|| world.receive(1, Some(0), Some(tag), &into));
            assert!(world.send(0, 1, tag, &from, Mode::Standard).is_none(), "{bytes} bytes");
            if !is_posted {
                world.settle();
            }
            let received = posted.unwrap_or_else(|| world.receive(1, Some(0), Some(tag), &into));
            let outcome = world.finish(1, received);
            assert_eq!((outcome.status.bytes, outcome.error.is_none()), (bytes as u64, true));
            assert!(into.get() == from.get(), "{bytes} bytes");
        }
    }
}

#[test]
fn what_is_long_or_waits_for_its_receive_is_announced() {
    let mut world = world(2);
    for (bytes, mode) in [(64 * KIB + 1, Mode::Standard), (20 * KIB, Mode::Synchronous)] {
        let (from, into) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
        let key = world.send(0, 1, 0, &from, mode);
        world.settle();
        assert!(key.is_some_and(|key| !world.engines[0].p2p.is_done(key)));
        let received = world.receive(1, Some(0), Some(0), &into);
        world.finish(1, received);
        world.finish_send(0, key);
        assert!(into.get() == from.get());
    }
}

#[test]
fn what_does_not_fit_is_an_error_and_leaves_what_fits() {
    let mut world = world(3);
    for is_posted in [false, true] {
        let (from, into) = (Store::of(&contents(0, 0, 50_000), Lie::Dense), Store::new(20_000, Lie::Dense));
        let posted = is_posted.then(|| world.receive(1, Some(0), Some(0), &into));
        assert!(world.send(0, 1, 0, &from, Mode::Standard).is_none());
        world.settle();
        let received = posted.unwrap_or_else(|| world.receive(1, Some(0), Some(0), &into));
        let outcome = world.finish(1, received);
        assert_eq!(outcome.error.map(|error| error.class()), Some(ErrorClass::Truncate));
        assert_eq!(outcome.status.bytes, 20_000);
        assert!(into.get()[..] == from.get()[..20_000]);
    }
}

/// More than the ring has room for: some are announced, and short ones come behind.
#[test]
fn messages_come_in_the_order_in_which_they_were_sent() {
    let mut world = world(4);
    let sizes = [50_000, 8, 20_000, 64 * KIB, 100 * KIB, 1000].map(|bytes| [bytes; 5]).concat();
    for is_posted in [false, true] {
        let from: Vec<Store> = sizes
            .iter()
            .zip(0..)
            .map(|(&bytes, tag)| Store::of(&contents(1, tag, bytes), Lie::Dense))
            .collect();
        let into: Vec<Store> = sizes.iter().map(|&bytes| Store::new(bytes, Lie::Dense)).collect();
        let post = |world: &mut World| -> Vec<_> {
            into.iter().map(|into| world.receive(1, Some(0), Some(0), into)).collect()
        };
        let posted = is_posted.then(|| post(&mut world));
        let keys: Vec<Option<OpKey>> =
            from.iter().map(|from| world.send(0, 1, 0, from, Mode::Standard)).collect();
        assert!(keys.iter().any(Option::is_none) && keys.iter().any(Option::is_some));
        world.settle();
        let received = posted.unwrap_or_else(|| post(&mut world));
        received.into_iter().for_each(|received| assert!(world.finish(1, received).error.is_none()));
        keys.into_iter().for_each(|key| world.finish_send(0, key));
        assert!(from.iter().zip(&into).all(|(from, into)| from.get() == into.get()));
    }
}
