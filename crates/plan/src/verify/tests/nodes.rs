//! Algorithms of several nodes, over maps of all kinds.
//!
//! For each number of ranks there are all regular maps and twenty that follow no rule. Each test verifies the share of
//! them that was [`Asked`] for.

use std::io::{self, Write as _};
use std::ops::RangeInclusive;

use super::{plans, shape_of};
use crate::share::{Asked, IRREGULAR, irregular};
use crate::verify::value::mix;
use crate::verify::{Conditions, Schedule, Sends, verify, verify_under};
use crate::{Algorithm, Collective, Nodes, Shape, candidates};

/// All maps of `ranks` ranks that this run verifies.
fn maps(ranks: u32, asked: Option<Asked>) -> impl Iterator<Item = (u64, Nodes)> {
    let regular = (2..ranks).map(|per_node| Nodes::Regular { per_node });
    let irregular = (0..IRREGULAR).map(move |number| irregular(ranks, number));
    let all = (0..).zip(regular.chain(irregular));
    all.filter(move |(number, _)| asked.is_none_or(|asked| asked.includes(mix(*number, ranks.into()))))
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
    // Of the longest, slots are used again.
    let lengths = [1, u64::from(ranks) + 1, 97, 1021, 40_009, 200_003];
    let roots = [0, ranks / 2, ranks - 1];
    for (number, &collective) in (0..).zip(Collective::ALL) {
        let info = collective.info();
        let is_chosen = |index: u64, of: u64, salt: u64| {
            chosen.is_none_or(|chosen| mix(chosen, salt + number) % of == index)
        };
        let (all_lengths, all_roots) =
            (if info.moves_data() { lengths.len() as u64 } else { 1 }, if info.is_rooted() { 3 } else { 1 });
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
        for (number, nodes) in maps(ranks, Some(asked)) {
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
