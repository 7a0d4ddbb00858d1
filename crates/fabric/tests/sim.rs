//! What a fabric promises, and that `sim` keeps it however its dice fall.

use oxmpi_fabric::conformance::{self, Patience, Piece, What, World};
use oxmpi_fabric::sim::{Conduct, Sim, SimFabric};
use oxmpi_fabric::{Access, Fabric, Limits, Order, Target};
use proptest::prelude::*;

/// Ticks after which nothing is on its way any more.
const LONG: usize = 2_000;

fn world(ends: usize, seed: u64, conduct: Conduct) -> (Sim, World<SimFabric>) {
    let sim = Sim::new(seed, conduct);
    let ends = (0..ends).map(|_| sim.open()).collect();
    (sim, World::new(ends, Patience { most: LONG, rest: LONG }))
}

fn conducts() -> impl Strategy<Value = Conduct> {
    (1..9_u64, 0..40_u64, any::<[bool; 3]>(), prop_oneof![Just(0), 2..6_usize]).prop_map(
        |(least, more, [reorders, reads_alone, tears], refuses)| Conduct {
            limits: Limits {
                message_bytes: 300,
                remote_bytes: 300,
                reads_alone,
                tells_writes: true,
                under_way: 64,
                receives: 64,
            },
            delay: (least, least + more),
            registered: usize::MAX,
            tears,
            reorders,
            refuses,
        },
    )
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let what = prop_oneof![Just(What::Forbidden), Just(What::Read), Just(What::Tell), Just(What::Write)];
    let bytes = 0..conformance::PLACE_BYTES;
    let piece = (bytes.clone(), bytes, what).prop_map(|(offset, bytes, what)| Piece { offset, bytes, what });
    prop::collection::vec(piece, 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 200 }))]

    #[test]
    fn messages_arrive_once_and_whole(
        seed in any::<u64>(),
        conduct in conducts(),
        lengths in prop::collection::vec(1..conformance::MESSAGE_BYTES, 1..40),
        is_late in any::<bool>(),
    ) {
        let (_, mut world) = world(3, seed, conduct);
        let received = conformance::messages_arrive_once_and_whole(&mut world, &lengths, is_late);
        if !conduct.reorders {
            for sender in 0..2 {
                prop_assert!(received.iter().filter(|&number| number % 2 == sender).is_sorted());
            }
        }
    }

    #[test]
    fn order_is_kept_where_it_is_asked_for(
        seed in any::<u64>(),
        conduct in conducts(),
        fences in prop::collection::vec(any::<bool>(), 1..40),
    ) {
        conformance::order_is_kept_where_it_is_asked_for(&mut world(2, seed, conduct).1, &fences);
    }

    #[test]
    fn memory_is_written_and_read_where_that_is_allowed(
        seed in any::<u64>(),
        conduct in conducts(),
        pieces in pieces(),
    ) {
        let (_, mut world) = world(2, seed, conduct);
        conformance::memory_is_written_and_read_where_that_is_allowed(&mut world, &pieces);
    }

    #[test]
    fn what_is_written_is_over_when_a_message_behind_it_comes(seed in any::<u64>(), conduct in conducts()) {
        let (_, mut world) = world(2, seed, conduct);
        let goes_on = conformance::what_is_written_is_over_when_a_message_behind_it_comes(&mut world, 100);
        prop_assert!(conduct.tears || !goes_on);
    }

    #[test]
    fn who_needs_the_dead_hears_of_it(seed in any::<u64>(), conduct in conducts(), drops in any::<bool>()) {
        let (sim, mut world) = world(2, seed, conduct);
        conformance::who_needs_the_dead_hears_of_it(&mut world, |end| match drops {
            true => *end = None,
            false => sim.kill(&end.as_ref().expect("it lives").address()),
        });
    }

    #[test]
    fn who_needs_the_dead_hears_of_it_without_having_met_them(
        seed in any::<u64>(),
        conduct in conducts(),
        drops in any::<bool>(),
    ) {
        let (sim, mut world) = world(2, seed, conduct);
        conformance::who_needs_the_dead_hears_of_it_without_having_met_them(&mut world, |end| match drops {
            true => *end = None,
            false => sim.kill(&end.as_ref().expect("it lives").address()),
        });
    }

    /// Nothing that the dead have posted touches their memory any more.
    #[test]
    fn the_dead_touch_nothing(
        seed in any::<u64>(),
        conduct in conducts(),
        before in 0..60_usize,
        drops in any::<bool>(),
    ) {
        let (sim, mut world) = world(2, seed, conduct);
        let (shown, own) = (world.memory(&[7; 100]), world.memory(&[9; 100]));
        let place = world.end(1).register(shown, Access::Read).expect("there is room");
        world.insist(1, |end| end.receive(own, 0));
        world.insist(1, |end| end.read(Target(1), place, own, 0));
        world.insist(0, |end| end.send(Target(1), shown, Order::Any, 0));
        let mut told = Vec::new();
        (0..before).for_each(|_| world.end(0).completions(9, &mut told));
        match drops {
            true => world.ends[1] = None,
            false => sim.kill(&world.end(1).address()),
        }
        let dead = own.to_vec();
        world.completions(&[]);
        prop_assert_eq!(own.to_vec(), dead);
    }

    /// Who makes the same calls sees the same things.
    #[test]
    fn a_seed_decides_everything(seed in any::<u64>(), conduct in conducts()) {
        let run = || {
            let (sim, mut world) = world(3, seed, conduct);
            let into = world.memory(&[0; 8]);
            let mut trace = Vec::new();
            for context in 0..30 {
                let end = context as usize % 2;
                trace.push(world.end(2).receive(into, context));
                trace.push(world.end(end).send(Target(2), into, Order::Any, context));
            }
            (trace, world.completions(&[]), sim.now())
        };
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn who_has_too_much_under_way_is_to_wait() {
    let (_, mut world) = world(2, 1, Conduct { refuses: 0, ..Conduct::ROUGH });
    let message = world.memory(&[0; 8]);
    let most = world.end(0).limits().under_way;
    let accepted = |world: &mut World<SimFabric>| {
        (0..2 * most).filter(|_| world.end(0).send(Target(1), message, Order::Any, 0).is_accepted()).count()
    };
    assert_eq!(accepted(&mut world), most);
    // Nobody receives: what is not told early keeps its place, and in the end all is held up.
    let mut told = 0;
    for _ in 0..200 {
        told += world.completions(&[])[0].len();
        accepted(&mut world);
    }
    assert!(told <= world.end(1).limits().receives + most, "{told} messages wait for receives");
    assert_eq!(accepted(&mut world), 0);
}

#[test]
fn a_message_that_is_too_long_for_its_receive_is_cut() {
    conformance::a_message_that_is_too_long_for_its_receive_is_cut(&mut world(2, 1, Conduct::SMOOTH).1);
}

#[test]
fn what_is_no_address_reaches_nobody() {
    let (_, mut world) = world(2, 1, Conduct::SMOOTH);
    for wrong in [&b""[..], b"sim:", b"sim:2", b"sim:01", b"sim:+1", b"tcp:1"] {
        assert!(world.end(0).reach(wrong).is_err(), "{wrong:?}");
    }
}

/// What is posted is counted, and what is registered bounded.
#[test]
fn an_endpoint_registers_as_much_as_it_can() {
    let (sim, mut world) = world(2, 1, Conduct { registered: 2, ..Conduct::SMOOTH });
    let memory = world.memory(&[7; 10]);
    let first = world.end(1).register(memory, Access::Write).expect("there is room");
    world.end(1).register(memory, Access::Read).expect("there is room for one more");
    let error = world.end(1).register(memory, Access::Read).expect_err("there is none");
    assert_eq!(error.class(), oxmpi_base::ErrorClass::NoMem);
    world.end(0).register(memory, Access::Read).expect("others have their own");
    assert_eq!(sim.registered(), 3);
    world.end(1).unregister(first);
    let place = world.end(1).register(memory, Access::Write).expect("there is room again");

    let before = sim.traffic();
    world.insist(0, |end| end.write(Target(1), memory, place, None, Order::Any, 1));
    world.insist(0, |end| end.send(Target(1), memory, Order::Any, 2));
    let after = sim.traffic();
    assert_eq!((after.writes, after.sends, after.reads), (before.writes + 1, before.sends + 1, before.reads));
}
