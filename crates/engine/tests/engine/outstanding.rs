//! Very many operations under way, in any order.
//!
//! MPI-5.0: Collective Communication, Nonblocking Collective Operations; Persistent Collective Operations.

use std::sync::Arc;

use oxmpi_engine::{ChannelKey, Lifetime, RunKey};
use oxmpi_plan::{Algorithm, Collective, Overrides, Shape, candidates, select};

use crate::channels::open_shallow_channel;
use crate::collective::{Case, Rooted, shape};
use crate::harness::{Lie, World};

fn chosen(collective: Rooted, ranks: u32, elements: u64) -> Case {
    let shape = shape(collective, ranks, elements);
    Case::new(shape, select(&shape, &Overrides::default()), false, Lie::Dense)
}

pub fn keep(world: &mut World, rank: usize, channel: ChannelKey, case: &Case) -> RunKey {
    let (plan, binding) = (Arc::new(case.plan(rank)), case.binding(rank));
    world.engines[rank].keep(channel, plan, binding, Lifetime::Nonblocking)
}

/// Nonblocking Collective Operations: any number may be outstanding, and they complete independently of the
/// order in which they are waited for.
#[test]
fn ten_thousand_runs_of_one_channel_are_completed_in_random_order() {
    const RUNS: usize = 10_000;
    let mut world = World::new(3, 11);
    let kinds = [
        (Collective::Allreduce, 0),
        (Collective::Bcast, 1),
        (Collective::Barrier, 0),
        (Collective::Alltoall, 0),
        (Collective::Gather, 2),
        (Collective::Reduce, 0),
    ];
    let cases: Vec<Case> =
        (0..RUNS).map(|number| chosen(kinds[number % kinds.len()], 3, 1 + number as u64 % 50)).collect();
    let mut pending: Vec<Vec<(usize, RunKey)>> = Vec::new();
    for rank in 0..3 {
        let channel = world.channels[rank];
        let begin = |(number, case): (usize, &Case)| {
            case.fill(rank, number as u64);
            let key = keep(&mut world, rank, channel, case);
            world.engines[rank].start(key);
            (number, key)
        };
        pending.push(cases.iter().enumerate().map(begin).collect());
        assert!(rank == 2 || world.engines[rank].channel(channel).under_way() > RUNS as u64 / 2);
    }
    for (rank, pending) in pending.iter_mut().enumerate() {
        world.random.shuffle(pending);
        for &(number, key) in &*pending {
            world.until("the end of a run", |engines| engines[rank].drive(key));
            world.engines[rank].outcome(key).expect("no error");
            cases[number].check(rank, number as u64, "seed 11");
            world.engines[rank].forget(key);
        }
    }
    assert!(world.engines.iter().all(oxmpi_engine::Engine::is_quiet));
}

/// Persistent Collective Operations: started operations need not be started in the same order on all ranks.
#[test]
fn persistent_runs_are_started_in_another_order_on_every_rank() {
    for (seed, ranks) in [(1, 2), (2, 3), (3, 5)] {
        let mut world = World::new(ranks, seed);
        let shapes = [(Collective::Allreduce, 0), (Collective::Bcast, 1)].map(|kind| shape(kind, ranks, 40));
        let algorithms = shapes.iter().flat_map(|shape| {
            let all = candidates(shape).iter().filter(|algorithm| algorithm.admits(shape));
            all.map(|&algorithm| (*shape, algorithm))
        });
        let cases: Vec<Case> = algorithms
            .map(|(shape, algorithm): (Shape, &Algorithm)| Case::new(shape, algorithm, false, Lie::Dense))
            .collect();
        let ranks = ranks as usize;
        let mut keys = vec![Vec::new(); ranks];
        for case in &cases {
            let channels = open_shallow_channel(&mut world, 4);
            for rank in 0..ranks {
                let key = keep(&mut world, rank, channels[rank], case);
                keys[rank].push(key);
            }
        }
        for round in 1..=40 {
            for (rank, own) in keys.iter().enumerate() {
                let mut order: Vec<usize> = (0..cases.len()).collect();
                world.random.shuffle(&mut order);
                for number in order {
                    cases[number].fill(rank, round);
                    world.engines[rank].start(own[number]);
                }
            }
            for (rank, own) in keys.iter().enumerate() {
                world
                    .until("the end of a round", |engines| own.iter().all(|&key| engines[rank].is_idle(key)));
                cases.iter().for_each(|case| case.check(rank, round, &format!("seed {seed}")));
            }
        }
    }
}
