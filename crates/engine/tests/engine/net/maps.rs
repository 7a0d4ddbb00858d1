//! Plans of all numbers of ranks, over maps of all kinds, with bytes.
//!
//! Each run takes a share of the maps that changes with the commit; `OXMPI_MAPS=all` asks for all of them, with all
//! algorithms, and `OXMPI_MAPS=3` for share 3.

use std::env;
use std::io::{self, Write as _};
use std::process::Command;

use oxmpi_fabric::sim::Conduct;
use oxmpi_plan::{Algorithm, Collective, Shape, candidates};

use crate::collective::{Case, shape};
use crate::collectives::run_kept;
use crate::harness::{Lie, Random, World};

/// Into how many shares the maps are cut at most.
const SHARES: u64 = 384;
/// Maps without a rule, for each number of ranks.
const IRREGULAR: u64 = 20;

/// The share asked for; `None` for all.
fn share() -> Option<u64> {
    let commit = || {
        let output = Command::new("git").args(["rev-parse", "--short=7", "HEAD"]).output().ok()?;
        u64::from_str_radix(str::from_utf8(&output.stdout).ok()?.trim().get(..7)?, 16).ok()
    };
    match env::var("OXMPI_MAPS").ok().as_deref() {
        Some("all") => None,
        Some(number) => Some(number.parse().expect("OXMPI_MAPS is `all` or the number of a share")),
        None => Some(commit().unwrap_or(0) % SHARES),
    }
}

/// Nodes of equal numbers of ranks, then of any.
fn map(ranks: usize, number: u64) -> Vec<usize> {
    let per_node = number as usize + 1;
    if per_node < ranks {
        return (0..ranks).map(|rank| rank / per_node).collect();
    }
    let mut random = Random::new(number * 100 + ranks as u64);
    let nodes = 1 + random.below(ranks);
    match number % 3 {
        0 => (0..ranks).map(|rank| rank % nodes).collect(),
        1 => (0..ranks).map(|_| random.below(nodes)).collect(),
        _ => (0..ranks).map(|_| random.below(nodes) * random.below(2)).collect(),
    }
}

/// What can be run on a map.
fn cases(world: &mut World) -> Vec<(Shape, &'static Algorithm)> {
    let (ranks, nodes) = (world.engines.len() as u32, world.nodes());
    let mut found = Vec::new();
    for &collective in Collective::ALL {
        let root = world.random.below(ranks as usize) as u32;
        let elements = world.random.pick(&[1, u64::from(ranks) + 1, 100, 5000]);
        let shape = shape((collective, root), ranks, elements);
        let is_commutative = world.random.chance() && collective.info().is_reduction();
        let shape = Shape { commutative: is_commutative || shape.commutative, nodes, ..shape };
        let admitted = candidates(&shape).iter().filter(|algorithm| algorithm.admits(&shape));
        found.extend(admitted.map(|&algorithm| (shape, algorithm)));
    }
    found
}

/// Runs all cases, or so many on each map of one of so many shares.
fn run(numbers: impl Iterator<Item = usize>, shares: u64, most: usize) {
    let share = share().map(|share| share % shares);
    writeln!(io::stderr(), "share {share:?} of {shares}").expect("standard error takes it");
    for ranks in numbers {
        for number in 0..ranks as u64 + IRREGULAR {
            if share.is_some_and(|share| (number + ranks as u64) % shares != share) {
                continue;
            }
            let map = map(ranks, number);
            let mut world = World::of_map(&map, number, Conduct::ROUGH);
            let mut cases = cases(&mut world);
            if share.is_some() {
                world.random.shuffle(&mut cases);
                cases.truncate(most);
            }
            for (shape, algorithm) in cases {
                let in_place = world.random.chance();
                let case = Case::new(shape, algorithm, in_place, Lie::Dense);
                run_kept(&mut world, &case, 2, &format!("map {map:?}, number {number}"));
            }
        }
    }
}

#[test]
fn plans_of_few_ranks_give_their_results_on_all_maps() {
    run(1..=16, SHARES / 16, 8);
}

#[test]
#[cfg_attr(miri, ignore = "it is long")]
fn plans_of_more_ranks_give_their_results_on_all_maps() {
    run(17..=40, SHARES / 8, 3);
}

#[test]
#[cfg_attr(miri, ignore = "it is long")]
fn plans_of_many_ranks_give_their_results_on_all_maps() {
    run(41..=64, SHARES / 2, 2);
}
