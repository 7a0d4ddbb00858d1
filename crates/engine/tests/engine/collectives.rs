//! Every algorithm of every collective gives the standard's result, in each way to run it.
//!
//! MPI-5.0: Collective Communication.

use std::sync::Arc;

use oxmpi_engine::{Lifetime, Run, RunKey};
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

fn keep(world: &mut World, case: &Case) -> Vec<RunKey> {
    let ranks = 0..world.engines.len();
    let keep = |rank: usize| {
        let (plan, binding) = (Arc::new(case.plan(rank)), case.binding(rank));
        world.engines[rank].keep(world.channels[rank], plan, binding, Lifetime::Nonblocking)
    };
    ranks.map(keep).collect()
}

/// Starts kept runs `rounds` times with other data each time. No rank waits for another between its rounds.
pub fn run_kept(world: &mut World, case: &Case, rounds: u64, note: &str) {
    let keys = keep(world, case);
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
                run_kept(&mut world, &case, 45, &note);
            }
        }
    }
}
