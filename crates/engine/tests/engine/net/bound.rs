//! Persistent operations between nodes: their short messages are written into memory that was bound to them.
//!
//! MPI-5.0: Collective Communication, Persistent Collective Operations.

use std::mem;
use std::sync::Arc;

use oxmpi_base::ErrorClass;
use oxmpi_engine::{Binding, Call, Engine, Lifetime, Program, RunKey};
use oxmpi_fabric::Limits;
use oxmpi_fabric::sim::{Conduct, Taking, Traffic};
use oxmpi_plan::pattern::{Neighborhood, neighbor_alltoallv};
use oxmpi_plan::{Action, Algorithm, Collective, Shape, candidates};

use super::deaths::{ask_after, kill, turns};
use super::flow::take;
use crate::collective::{Case, reduces, shape};
use crate::harness::{Lie, Store, World};
use crate::messages::contents;

const TURNS: usize = 3_000_000;
/// More than twice as many as there are slots in a direction.
const ROUNDS: u64 = 20;
const SLOTS: u64 = 8;

/// A persistent operation of all ranks, on a channel of its own.
struct Bound {
    case: Case,
    keys: Vec<Option<RunKey>>,
    /// Runs that each rank has begun, and whether the last one is under way.
    begun: Vec<u64>,
    is_active: Vec<bool>,
}

impl Bound {
    /// It is bound by each rank when it has its first turn.
    fn new(world: &mut World, case: Case) -> Self {
        world.channels = world.open_spread_channel(None);
        let ranks = world.engines.len();
        Self { case, keys: vec![None; ranks], begun: vec![0; ranks], is_active: vec![false; ranks] }
    }

    fn bind(&mut self, world: &mut World, rank: usize) -> RunKey {
        let (plan, binding) = (Arc::new(self.case.plan(rank)), self.case.binding(rank));
        let (engine, channel) = (&mut world.engines[rank], world.channels[rank]);
        engine.bind(channel, &plan, &binding);
        *self.keys[rank].get_or_insert_with(|| engine.keep(channel, plan, binding, Lifetime::Persistent))
    }

    /// A turn of a rank, which starts and completes by itself up to so many runs; whether it did anything.
    fn turn(&mut self, world: &mut World, rank: usize, rounds: u64, note: &str) -> bool {
        let key = self.keys[rank].unwrap_or_else(|| self.bind(world, rank));
        let (engine, begun) = (&mut world.engines[rank], &mut self.begun[rank]);
        let mut moved = engine.poll();
        if self.is_active[rank] && engine.drive(key) {
            (moved, self.is_active[rank]) = (true, false);
            engine.outcome(key).expect("no error");
            self.case.check(rank, *begun, note);
        }
        if !self.is_active[rank] && *begun < rounds {
            (moved, self.is_active[rank]) = (true, true);
            *begun += 1;
            self.case.fill(rank, *begun);
            engine.start(key);
        }
        moved
    }

    /// Whether a rank has completed so many runs.
    fn is_over(&self, rank: usize, rounds: u64) -> bool {
        self.begun[rank] >= rounds && !self.is_active[rank]
    }

    fn run(&mut self, world: &mut World, rounds: u64, note: &str) {
        for _ in 0..TURNS {
            if (0..self.keys.len()).all(|rank| self.is_over(rank, rounds)) {
                return;
            }
            let rank = world.next_rank();
            let moved = self.turn(world, rank, rounds, note);
            world.note(moved);
        }
        world.report(&format!("{note}: {rounds} rounds of {}", self.case.name()));
    }

    /// What `rounds` runs more post, when all that the first few do is over.
    fn traffic_of_runs(&mut self, world: &mut World, rounds: u64) -> Traffic {
        self.run(world, 2, "at first");
        world.settle();
        let before = world.sim.as_ref().expect("there are nodes").traffic();
        self.begun.iter_mut().for_each(|begun| *begun = 0);
        self.run(world, rounds, "from then on");
        world.settle();
        let after = world.sim.as_ref().expect("there are nodes").traffic();
        Traffic {
            sends: after.sends - before.sends,
            reads: after.reads - before.reads,
            writes: after.writes - before.writes,
        }
    }

    /// Forgets the operation; what it had registered is no more.
    fn free(self, world: &mut World) {
        for (rank, key) in self.keys.iter().enumerate() {
            key.iter().for_each(|&key| world.engines[rank].forget(key));
            world.engines[rank].leave_channel(world.channels[rank]);
        }
        world.settle();
        (0..2).for_each(|_| world.look_at_departures());
        assert_eq!(world.sim.as_ref().expect("there are nodes").registered(), 0, "seed {}", world.seed);
    }
}

/// All algorithms that send messages, for so many elements.
fn cases(world: &mut World, elements: &[u64], lie: Lie) -> Vec<Case> {
    let (ranks, nodes) = (world.engines.len() as u32, world.nodes());
    let mut found = Vec::new();
    for &collective in Collective::ALL {
        let root = world.random.below(ranks as usize) as u32;
        for &elements in elements {
            let shape = shape((collective, root), ranks, elements);
            let shape = Shape { commutative: world.random.chance() || !reduces(&shape), nodes, ..shape };
            let admitted = candidates(&shape).iter().filter(|algorithm| algorithm.admits(&shape));
            let in_place = world.random.chance();
            let lie = if reduces(&shape) { Lie::Dense } else { lie };
            found.extend(admitted.map(|&algorithm| Case::new(shape, algorithm, in_place, lie)));
        }
    }
    let sends = |case: &Case| {
        let is_send = |step: &oxmpi_plan::Step| matches!(step.action, Action::Send { .. });
        (0..ranks as usize).any(|rank| case.plan(rank).steps.iter().any(is_send))
    };
    found.retain(sends);
    found
}

/// One of a collective's algorithms.
fn case_of(world: &World, collective: Collective, bytes_or_elements: u64, name: &str) -> Case {
    let shape = shape((collective, 0), world.engines.len() as u32, bytes_or_elements);
    let shape = Shape { commutative: true, nodes: world.nodes(), ..shape };
    let is_it = |algorithm: &&&'static Algorithm| algorithm.name() == name && algorithm.admits(&shape);
    let algorithm = candidates(&shape).iter().find(is_it).expect("there is this algorithm");
    Case::new(shape, algorithm, false, Lie::Dense)
}

fn run_all_on(map: &[usize], conduct: Conduct, elements: &[u64], lie: Lie) {
    let mut world = World::of_map(map, map.len() as u64, conduct);
    for case in cases(&mut world, elements, lie) {
        let held = world.random.below(2 * map.len());
        world.hold(Some(held).filter(|&rank| rank < map.len()));
        let mut bound = Bound::new(&mut world, case);
        bound.run(&mut world, ROUNDS, &format!("map {map:?}"));
        bound.free(&mut world);
    }
    world.hold(None);
    world.settle();
    assert!(world.engines.iter().all(Engine::is_quiet));
}

/// The maps of the tests: all apart, in pairs, one apart, mixed.
const MAPS: [&[usize]; 5] = [&[0, 1], &[0, 1, 2], &[0, 0, 1, 1], &[0, 1, 1, 1], &[0, 1, 0, 2, 1]];

#[test]
fn each_start_brings_its_data_however_often_the_slots_are_used_again() {
    for map in MAPS {
        run_all_on(map, Conduct::ROUGH, &[0, 1, 100], Lie::Dense);
        run_all_on(map, Conduct::SMOOTH, &[7], Lie::Scattered);
    }
}

/// What is too long for slots is written into the buffer of its receive, if that is one piece; else it goes as other
/// messages do.
#[test]
fn each_start_brings_what_is_too_long_for_slots() {
    for map in MAPS {
        run_all_on(map, Conduct::ROUGH, &[4097, 9000], Lie::Dense);
        run_all_on(map, Conduct::SMOOTH, &[5000], Lie::Scattered);
    }
}

/// Who can register no memory, or not enough for all, is told by messages.
#[test]
fn where_no_memory_is_registered_messages_go_as_others_do() {
    for registered in [0, 1, 2] {
        let conduct = Conduct { registered, ..Conduct::ROUGH };
        run_all_on(&[0, 1, 1, 2], conduct, &[10, 5000], Lie::Dense);
    }
}

/// Nor is anything written without data, for all that is would be told: what is long is read.
#[test]
fn where_writes_tell_nothing_messages_go_as_others_do() {
    let untold = |conduct: Conduct, reads_alone| {
        let limits = Limits { tells_writes: false, reads_alone, ..conduct.limits };
        Conduct { limits, ..conduct }
    };
    for reads_alone in [true, false] {
        run_all_on(&[0, 1, 1, 2], untold(Conduct::ROUGH, reads_alone), &[10, 5000], Lie::Dense);
        let mut world = World::of_nodes(&[1, 1], 1, untold(Conduct::SMOOTH, reads_alone));
        let case = case_of(&world, Collective::Bcast, 100_000, "binomial");
        let mut bound = Bound::new(&mut world, case);
        let traffic = bound.traffic_of_runs(&mut world, 10);
        assert!(traffic.writes == 0 && traffic.reads >= 10, "{traffic:?}");
        bound.free(&mut world);
    }
}

#[test]
fn a_start_takes_one_write_for_each_message_and_nothing_else() {
    for conduct in [Conduct::SMOOTH, Conduct { refuses: 0, ..Conduct::ROUGH }] {
        let mut world = World::of_nodes(&[1, 1], 1, conduct);
        // In both directions: what is taken is told with the next message.
        let case = case_of(&world, Collective::Allreduce, 2, "recursive-doubling");
        let mut bound = Bound::new(&mut world, case);
        let traffic = bound.traffic_of_runs(&mut world, 100);
        assert_eq!((traffic.reads, traffic.writes), (0, 200));
        assert_eq!(traffic.sends, 0);
        bound.free(&mut world);

        // In one: a word for half as many messages as there are slots, and one for eight of those words. What waits
        // for that is written together.
        let case = case_of(&world, Collective::Bcast, 2, "binomial");
        let mut bound = Bound::new(&mut world, case);
        let traffic = bound.traffic_of_runs(&mut world, 100);
        assert!(traffic.reads == 0 && traffic.writes <= 100, "{traffic:?}");
        let words = 100 / (SLOTS / 2);
        assert!((words - 1..=words + words / 8).contains(&traffic.sends), "{traffic:?}");
        bound.free(&mut world);
    }
}

/// Edges between two ranks, of each start: as many blocks as lie in slots side by side are one write.
#[test]
fn short_messages_that_begin_together_are_written_together() {
    for (seed, (edges, bytes, writes)) in
        (0..60).flat_map(|seed| [(3, 7, 26), (8, 40, 20), (2, 4100, 20)].map(|edges| (seed, edges)))
    {
        let conduct =
            [Conduct::SMOOTH, Conduct { refuses: 0, ..Conduct::ROUGH }, Conduct::ROUGH][seed as usize % 3];
        let mut world = World::of_nodes(&[1, 1], seed, conduct);
        let channels = world.open_spread_channel(None);
        let stores: Vec<[Store; 2]> =
            (0..2).map(|_| [(); 2].map(|()| Store::new(edges * bytes, Lie::Dense))).collect();
        let keys: Vec<RunKey> = (0..2)
            .map(|rank| {
                let others = vec![Some(1 - rank as u32); edges];
                let neighborhood = Neighborhood {
                    rank: rank as u32,
                    sources: &others,
                    destinations: &others,
                    is_grid: false,
                };
                let blocks = vec![bytes as u64; edges];
                let pattern = neighbor_alltoallv(&neighborhood, &blocks, &blocks);
                let plan = Arc::new(Program::new(pattern.by_messages(), Call::UNKNOWN));
                let [send, recv] = [0, 1].map(|place| stores[rank][place].buffer().clone());
                let binding = Binding { send, recv, reducer: None, images: None };
                world.engines[rank].bind(channels[rank], &plan, &binding);
                world.engines[rank].keep(channels[rank], plan, binding, Lifetime::Persistent)
            })
            .collect();
        let mut before = None;
        for round in 0..12 {
            if round == 2 {
                world.settle();
                before = Some(world.sim.as_ref().expect("there are nodes").traffic());
            }
            for (rank, &key) in keys.iter().enumerate() {
                stores[rank][0].put(&contents(rank as u32, round, edges * bytes));
                world.engines[rank].start(key);
            }
            world.until("an end", |engines| engines.iter().zip(&keys).all(|(one, &key)| one.is_idle(key)));
            for (rank, &key) in keys.iter().enumerate() {
                world.engines[rank].outcome(key).expect("no error");
                let expected = contents(1 - rank as u32, round, edges * bytes);
                assert!(stores[rank][1].get() == expected, "seed {seed}, round {round}");
            }
        }
        world.settle();
        let (before, after) =
            (before.expect("noted"), world.sim.as_ref().expect("there are nodes").traffic());
        if conduct.refuses == 0 {
            assert_eq!(
                (after.writes - before.writes, after.reads),
                (writes, 0),
                "seed {seed}, {edges} edges"
            );
        }
        for (rank, &key) in keys.iter().enumerate() {
            world.engines[rank].forget(key);
            world.engines[rank].leave_channel(channels[rank]);
        }
    }
}

/// What is put together for one whose connection has no room does not hold up what is so for others.
#[test]
fn a_peer_that_takes_nothing_holds_up_no_other() {
    const BYTES: usize = 24;
    let mut world = World::of_nodes(&[1, 1, 1], 7, Conduct { refuses: 0, ..Conduct::SMOOTH });
    let channels = world.open_spread_channel(None);
    let stores: Vec<[Store; 2]> =
        (0..3).map(|_| [2 * BYTES, BYTES].map(|bytes| Store::new(bytes, Lie::Dense))).collect();
    let keys: Vec<RunKey> = (0..3)
        .map(|rank| {
            let (sources, destinations): (&[_], &[_]) =
                if rank == 0 { (&[], &[Some(1), Some(2)]) } else { (&[Some(0)], &[]) };
            let neighborhood = Neighborhood { rank, sources, destinations, is_grid: false };
            let blocks = |edges: usize| vec![BYTES as u64; edges];
            let (sent, received) = (blocks(destinations.len()), blocks(sources.len()));
            let pattern = neighbor_alltoallv(&neighborhood, &sent, &received);
            let plan = Arc::new(Program::new(pattern.by_messages(), Call::UNKNOWN));
            let rank = rank as usize;
            let [send, recv] = [0, 1].map(|place| stores[rank][place].buffer().clone());
            let binding = Binding { send, recv, reducer: None, images: None };
            world.engines[rank].bind(channels[rank], &plan, &binding);
            world.engines[rank].keep(channels[rank], plan, binding, Lifetime::Persistent)
        })
        .collect();
    for round in 0..10 {
        let data = contents(0, round, 2 * BYTES);
        stores[0][0].put(&data);
        take(&mut world, 1, if round < 2 { Taking::All } else { Taking::Nothing });
        for (engine, &key) in world.engines.iter_mut().zip(&keys) {
            engine.start(key);
        }
        world.until("the end of 2", |engines| engines[0].is_idle(keys[0]) && engines[2].is_idle(keys[2]));
        assert_eq!(stores[2][1].get(), data[BYTES..], "round {round}");
        take(&mut world, 1, Taking::All);
        world.until("the end of 1", |engines| engines[1].is_idle(keys[1]));
        assert_eq!(stores[1][1].get(), data[..BYTES], "round {round}");
        for (engine, &key) in world.engines.iter_mut().zip(&keys) {
            engine.outcome(key).expect("no error");
        }
    }
    for (rank, &key) in keys.iter().enumerate() {
        world.engines[rank].forget(key);
        world.engines[rank].leave_channel(channels[rank]);
    }
}

/// A rank whose initialization has failed leaves the channel of an operation that others start. What one of them sends
/// it may be over, if it was sent on before it was known to be for nobody.
#[test]
fn who_has_left_is_not_waited_for_by_who_sends() {
    for bytes in [8, 20_000] {
        let mut world = World::of_nodes(&[1, 1], 1, Conduct::SMOOTH);
        let case = case_of(&world, Collective::Bcast, bytes, "binomial");
        let mut bound = Bound::new(&mut world, case);
        world.engines[1].leave_channel(world.channels[1]);
        let key = bound.bind(&mut world, 0);
        for round in 0..3 {
            bound.case.fill(0, round);
            world.engines[0].start(key);
            world.until("the end of what nobody answers", |engines| engines[0].is_idle(key));
            let class = world.engines[0].outcome(key).map_err(|error| error.class());
            let is_told = class == Err(ErrorClass::Truncate);
            assert!(is_told || round > 0 && class.is_ok(), "{bytes} bytes, round {round}: {class:?}");
        }
        world.engines[0].forget(key);
        world.engines[0].leave_channel(world.channels[0]);
        world.settle();
    }
}

#[test]
fn who_has_left_before_it_was_bound_is_not_waited_for_by_who_receives() {
    for bytes in [8, 20_000] {
        let mut world = World::of_nodes(&[1, 1], 1, Conduct::SMOOTH);
        let case = case_of(&world, Collective::Bcast, bytes, "binomial");
        let mut bound = Bound::new(&mut world, case);
        world.engines[0].leave_channel(world.channels[0]);
        let key = bound.bind(&mut world, 1);
        world.engines[1].start(key);
        world.until("the end of what nobody sends", |engines| engines[1].is_idle(key));
        let class = world.engines[1].outcome(key).map_err(|error| error.class());
        assert_eq!(class, Err(ErrorClass::Truncate), "{bytes} bytes");
        world.engines[1].forget(key);
        world.engines[1].leave_channel(world.channels[1]);
        world.settle();
    }
}

/// Of the receiver's start, of the data, and that it is there.
#[test]
fn a_start_takes_three_writes_for_a_long_message() {
    let mut world = World::of_nodes(&[1, 1], 1, Conduct::SMOOTH);
    let case = case_of(&world, Collective::Bcast, 20_000, "binomial");
    let plan = case.plan(0);
    let messages = plan.segments * plan.steps.len() as u64;
    let mut bound = Bound::new(&mut world, case);
    let traffic = bound.traffic_of_runs(&mut world, 100);
    assert_eq!((traffic.reads, traffic.writes), (0, 300 * messages));
    assert_eq!(traffic.sends, 0);
    bound.free(&mut world);
}

#[test]
fn a_sender_gets_no_further_ahead_than_there_are_slots_and_nothing_comes_before_its_start() {
    for (seed, conduct) in [(1, Conduct::SMOOTH), (2, Conduct::ROUGH)] {
        let mut world = World::of_nodes(&[1, 1], seed, conduct);
        let case = case_of(&world, Collective::Bcast, 50, "binomial");
        let mut bound = Bound::new(&mut world, case);
        (0..2).for_each(|rank| _ = bound.bind(&mut world, rank));
        let before = bound.case.binding(1).recv.as_dense().expect("it is dense").to_vec();
        for _ in 0..5000 {
            bound.turn(&mut world, 0, ROUNDS, "alone");
            world.engines[1].poll();
        }
        assert_eq!(bound.begun[0], SLOTS + 1, "as many are complete as there are slots");
        assert!(bound.case.binding(1).recv.as_dense().expect("it is dense").to_vec() == before);
        bound.run(&mut world, ROUNDS, "together");
        bound.free(&mut world);
    }
}

/// A root that sends more than others expect is found out, be it written into a slot or not.
#[test]
fn lengths_that_differ_are_errors() {
    for (sent, expected) in [(26, 25), (5000, 25), (25, 26)] {
        let mut world = World::of_nodes(&[1, 1], sent, Conduct::ROUGH);
        let cases = [sent, expected].map(|elements| case_of(&world, Collective::Bcast, elements, "binomial"));
        let channels = world.open_spread_channel(None);
        let keys: Vec<RunKey> = (0..2)
            .map(|rank| {
                let (plan, binding) = (Arc::new(cases[rank].plan(rank)), cases[rank].binding(rank));
                world.engines[rank].bind(channels[rank], &plan, &binding);
                world.engines[rank].keep(channels[rank], plan, binding, Lifetime::Persistent)
            })
            .collect();
        for _ in 0..3 {
            for (engine, &key) in world.engines.iter_mut().zip(&keys) {
                engine.start(key);
            }
            world.until("an end", |engines| engines.iter().zip(&keys).all(|(one, &key)| one.is_idle(key)));
            world.engines[0].outcome(keys[0]).expect("the root has sent it");
            let error = world.engines[1].outcome(keys[1]).expect_err("it is not what is expected");
            assert_eq!(error.class(), ErrorClass::Truncate, "{error:?}");
        }
    }
}

/// Slots for messages of some KiB are for few operations; in others these go as long ones do.
#[test]
fn many_operations_have_short_slots() {
    let mut world = World::of_nodes(&[1, 1], 1, Conduct::SMOOTH);
    let mut all = Vec::new();
    for number in 1..=66 {
        let case = case_of(&world, Collective::Bcast, 2000, "binomial");
        all.push(Bound::new(&mut world, case));
        let writes = all[number - 1].traffic_of_runs(&mut world, 1).writes;
        assert_eq!(writes, if number <= 64 { 1 } else { 3 }, "operation {number}");
    }
}

#[test]
fn nothing_long_is_written_before_its_start() {
    for (seed, conduct) in [(1, Conduct::SMOOTH), (2, Conduct::ROUGH)] {
        let mut world = World::of_nodes(&[1, 1], seed, conduct);
        let case = case_of(&world, Collective::Bcast, 20_000, "binomial");
        let mut bound = Bound::new(&mut world, case);
        for round in 1..ROUNDS {
            let into = bound.case.binding(1).recv.as_dense().expect("it is dense");
            if round > 1 {
                into.write(&vec![7; into.len()]);
                for _ in 0..1000 {
                    bound.turn(&mut world, 0, round, "alone");
                    world.engines[1].poll();
                }
                assert!(into.to_vec() == vec![7; into.len()], "round {round}");
            }
            bound.run(&mut world, round, "together");
        }
        bound.free(&mut world);
    }
}

#[test]
fn a_bound_run_with_the_dead_fails_and_what_was_registered_is_given_up() {
    for (seed, elements) in (0..40).flat_map(|seed| [(seed, 20), (seed, 20_000)]) {
        let mut world = World::of_nodes(&[2, 1, 1], seed, Conduct::ROUGH);
        let mut of_all = cases(&mut world, &[elements], Lie::Dense);
        of_all.retain(|case| is_felt_by_all(&case.shape));
        let place = world.random.below(of_all.len());
        let case = of_all.swap_remove(place);
        let mut bound = Bound::new(&mut world, case);
        let (rounds, before) = (world.random.below(12) as u64, world.random.below(300));
        if rounds > 0 {
            bound.run(&mut world, rounds, "before");
        }
        let keys: Vec<RunKey> =
            (0..4).map(|rank| bound.keys[rank].unwrap_or_else(|| bound.bind(&mut world, rank))).collect();
        for round in 0..2 {
            for (rank, engine) in world.engines.iter_mut().enumerate().take(3) {
                bound.case.fill(rank, 1);
                engine.start(keys[rank]);
            }
            if round == 0 {
                if seed % 2 == 0 {
                    bound.case.fill(3, 1);
                    world.engines[3].start(keys[3]);
                }
                (0..before).for_each(|_| world.turn());
                kill(&mut world, 3);
            }
            turns(&mut world, 3, 6000);
            for (engine, &key) in world.engines.iter_mut().zip(&keys).take(3) {
                assert!(engine.is_idle(key), "seed {seed}, round {round}, {}", bound.case.name());
                let outcome = engine.outcome(key);
                let error = outcome.as_ref().err().map(|error| error.class());
                let is_over = seed % 2 == 0 && round == 0; // it may have done its part before
                assert!(error == Some(ErrorClass::ProcAborted) || is_over && error.is_none(), "{outcome:?}");
            }
        }
        // What is over is not written into any more.
        let memory = |rank: usize| bound.case.binding(rank).recv.as_dense().expect("it is dense");
        (0..3).for_each(|rank| memory(rank).write(&vec![7; memory(rank).len()]));
        turns(&mut world, 3, 500);
        assert!((0..3).all(|rank| memory(rank).to_vec() == vec![7; memory(rank).len()]), "seed {seed}");
        for (rank, &key) in keys.iter().enumerate().take(3) {
            world.engines[rank].forget(key);
            world.engines[rank].leave_channel(world.channels[rank]);
        }
        assert_eq!(world.sim.as_ref().expect("there are nodes").registered(), 0, "seed {seed}");
        turns(&mut world, 3, 500);
    }
}

/// Three ranks in the second run of an operation with long messages, in which rank 2 dies at some time.
fn with_a_death(seed: u64) -> (World, Bound, Vec<RunKey>) {
    let mut world = World::of_nodes(&[1, 1, 1], seed, Conduct { tears: true, ..Conduct::ROUGH });
    let mut of_all = cases(&mut world, &[20_000], Lie::Dense);
    of_all.retain(|case| is_felt_by_all(&case.shape));
    let place = world.random.below(of_all.len());
    let mut bound = Bound::new(&mut world, of_all.swap_remove(place));
    bound.run(&mut world, 1, "before");
    let keys: Vec<RunKey> = bound.keys.iter().map(|key| key.expect("it has run")).collect();
    for (rank, engine) in world.engines.iter_mut().enumerate() {
        bound.case.fill(rank, 2);
        engine.start(keys[rank]);
    }
    let before = world.random.below(150);
    (0..before).for_each(|_| world.turn());
    kill(&mut world, 2);
    (world, bound, keys)
}

/// A write that has begun goes on, over tcp, whatever is unregistered.
#[test]
fn what_a_run_that_has_failed_was_to_receive_into_is_the_callers() {
    for seed in 0..100 {
        let (mut world, bound, keys) = with_a_death(seed);
        let memory = |rank: usize| bound.case.binding(rank).recv.as_dense().expect("it is dense");
        let mut is_over = [false; 2];
        for _ in 0..3000 {
            turns(&mut world, 2, 2);
            for rank in (0..2).filter(|&rank| world.engines[rank].is_idle(keys[rank])) {
                if !mem::replace(&mut is_over[rank], true) {
                    memory(rank).write(&vec![7; memory(rank).len()]);
                }
            }
        }
        assert_eq!(is_over, [true; 2], "seed {seed}, {}", bound.case.name());
        for (rank, &key) in keys.iter().enumerate().take(2) {
            let has_changed = memory(rank).to_vec() != vec![7; memory(rank).len()];
            assert!(!has_changed, "seed {seed}, rank {rank}, {}", bound.case.name());
            world.engines[rank].forget(key);
            world.engines[rank].leave_channel(world.channels[rank]);
        }
        assert_eq!(world.sim.as_ref().expect("there are nodes").registered(), 0, "seed {seed}");
    }
}

/// Nobody else knows what it has begun to write.
#[test]
fn a_run_that_has_failed_is_over_when_who_computes_has_answered_or_died() {
    let mut waited = 0;
    for seed in 0..40 {
        let (mut world, bound, keys) = with_a_death(seed);
        for _ in 0..1000 {
            ask_after(&mut world, 0, 2);
            world.engines[0].poll();
        }
        waited += i32::from(!world.engines[0].is_idle(keys[0]));
        if seed % 2 == 0 {
            kill(&mut world, 1);
        }
        for turn in 0..3000 {
            world.engines[0].poll();
            match seed % 2 {
                0 if turn % 50 == 0 => ask_after(&mut world, 0, 1),
                0 => {}
                _ => turns(&mut world, 2, 1),
            }
        }
        assert!(world.engines[0].is_idle(keys[0]), "seed {seed}, {}", bound.case.name());
    }
    assert!(waited > 0, "something was open");
}

/// It may look at nothing any more, and its process last long.
#[test]
fn a_run_that_has_failed_does_not_wait_for_who_leaves() {
    let mut waited = 0;
    for seed in 0..40 {
        let (mut world, bound, keys) = with_a_death(seed);
        for _ in 0..3000 {
            ask_after(&mut world, 1, 2);
            world.engines[1].poll();
            world.engines[0].poll();
        }
        assert!(world.engines[1].is_idle(keys[1]), "seed {seed}, {}", bound.case.name());
        waited += i32::from(!world.engines[0].is_idle(keys[0]));
        world.engines[1].forget(keys[1]);
        world.engines[1].leave_channel(world.channels[1]);
        world.engines[1].tell_of_leaving();
        (0..6000).for_each(|turn| _ = world.engines[turn % 2].poll());
        for _ in 0..3000 {
            ask_after(&mut world, 0, 2);
            world.engines[0].poll();
        }
        assert!(world.engines[0].is_idle(keys[0]), "seed {seed}, {}", bound.case.name());
    }
    assert!(waited > 0, "somebody had not heard of the death");
}

/// Elsewhere, who only sends may be through.
fn is_felt_by_all(shape: &Shape) -> bool {
    matches!(shape.collective, Collective::Allgather | Collective::Allreduce | Collective::Alltoall)
}

/// Who is done with an operation closes its endpoint; the others have what it has told.
#[test]
fn who_has_written_all_and_left_is_not_missed() {
    for seed in 0..20 {
        let mut world = World::of_nodes(&[1, 1], seed, Conduct::ROUGH);
        let case = case_of(&world, Collective::Bcast, 50, "binomial");
        let mut bound = Bound::new(&mut world, case);
        bound.run(&mut world, 1, "together");
        while !bound.is_over(0, 5) {
            bound.turn(&mut world, 0, 5, "alone");
        }
        let key = bound.keys[0].expect("it is bound");
        world.engines[0].forget(key);
        let channel = world.channels[0];
        world.engines[0].leave_channel(channel);
        world.until("all has left", |engines| engines[0].is_quiet());
        // It arrives while its sender waits for the launcher's last fence.
        (0..200).for_each(|_| _ = world.engines[0].poll());
        kill(&mut world, 0);
        turns(&mut world, 0, 500);
        for _ in 0..1000 {
            bound.turn(&mut world, 1, 5, "it still receives");
        }
        assert!(bound.is_over(1, 5), "seed {seed}");
    }
}

#[test]
fn operations_are_bound_and_freed_in_the_same_memory() {
    let mut world = World::of_nodes(&[2, 1, 2], 4, Conduct::SMOOTH);
    let mut before = None;
    for cycle in 0..100 {
        let case = case_of(&world, Collective::Allreduce, 20, "recursive-doubling");
        let mut bound = Bound::new(&mut world, case);
        if cycle % 2 == 0 {
            bound.run(&mut world, 3, "in a cycle");
        } else {
            (0..5).for_each(|rank| _ = bound.bind(&mut world, rank)); // and never started
        }
        bound.free(&mut world);
        let memory: Vec<(usize, usize)> = world.engines.iter().map(Engine::memory).collect();
        if cycle > 5 {
            assert_eq!(before.as_ref(), Some(&memory), "cycle {cycle}");
        }
        before = Some(memory);
    }
}
