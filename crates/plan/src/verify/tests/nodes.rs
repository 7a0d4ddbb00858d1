//! Algorithms of several nodes, over maps of all kinds.
//!
//! For each number of ranks there are all regular maps and twenty that follow no rule. Each test verifies a share of
//! them, which changes with the commit and is printed; `OXMPI_MAPS=3` asks for share 3, `OXMPI_MAPS=all` for all of
//! them, under all conditions, and `OXMPI_MAPS=all:3` for share 3 of that.

use std::env;
use std::fmt;
use std::io::{self, Write as _};
use std::ops::RangeInclusive;
use std::process::Command;

use super::{plans, shape_of};
use crate::verify::value::mix;
use crate::verify::{Conditions, Schedule, Sends, verify, verify_under};
use crate::{Algorithm, Collective, Nodes, Shape, candidates};

/// Into how many shares the maps are cut.
const SHARES: u64 = 24;

/// Maps without a rule, for each number of ranks.
const IRREGULAR: u64 = 20;

/// A map of `ranks` ranks: of ranges of all lengths, of ranks dealt out in turn, or by chance.
fn irregular(ranks: u32, number: u64) -> Nodes {
    let chance = |rank: u32, below: u64| (mix(u64::from(rank) + 1, number + 7) % below) as u32;
    let nodes = 2 + chance(ranks, u64::from(ranks.div_ceil(2)));
    let mut node = 0;
    let label = |rank: u32| match number % 4 {
        0 => {
            node += u32::from(chance(rank, u64::from(ranks / nodes + 1)) == 0);
            node
        }
        1 => rank % nodes,
        2 => chance(rank, nodes.into()),
        _ => chance(rank, 3) * chance(rank + ranks, nodes.into()),
    };
    Nodes::of(&(0..ranks).map(label).collect::<Vec<_>>())
}

/// All maps of `ranks` ranks that this run verifies.
fn maps(ranks: u32, share: Option<u64>) -> impl Iterator<Item = (u64, Nodes)> {
    let regular = (2..ranks).map(|per_node| Nodes::Regular { per_node });
    let irregular = (0..IRREGULAR).map(move |number| irregular(ranks, number));
    let all = (0..).zip(regular.chain(irregular));
    all.filter(move |(number, _)| share.is_none_or(|share| mix(*number, ranks.into()) % SHARES == share))
}

/// What is asked for.
#[derive(Clone, Copy)]
struct Asked {
    /// `None` for all.
    share: Option<u64>,
    /// Of each map: all lengths, roots and kinds of operations, under all conditions; or some.
    is_thorough: bool,
}

impl Asked {
    fn read() -> Self {
        let commit = || {
            let output = Command::new("git").args(["rev-parse", "--short=7", "HEAD"]).output().ok()?;
            u64::from_str_radix(str::from_utf8(&output.stdout).ok()?.trim().get(..7)?, 16).ok()
        };
        let number = |text: &str| -> u64 {
            text.parse().expect("OXMPI_MAPS is `all`, the number of a share, or one after `all:`")
        };
        let asked = env::var("OXMPI_MAPS").ok();
        let (share, is_thorough) = match asked.as_deref() {
            None => (Some(commit().unwrap_or(0)), false),
            Some("all") => (None, true),
            Some(text) => match text.strip_prefix("all:") {
                Some(share) => (Some(number(share)), true),
                None => (Some(number(text)), false),
            },
        };
        Self { share: share.map(|share| share % SHARES), is_thorough }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.share {
            Some(share) => write!(f, "share {share} of {SHARES}")?,
            None => f.write_str("all shares")?,
        }
        f.write_str(if self.is_thorough { ", under all conditions" } else { "" })
    }
}

/// The algorithms that serve this map only because some of its ranks share memory.
fn of_nodes(shape: &Shape) -> impl Iterator<Item = &'static Algorithm> {
    let apart = Shape { nodes: Nodes::APART, ..*shape };
    let is_special = move |algorithm: &&Algorithm| algorithm.admits(shape) && !algorithm.admits(&apart);
    candidates(shape).iter().copied().filter(is_special)
}

/// Calls `check` for each collective on a map, with lengths, roots and kinds of operations: all of them, or those that
/// `chosen` picks.
fn for_each_case(ranks: u32, nodes: Nodes, chosen: Option<u64>, check: impl Fn(&Shape)) {
    let long = match ranks {
        ..=12 => 200_003,
        13..=24 => 40_009,
        _ => 1021,
    };
    let lengths = [1, u64::from(ranks) + 1, 97, long];
    let roots = [0, ranks / 2, ranks - 1];
    for (number, &collective) in (0..).zip(Collective::ALL) {
        let info = collective.info();
        let is_chosen = |index: u64, of: u64, salt: u64| {
            chosen.is_none_or(|chosen| mix(chosen, salt + number) % of == index)
        };
        let (all_lengths, all_roots) =
            (if info.moves_data() { 4 } else { 1 }, if info.is_rooted() { 3 } else { 1 });
        for (length, elements) in (0..all_lengths).zip(lengths) {
            for (place, root) in (0..all_roots).zip(roots) {
                if is_chosen(length, all_lengths, 100) && is_chosen(place, all_roots, 200) {
                    let shape = Shape { nodes, ..shape_of(collective, root, ranks, elements, 8) };
                    check(&shape);
                    if info.is_reduction() {
                        check(&Shape { commutative: false, ..shape });
                    }
                }
            }
        }
    }
}

/// Verifies all algorithms that see the nodes of `shape`, under all conditions or some.
fn check(shape: &Shape, all: bool, number: u64) {
    for algorithm in of_nodes(shape) {
        let is_in_place = |rank: u32| match number / 3 % 3 {
            0 => false,
            1 => true,
            _ => mix(number, rank.into()).is_multiple_of(2),
        };
        let in_place: Vec<bool> = (0..shape.ranks).map(is_in_place).collect();
        let plans = plans(algorithm, shape, &in_place);
        let verdict = if all {
            verify(shape, &in_place, &plans, number)
        } else {
            let (sends, schedule) = match number % 3 {
                0 => (Sends::Buffered, Schedule::Behind(shape.ranks / 2)),
                1 => (Sends::Synchronous, Schedule::Random(number)),
                _ => (Sends::Synchronous, Schedule::Ahead(shape.ranks - 1)),
            };
            verify_under(shape, &in_place, &plans, Conditions { sends, schedule })
        };
        verdict.unwrap_or_else(|flaw| panic!("{shape:?}, {algorithm:?}, {in_place:?}: {flaw}"));
    }
}

/// Verifies this run's share of the maps of these numbers of ranks.
fn check_maps(ranks: RangeInclusive<u32>) {
    let asked = Asked::read();
    // Past the capture of the test's output, which is shown for failures only.
    let _ = writeln!(io::stderr(), "maps of {ranks:?} ranks: {asked}");
    for ranks in ranks {
        for (number, nodes) in maps(ranks, asked.share) {
            let number = mix(number, ranks.into());
            let chosen = (!asked.is_thorough).then_some(number);
            for_each_case(ranks, nodes, chosen, |shape| check(shape, asked.is_thorough, number));
        }
    }
}

#[test]
fn all_algorithms_are_right_on_maps_of_few_ranks() {
    for ranks in 2..=9 {
        for (number, nodes) in maps(ranks, None) {
            for_each_case(ranks, nodes, Some(number), |shape| check(shape, ranks <= 5, number));
        }
    }
}

#[test]
fn all_algorithms_are_right_on_any_map() {
    check_maps(10..=32);
}

#[test]
fn all_algorithms_are_right_on_maps_of_many_ranks() {
    check_maps(33..=64);
}
