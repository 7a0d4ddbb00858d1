//! Every algorithm of every collective gives the standard's result, in each way to run it.
//!
//! MPI-5.0: Collective Communication.

use std::sync::Arc;

use oxmpi_datatype::Buffer;
use oxmpi_engine::{Binding, Lifetime, Reading, Run, RunKey};
use oxmpi_plan::{Algorithm, Collective, Shape, candidates};

use crate::collective::{Case, Rooted, reduces, shape};
use crate::harness::{Lie, World};

const TURNS: usize = 3_000_000;

/// All collectives; those with a root for every root of few ranks, and for one of many.
fn collectives(world: &mut World) -> Vec<Rooted> {
    let ranks = world.engines.len() as u32;
    let roots: Vec<u32> =
        if ranks <= 3 { (0..ranks).collect() } else { vec![world.random.below(ranks as usize) as u32] };
    let (rooted, rootless): (Vec<_>, Vec<_>) =
        Collective::ALL.iter().partition(|collective| collective.info().is_rooted());
    let mut all: Vec<Rooted> = rootless.into_iter().map(|collective| (collective, 0)).collect();
    for root in roots {
        all.extend(rooted.iter().map(|&collective| (collective, root)));
    }
    all
}

/// Each algorithm with each shape of `elements` elements that it admits.
fn shapes(world: &mut World, elements: &[u64]) -> Vec<(Shape, &'static Algorithm)> {
    let (ranks, nodes) = (world.engines.len() as u32, world.nodes());
    let mut found = Vec::new();
    for collective in collectives(world) {
        let elements = if collective.0 == Collective::Barrier { &[0] } else { elements };
        for (&elements, commutative) in elements.iter().flat_map(|count| [(count, true), (count, false)]) {
            let shape = Shape { commutative, nodes, ..shape(collective, ranks, elements) };
            if commutative || reduces(&shape) {
                let admitted = candidates(&shape).iter().filter(|algorithm| algorithm.admits(&shape));
                found.extend(admitted.map(|&algorithm| (shape, algorithm)));
            }
        }
    }
    found
}

/// Moves runs on the callers' stacks, in random order, to their ends.
fn run_on_the_stack(world: &mut World, case: &Case, round: u64, note: &str) {
    let ranks = world.engines.len();
    let mut runs = Vec::new();
    for rank in 0..ranks {
        case.fill(rank, round);
        let (plan, binding) = (case.plan(rank), case.binding(rank));
        let mut run = Run::new(&plan, Lifetime::Blocking);
        world.engines[rank].begin(world.channels[rank], &mut run, &plan, &binding);
        runs.push((run, plan, binding, false));
    }
    for _ in 0..TURNS {
        if runs.iter().all(|(.., over)| *over) {
            (0..ranks).for_each(|rank| case.check(rank, round, note));
            return;
        }
        let rank = world.next_rank();
        let mut moved = world.engines[rank].poll();
        let (run, plan, binding, over) = &mut runs[rank];
        if !*over {
            *over = world.engines[rank].advance(world.channels[rank], run, plan, binding).expect("no error");
            moved |= *over;
        }
        world.note(moved);
    }
    world.report(&format!("{note}: the end of {}", case.name()));
}

fn keep(world: &mut World, case: &Case, lifetime: Lifetime) -> Vec<RunKey> {
    let ranks = 0..world.engines.len();
    let keep = |rank: usize| {
        let (plan, binding) = (Arc::new(case.plan(rank)), case.binding(rank));
        world.engines[rank].keep(world.channels[rank], plan, binding, lifetime)
    };
    ranks.map(keep).collect()
}

/// Starts kept runs `rounds` times with other data each time. No rank waits for another between its rounds.
pub fn run_kept(world: &mut World, case: &Case, rounds: u64, note: &str) {
    let lifetime = if rounds > 1 { Lifetime::Persistent } else { Lifetime::Nonblocking };
    let keys = keep(world, case, lifetime);
    let mut begun = vec![0; keys.len()];
    for _ in 0..TURNS {
        if begun.iter().all(|&begun| begun > rounds) {
            keys.iter().zip(&mut world.engines).for_each(|(&key, engine)| engine.forget(key));
            return;
        }
        let rank = world.next_rank();
        let (engine, key, begun) = (&mut world.engines[rank], keys[rank], &mut begun[rank]);
        let mut moved = engine.poll();
        if *begun <= rounds && engine.drive(key) {
            moved = true;
            if *begun > 0 {
                engine.outcome(key).expect("no error");
                case.check(rank, *begun, note);
            }
            *begun += 1;
            if *begun <= rounds {
                case.fill(rank, *begun);
                engine.start(key);
            }
        }
        world.note(moved);
    }
    world.report(&format!("{note}: {rounds} rounds of {}", case.name()));
}

fn run_in_every_way(world: &mut World, elements: &[u64], rounds: u64, lies: &[Lie]) {
    for (shape, algorithm) in shapes(world, elements) {
        for &lie in lies {
            if lie == Lie::Scattered && reduces(&shape) {
                continue; // reductions are bound to packed images
            }
            for in_place in [false, true] {
                let case = Case::new(shape, algorithm, in_place, lie);
                let held = world.random.below(3 * world.engines.len());
                world.hold(Some(held).filter(|&rank| rank < world.engines.len()));
                let note = format!("seed {}, {lie:?}", world.seed);
                run_on_the_stack(world, &case, 1, &note);
                run_kept(world, &case, 1, &note);
                run_kept(world, &case, rounds, &note);
            }
        }
    }
    world.hold(None);
    world.settle();
    assert!(world.engines.iter().all(oxmpi_engine::Engine::is_quiet));
}

#[test]
pub fn every_algorithm_gives_the_result_on_few_ranks_for_every_root() {
    for ranks in 1..=4u32 {
        let mut world = World::new(ranks, u64::from(ranks));
        let p = u64::from(ranks);
        run_in_every_way(&mut world, &[0, 1, p - 1, p, p + 1, 1000], 3, &[Lie::Dense, Lie::Scattered]);
    }
}

#[test]
fn every_algorithm_gives_the_result_on_five_to_nine_ranks() {
    for ranks in 5..=9u32 {
        let mut world = World::new(ranks, u64::from(ranks));
        let p = u64::from(ranks);
        run_in_every_way(&mut world, &[1, p - 1, p + 1, 1000], 2, &[Lie::Dense]);
    }
}

#[test]
fn every_algorithm_gives_the_result_on_sixteen_and_seventeen_ranks() {
    for ranks in [16, 17] {
        let mut world = World::new(ranks, u64::from(ranks));
        run_in_every_way(&mut world, &[1, 50], 1, &[Lie::Dense]);
    }
}

#[test]
pub fn every_algorithm_carries_vectors_of_many_segments() {
    for ranks in [2, 3, 5] {
        let mut world = World::new(ranks, u64::from(ranks));
        for (shape, algorithm) in shapes(&mut world, &[100_001, 300_001]) {
            let carries_blocks = !reduces(&shape) && shape.collective != Collective::Bcast;
            let root_is_last = !shape.collective.info().is_rooted() || shape.root.rank() + 1 == ranks;
            if root_is_last && carries_blocks == (shape.bytes < 1 << 20) {
                let in_place = world.random.chance();
                let case = Case::new(shape, algorithm, in_place, Lie::Dense);
                let note = format!("seed {}", world.seed);
                run_kept(&mut world, &case, 2, &note);
            }
        }
    }
}

/// What is read where it lies is overwritten as soon as its rank's run is over.
#[test]
pub fn every_algorithm_reads_allocated_memory_before_its_owner_goes_on() {
    for ranks in [2, 3, 5] {
        let mut world = World::new(ranks, u64::from(ranks));
        for (shape, algorithm) in shapes(&mut world, &[3000, 70_001]) {
            let is_short = shape.bytes < 1 << 17;
            let root_is_last = !shape.collective.info().is_rooted() || shape.root.rank() + 1 == ranks;
            if is_short || root_is_last {
                let in_place = world.random.chance();
                let case = Case::allocated(&mut world, shape, algorithm, in_place);
                let held = world.random.below(2 * ranks as usize);
                world.hold(Some(held).filter(|&rank| rank < ranks as usize));
                let note = format!("seed {}", world.seed);
                run_kept(&mut world, &case, if is_short { 17 } else { 1 }, &note);
                case.free(&mut world);
            }
        }
    }
}

/// The same of ordinary memory, where the system lets it be read.
#[test]
pub fn every_algorithm_reads_ordinary_memory_before_its_owner_goes_on() {
    for ranks in [2, 3, 5] {
        let mut world = World::alive(ranks, u64::from(ranks));
        world.engines.iter_mut().for_each(|engine| engine.p2p.read_directly(Reading::Always));
        for (shape, algorithm) in shapes(&mut world, &[100, 3000, 70_001]) {
            let is_short = shape.bytes < 1 << 17;
            let root_is_last = !shape.collective.info().is_rooted() || shape.root.rank() + 1 == ranks;
            if is_short || root_is_last {
                let (in_place, is_dense) = (world.random.chance(), world.random.chance());
                let lie = if is_dense || reduces(&shape) { Lie::Dense } else { Lie::Scattered };
                let case = Case::new(shape, algorithm, in_place, lie);
                let held = world.random.below(2 * ranks as usize);
                world.hold(Some(held).filter(|&rank| rank < ranks as usize));
                let note = format!("seed {}", world.seed);
                run_kept(&mut world, &case, if is_short { 17 } else { 2 }, &note);
            }
        }
    }
}

/// The runs of two ranks of which one posts so many bytes that stay, by a channel on which they have said what they
/// can.
fn broadcasts(world: &mut World, bytes: u64) -> (Case, Vec<RunKey>) {
    let shape = shape((Collective::Bcast, 0), 2, bytes / 4);
    let algorithm = candidates(&shape).iter().find(|algorithm| algorithm.name() == "node-flat");
    let case = Case::new(shape, algorithm.expect("it is listed"), false, Lie::Dense);
    run_kept(world, &case, 1, "by slots");
    let keys = keep(world, &case, Lifetime::Nonblocking);
    case.fill(0, 1);
    case.fill(1, 1);
    (case, keys)
}

/// Whether the system lets this process read its memory by asking.
fn is_open(world: &mut World) -> bool {
    let me = world.engines[0].me();
    world.engines[0].p2p.memory_of(me).is_some()
}

#[test]
fn who_posts_ordinary_memory_waits_until_it_was_read() {
    for (reading, is_over) in [(Reading::Always, false), (Reading::Never, true)] {
        let mut world = World::alive(2, 1);
        world.engines.iter_mut().for_each(|engine| engine.p2p.read_directly(reading));
        let (case, keys) = broadcasts(&mut world, 20_000);
        let is_open = is_open(&mut world);
        assert_eq!(world.engines[0].start(keys[0]), is_over || !is_open);
        assert!(world.engines[1].start(keys[1]));
        assert!(world.engines[0].drive(keys[0]));
        case.check(1, 1, "read");
    }
}

/// Who would try both ways by itself goes that of a lower rank whose data it reads: no rank does the work of both.
#[test]
fn ranks_that_read_each_other_go_the_same_way() {
    let mut world = World::alive(2, 1);
    world.engines[0].p2p.read_directly(Reading::Always);
    let shape = shape((Collective::Alltoall, 0), 2, 10_000);
    let case = Case::new(shape, candidates(&shape)[0], false, Lie::Dense);
    run_kept(&mut world, &case, 1, "by slots");
    let keys = keep(&mut world, &case, Lifetime::Nonblocking);
    let is_open = is_open(&mut world);
    for run in 0..30 {
        case.fill(0, run);
        case.fill(1, run);
        assert!(!world.engines[0].start(keys[0]));
        let lends = !world.engines[1].start(keys[1]);
        assert_eq!(lends, is_open, "run {run}");
        assert!(world.engines[0].drive(keys[0]) && world.engines[1].drive(keys[1]));
        case.check(0, run, "read");
        case.check(1, run, "read");
    }
}

/// A reader to whom the system says no all of a sudden gets what it is to read by another way, and after that, too.
#[test]
fn what_cannot_be_read_any_more_is_copied_after_all() {
    let mut world = World::alive(2, 1);
    world.engines.iter_mut().for_each(|engine| engine.p2p.read_directly(Reading::Always));
    let (case, keys) = broadcasts(&mut world, 20_000);
    let is_over = !is_open(&mut world);
    assert_eq!(world.engines[0].start(keys[0]), is_over);
    let me = world.engines[0].me();
    world.engines[1].p2p.close_memory_of(me);
    assert_eq!(world.engines[1].start(keys[1]), is_over);
    world.engines[0].suspect();
    world.engines[1].suspect();
    assert!(world.engines[1].drive(keys[1]) && world.engines[0].drive(keys[0]));
    case.check(1, 1, "copied after all");
    assert!(world.engines[0].start(keys[0]), "it is not read any more");
    assert!(world.engines[1].start(keys[1]));
}

/// The root of a broadcast, and whether its run is over before the others have begun theirs.
#[test]
fn who_posts_allocated_memory_waits_until_it_was_read() {
    for (bytes, is_over) in [(20_000, false), (1000, true)] {
        let mut world = World::alive(2, 1);
        let shape = shape((Collective::Bcast, 0), 2, bytes / 4);
        let algorithm = candidates(&shape).iter().find(|algorithm| algorithm.name() == "node-flat");
        let case = Case::new(shape, algorithm.expect("it is listed"), false, Lie::Dense);
        let memory = world.engines[0].p2p.allocate(20_000, 4096).expect("there is room");
        assert!(memory.as_ptr().addr().is_multiple_of(4096));
        memory.copy_from(&case.binding(0).recv.as_dense().expect("it is dense"));
        let whole = Buffer::dense(memory.part(20_000 - bytes as usize, bytes as usize));
        let bindings = [Binding { recv: whole, ..case.binding(0) }, case.binding(1)];
        let keys = bindings.into_iter().enumerate().map(|(rank, binding)| {
            let engine = &mut world.engines[rank];
            engine.keep(world.channels[rank], Arc::new(case.plan(rank)), binding, Lifetime::Nonblocking)
        });
        let keys: Vec<RunKey> = keys.collect();
        assert_eq!(world.engines[0].start(keys[0]), is_over);
        assert!(world.engines[1].start(keys[1]));
        assert!(world.engines[0].drive(keys[0]));
        assert!(world.engines[0].p2p.free(memory.as_ptr().addr()));
        assert!(!world.engines[0].p2p.free(memory.as_ptr().addr()));
    }
}

/// Persistent Collective Operations: a started operation may be started again once it is complete, whether or
/// not the other ranks have completed it.
#[test]
pub fn every_algorithm_is_started_again_more_often_than_a_channel_is_deep() {
    for ranks in [2, 3, 7] {
        let mut world = World::new(ranks, u64::from(ranks));
        for (shape, algorithm) in shapes(&mut world, &[2, 100]) {
            for in_place in [false, true] {
                let case = Case::new(shape, algorithm, in_place, Lie::Dense);
                let held = world.random.below(2 * ranks as usize);
                world.hold(Some(held).filter(|&rank| rank < ranks as usize));
                let note = format!("seed {}", world.seed);
                run_kept(&mut world, &case, 70, &note);
            }
        }
    }
}

/// What is bound to its lines ends as any other run when a peer posts nothing, and can be begun again.
#[test]
fn who_waits_in_vain_in_a_run_begun_again_is_told_and_the_next_is_right() {
    for seed in 0..20 {
        let mut world = World::new(2, seed);
        let [kept, other] = [Collective::Allgather, Collective::Bcast].map(|collective| {
            let shape = shape((collective, 0), 2, 2);
            Case::new(shape, candidates(&shape)[0], false, Lie::Dense)
        });
        let keys = keep(&mut world, &kept, Lifetime::Persistent);
        let others = keep(&mut world, &other, Lifetime::Nonblocking);
        for round in 1..10 {
            let is_alike = round % 3 != 0;
            let started = [keys[0], if is_alike { keys[1] } else { others[1] }];
            for rank in 0..2 {
                [&kept, &other].iter().for_each(|case| case.fill(rank, round));
            }
            for rank in [seed as usize % 2, 1 - seed as usize % 2] {
                world.engines[rank].start(started[rank]);
            }
            world.until("the end", |engines| (0..2).all(|rank| engines[rank].is_idle(started[rank])));
            for (rank, &key) in started.iter().enumerate() {
                // Rank 1 has from rank 0 what a broadcast needs, and is not told what that is.
                let outcome = world.engines[rank].outcome(key);
                let is_right = is_alike || rank == 1;
                assert_eq!(outcome.is_ok(), is_right, "seed {seed}, round {round}, rank {rank}: {outcome:?}");
                if is_alike {
                    kept.check(rank, round, &format!("seed {seed}"));
                }
            }
        }
    }
}

/// Memory in which one of two has posted is where the other one posts next.
#[test]
fn two_who_post_in_turn_read_each_time_what_is_new() {
    for seed in 0..4 {
        let mut world = World::new(2, seed);
        let cases: Vec<Case> = shapes(&mut world, &[20, 500, 3000, 20_000])
            .into_iter()
            .map(|(shape, algorithm)| Case::new(shape, algorithm, false, Lie::Dense))
            .collect();
        for round in 0..500 {
            let held = world.random.below(3);
            world.hold(Some(held).filter(|&rank| rank < 2));
            let case = &cases[world.random.below(cases.len())];
            run_on_the_stack(&mut world, case, round, &format!("seed {seed}, round {round}"));
        }
    }
}
