//! What a fabric promises, and that `sim` keeps it however its dice fall.

use std::collections::{BTreeMap, BTreeSet};

use oxmpi_fabric::sim::{Conduct, Sim, SimFabric};
use oxmpi_fabric::{Access, Completion, Fabric, Failure, Limits, Of, Order, Place, Posted, Target};
use oxmpi_mem::{Pool, Region};
use proptest::prelude::*;

/// Endpoints that have reached one another, and memory for what they post.
struct World {
    sim: Sim,
    ends: Vec<SimFabric>,
    pool: Pool,
}

/// Ticks after which nothing is on its way any more.
const LONG: usize = 2_000;

impl World {
    fn new(ends: usize, seed: u64, conduct: Conduct) -> Self {
        let sim = Sim::new(seed, conduct);
        let mut ends: Vec<SimFabric> = (0..ends).map(|_| sim.open()).collect();
        let addresses: Vec<_> = ends.iter().map(SimFabric::address).collect();
        for end in &mut ends {
            for (number, address) in (0..).zip(&addresses) {
                assert_eq!(end.reach(address).expect("it is open"), Target(number));
            }
        }
        Self { sim, ends, pool: Pool::default() }
    }

    fn memory(&mut self, bytes: &[u8]) -> Region {
        let memory = self.pool.take(bytes.len());
        memory.write(bytes);
        *memory // which the pool never has back
    }

    /// All that is told to an endpoint until nothing is on its way, to no end of the others.
    fn completions(&mut self) -> Vec<Vec<Completion>> {
        let mut all: Vec<Vec<Completion>> = self.ends.iter().map(|_| Vec::new()).collect();
        for _ in 0..LONG {
            for (end, list) in self.ends.iter_mut().zip(&mut all) {
                end.completions(3, list);
            }
        }
        all
    }
}

/// Posts until it is accepted; others have their turn meanwhile.
fn insist(mut post: impl FnMut() -> Posted) {
    while post() == Posted::NotNow {}
}

fn conducts() -> impl Strategy<Value = Conduct> {
    (1..9_u64, 0..40_u64, any::<bool>(), prop_oneof![Just(0), 2..6_usize]).prop_map(
        |(least, more, reorders, refuses)| Conduct {
            limits: Limits { message_bytes: 300, remote_bytes: 300, under_way: 64, receives: 64 },
            delay: (least, least + more),
            registered: usize::MAX,
            reorders,
            refuses,
        },
    )
}

/// What number `number` holds.
fn contents(number: usize, bytes: usize) -> Vec<u8> {
    let mut contents: Vec<u8> = (0..bytes).map(|at| (at * 7 + number * 31) as u8).collect();
    contents.iter_mut().take(1).for_each(|first| *first = number as u8);
    contents
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 200 }))]

    /// Each message arrives once and whole, those of a pair in order where there is one, and all is told once.
    #[test]
    fn messages_arrive_once_and_whole(
        seed in any::<u64>(),
        conduct in conducts(),
        lengths in prop::collection::vec(1..300_usize, 1..40),
        is_late in any::<bool>(),
    ) {
        let mut world = World::new(3, seed, conduct);
        let into: Vec<Region> = lengths.iter().map(|_| world.memory(&[0; 300])).collect();
        let post = |world: &mut World| {
            for (context, &into) in (1000..).zip(&into) {
                insist(|| world.ends[2].receive(into, context));
            }
        };
        if !is_late {
            post(&mut world);
        }
        for (number, &bytes) in lengths.iter().enumerate() {
            let message = world.memory(&contents(number, bytes));
            insist(|| world.ends[number % 2].send(Target(2), message, Order::Any, number as u64));
        }
        let mut told = world.completions();
        if is_late {
            post(&mut world);
            told.iter_mut().zip(world.completions()).for_each(|(all, more)| all.extend(more));
        }
        let mut sent: Vec<u64> = told[..2].concat().iter().map(|one| match one.of {
            Of::Sent(context) if one.failure.is_none() => context,
            _ => panic!("{one:?}"),
        }).collect();
        sent.sort_unstable();
        prop_assert_eq!(sent, (0..lengths.len() as u64).collect::<Vec<_>>());
        // Receives are filled in the order in which they were posted.
        let mut received = BTreeMap::new();
        for one in &told[2] {
            let Of::Received(context, bytes) = one.of else { panic!("{one:?}") };
            let got = into[context as usize - 1000].part(0, bytes).to_vec();
            let number = usize::from(got[0]);
            prop_assert_eq!(&got, &contents(number, lengths[number]));
            received.insert(context, number);
        }
        prop_assert_eq!(received.values().collect::<BTreeSet<_>>().len(), lengths.len());
        if !conduct.reorders {
            for sender in 0..2 {
                let of_pair: Vec<_> = received.values().filter(|&number| number % 2 == sender).collect();
                prop_assert!(of_pair.is_sorted());
            }
        }
    }

    /// What asks for it comes after all that was posted before, and before it nothing that is posted later.
    #[test]
    fn order_is_kept_where_it_is_asked_for(
        seed in any::<u64>(),
        conduct in conducts(),
        fences in prop::collection::vec(any::<bool>(), 1..40),
    ) {
        let mut world = World::new(2, seed, conduct);
        let into: Vec<Region> = fences.iter().map(|_| world.memory(&[0; 1])).collect();
        for (context, &into) in (0..).zip(&into) {
            insist(|| world.ends[1].receive(into, context));
        }
        for (number, &is_fence) in fences.iter().enumerate() {
            let message = world.memory(&[number as u8]);
            let order = if is_fence { Order::After } else { Order::Any };
            insist(|| world.ends[0].send(Target(1), message, order, 0));
        }
        world.completions();
        let came: Vec<usize> = into.iter().map(|into| usize::from(into.to_vec()[0])).collect();
        for (place, &number) in came.iter().enumerate() {
            for &later in &came[place + 1..] {
                let between = later.min(number) + 1..=later.max(number);
                prop_assert!(later > number || !between.clone().any(|one| fences[one]), "{came:?}");
            }
        }
    }

    /// Bytes go where they are to go, where that is allowed, and nowhere else; data comes when they are there.
    #[test]
    fn memory_is_written_and_read_where_that_is_allowed(
        seed in any::<u64>(),
        conduct in conducts(),
        pieces in prop::collection::vec((0..120_usize, 0..120_usize, 0..4), 1..20),
    ) {
        let mut world = World::new(2, seed, conduct);
        let (shown, open) = (world.memory(&contents(3, 120)), world.memory(&[0; 120 * 20]));
        let shown = world.ends[1].register(shown, Access::Read).expect("there is room");
        let place = world.ends[1].register(open, Access::Write).expect("there is room");
        let mut reads = Vec::new();
        let mut expected: BTreeMap<u64, bool> = BTreeMap::new();
        for (number, &(offset, bytes, what)) in pieces.iter().enumerate() {
            let context = number as u64;
            let memory = world.memory(&contents(number, bytes));
            match what {
                0 | 1 => {
                    let (data, order) = ((what == 1).then_some(number as u32), Order::Any);
                    let at = place.behind(number as u64 * 120);
                    insist(|| world.ends[0].write(Target(1), memory, at, data, order, context));
                    expected.insert(context, true);
                }
                2 => {
                    insist(|| world.ends[0].read(Target(1), shown.behind(offset as u64), memory, context));
                    expected.insert(context, offset + bytes <= 120);
                    reads.push((number, memory));
                }
                _ => {
                    let wrong = Place { key: place.key ^ u64::from(offset % 2 == 0), ..shown };
                    insist(|| world.ends[0].write(Target(1), memory, wrong, None, Order::Any, context));
                    expected.insert(context, wrong.key == place.key);
                }
            }
        }
        // What is tried on the beginning of the open memory is no matter here.
        let told = world.completions();
        for one in &told[0] {
            let (Of::Read(context) | Of::Written(context)) = one.of else { panic!("{one:?}") };
            let failure = (!expected.remove(&context).expect("once")).then_some(Failure::Refused);
            prop_assert_eq!(one.failure, failure);
        }
        prop_assert!(expected.is_empty());
        for (number, memory) in reads {
            let (offset, bytes, _) = pieces[number];
            let allowed = offset + bytes <= 120;
            let right = match allowed {
                true => contents(3, 120)[offset..offset + bytes].to_vec(),
                false => contents(number, bytes),
            };
            prop_assert_eq!(memory.to_vec(), right);
        }
        let data: BTreeSet<u32> = told[1].iter().map(|one| match one.of {
            Of::Told(data) => data,
            _ => panic!("{one:?}"),
        }).collect();
        for (number, &(_, bytes, what)) in pieces.iter().enumerate().skip(1) {
            prop_assert_eq!(data.contains(&(number as u32)), what == 1);
            if what < 2 {
                prop_assert_eq!(open.part(number * 120, bytes).to_vec(), contents(number, bytes));
            }
        }
    }

    /// What needs an endpoint that dies is told, once; nothing that it has posted touches its memory any more.
    #[test]
    fn who_needs_the_dead_hears_of_it(
        seed in any::<u64>(),
        conduct in conducts(),
        before in 0..60_usize,
        drops in any::<bool>(),
    ) {
        let mut world = World::new(3, seed, conduct);
        let shown = world.memory(&[7; 100]);
        let place = world.ends[1].register(shown, Access::Read).expect("there is room");
        let own = world.memory(&[9; 100]);
        insist(|| world.ends[1].receive(own, 0));
        insist(|| world.ends[1].read(Target(1), place, own, 0));
        for context in 0..10 {
            let memory = world.memory(&[context as u8; 10]);
            match context % 2 {
                0 => insist(|| world.ends[0].send(Target(1), memory, Order::Any, context)),
                _ => insist(|| world.ends[0].read(Target(1), place, memory, context)),
            }
        }
        let mut told = Vec::new();
        (0..before).for_each(|_| world.ends[2].completions(9, &mut told));
        if drops {
            drop(world.ends.remove(1));
        } else {
            world.sim.kill(&world.ends[1].address());
        }
        let dead = own.to_vec();
        own.write(&dead);
        let told = world.completions().swap_remove(0);
        prop_assert_eq!(told.len(), 10);
        let gone = told.iter().filter(|one| one.failure.is_some()).count();
        prop_assert!(told.iter().all(|one| one.failure.is_none_or(|why| why == Failure::Gone)));
        prop_assert!(before > 0 || gone >= 5, "reads of the dead fail: {told:?}");
        prop_assert_eq!(own.to_vec(), dead);
        let memory = world.memory(&[1]);
        insist(|| world.ends[0].write(Target(1), memory, place, Some(3), Order::After, 42));
        let written = Completion { of: Of::Written(42), failure: Some(Failure::Gone) };
        prop_assert_eq!(world.completions().swap_remove(0), vec![written]);
    }

    /// Who makes the same calls sees the same things.
    #[test]
    fn a_seed_decides_everything(seed in any::<u64>(), conduct in conducts()) {
        let run = || {
            let mut world = World::new(3, seed, conduct);
            let into = world.memory(&[0; 8]);
            let mut trace = Vec::new();
            for context in 0..30 {
                let end = context as usize % 2;
                trace.push(world.ends[2].receive(into, context));
                trace.push(world.ends[end].send(Target(2), into, Order::Any, context));
            }
            (trace, world.completions(), world.sim.now())
        };
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn who_has_too_much_under_way_is_to_wait() {
    let mut world = World::new(2, 1, Conduct { refuses: 0, ..Conduct::ROUGH });
    let message = world.memory(&[0; 8]);
    let most = world.ends[0].limits().under_way;
    let accepted = |world: &mut World| {
        (0..2 * most).filter(|_| world.ends[0].send(Target(1), message, Order::Any, 0).is_accepted()).count()
    };
    assert_eq!(accepted(&mut world), most);
    // Nobody receives: what is not told early keeps its place, and in the end all is held up.
    let mut told = 0;
    for _ in 0..200 {
        told += world.completions()[0].len();
        accepted(&mut world);
    }
    assert!(told <= world.ends[1].limits().receives + most, "{told} messages wait for receives");
    assert_eq!(accepted(&mut world), 0);
}

#[test]
fn a_message_that_is_too_long_for_its_receive_is_cut() {
    let mut world = World::new(2, 1, Conduct::SMOOTH);
    let (message, into) = (world.memory(&contents(1, 20)), world.memory(&[0; 10]));
    insist(|| world.ends[1].receive(into, 5));
    insist(|| world.ends[0].send(Target(1), message, Order::Any, 0));
    let told = world.completions();
    assert_eq!(told[1], [Completion { of: Of::Received(5, 10), failure: Some(Failure::Truncated) }]);
    assert_eq!(into.to_vec(), contents(1, 20)[..10]);
}

#[test]
fn what_is_no_address_reaches_nobody() {
    let mut world = World::new(2, 1, Conduct::SMOOTH);
    for wrong in [&b""[..], b"sim:", b"sim:2", b"sim:01", b"sim:+1", b"tcp:1"] {
        assert!(world.ends[0].reach(wrong).is_err(), "{wrong:?}");
    }
}

/// What is posted is counted, and what is registered bounded.
#[test]
fn an_endpoint_registers_as_much_as_it_can() {
    let mut world = World::new(2, 1, Conduct { registered: 2, ..Conduct::SMOOTH });
    let memory = world.memory(&[7; 10]);
    let first = world.ends[1].register(memory, Access::Write).expect("there is room");
    world.ends[1].register(memory, Access::Read).expect("there is room for one more");
    let error = world.ends[1].register(memory, Access::Read).expect_err("there is none");
    assert_eq!(error.class(), oxmpi_base::ErrorClass::NoMem);
    world.ends[0].register(memory, Access::Read).expect("others have their own");
    assert_eq!(world.sim.registered(), 3);
    world.ends[1].unregister(first);
    let place = world.ends[1].register(memory, Access::Write).expect("there is room again");

    let before = world.sim.traffic();
    insist(|| world.ends[0].write(Target(1), memory, place, None, Order::Any, 1));
    insist(|| world.ends[0].send(Target(1), memory, Order::Any, 2));
    let after = world.sim.traffic();
    assert_eq!((after.writes, after.sends, after.reads), (before.writes + 1, before.sends + 1, before.reads));
}
