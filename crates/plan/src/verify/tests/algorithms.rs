//! Every algorithm, over a grid of shapes.

use proptest::prelude::*;

use super::{plans, shape_of};
use crate::verify::contract::Contract;
use crate::verify::{Conditions, Schedule, Sends, verify, verify_under};
use crate::{Algorithm, Collective, Nodes, Overrides, Plan, Shape, candidates, compile};

/// Which ranks work in place: none, all, or every other one.
fn in_place_patterns(ranks: u32) -> [Vec<bool>; 3] {
    let pattern = |is_in_place: fn(u32) -> bool| (0..ranks).map(is_in_place).collect();
    [pattern(|_| false), pattern(|_| true), pattern(|rank| rank % 2 == 0)]
}

/// Calls `check(shape)` for a collective of `elements` elements of `unit` bytes, commutative and not.
fn for_each_kind(
    (collective, root): (Collective, u32),
    ranks: u32,
    elements: u64,
    unit: u32,
    check: impl Fn(&Shape),
) {
    let shape = shape_of(collective, root, ranks, elements, unit);
    check(&shape);
    if collective.info().is_reduction() {
        check(&Shape { commutative: false, ..shape });
    }
}

/// All collectives, rooted at `root` if at all.
fn collectives(root: u32) -> impl Iterator<Item = (Collective, u32)> {
    Collective::ALL.iter().map(move |&collective| (collective, root))
}

/// All algorithms that serve `shape` on one node, or, where they refuse that, with every rank on a node of its own.
fn cases(shape: &Shape) -> impl Iterator<Item = (Shape, &'static Algorithm)> {
    let shapes = [*shape, Shape { nodes: Nodes::APART, ..*shape }];
    let case = move |&algorithm: &&'static Algorithm| {
        shapes.into_iter().find(|shape| algorithm.admits(shape)).map(|shape| (shape, algorithm))
    };
    candidates(shape).iter().filter_map(case)
}

/// Whether these plans of an algorithm serve ordered operations, too: then they are verified for these, and what is
/// right in order is right in any.
fn serve_ordered(plans_of_any: &[Plan], algorithm: &Algorithm, shape: &Shape, in_place: &[bool]) -> bool {
    let ordered = Shape { commutative: false, ..*shape };
    let is_other = shape.commutative && shape.collective.info().is_reduction();
    is_other && algorithm.admits(&ordered) && plans(algorithm, &ordered, in_place) == plans_of_any
}

/// Checks all admissible algorithms for `shape`, in place and not, under all conditions; the same plans with the same
/// buffers once.
fn check_thoroughly(shape: &Shape) {
    for (shape, algorithm) in cases(shape) {
        let mut verified = Vec::new();
        for in_place in in_place_patterns(shape.ranks) {
            let case = (plans(algorithm, &shape, &in_place), Contract::of(&shape, &in_place).parts);
            if verified.contains(&case) || serve_ordered(&case.0, algorithm, &shape, &in_place) {
                continue;
            }
            let seed = shape.bytes + u64::from(shape.ranks);
            let verdict = verify(&shape, &in_place, &case.0, seed);
            verdict.unwrap_or_else(|flaw| panic!("{shape:?}, {algorithm:?}, {in_place:?}: {flaw}"));
            verified.push(case);
        }
    }
}

/// Checks all admissible algorithms for `shape` under one skew, with synchronous sends.
fn check_once(shape: &Shape) {
    for (shape, algorithm) in cases(shape) {
        let in_place = vec![shape.bytes.is_multiple_of(16); shape.ranks as usize];
        let schedule = Schedule::Random(shape.bytes + u64::from(shape.ranks));
        let conditions = Conditions { sends: Sends::Synchronous, schedule };
        let plans = plans(algorithm, &shape, &in_place);
        if serve_ordered(&plans, algorithm, &shape, &in_place) {
            continue;
        }
        let verdict = verify_under(&shape, &in_place, &plans, conditions);
        verdict.unwrap_or_else(|flaw| panic!("{shape:?}, {algorithm:?}: {flaw}"));
    }
}

#[test]
fn all_algorithms_are_right_for_awkward_counts() {
    for ranks in 1..=17 {
        let awkward = [0, 1, u64::from(ranks) - 1, u64::from(ranks), u64::from(ranks) + 1, 97, 1021];
        for elements in awkward {
            for collective in collectives(ranks / 2) {
                for_each_kind(collective, ranks, elements, 8, check_thoroughly);
            }
        }
    }
}

#[test]
fn all_algorithms_are_right_for_many_ranks() {
    for ranks in 18..=64 {
        for elements in [1, u64::from(ranks) + 1, 1021] {
            for collective in collectives(ranks - 1) {
                for_each_kind(collective, ranks, elements, 8, check_once);
            }
        }
    }
}

#[test]
fn all_algorithms_are_right_for_every_root() {
    for ranks in 2..=9 {
        for root in 0..ranks {
            for collective in collectives(root).filter(|(collective, _)| collective.info().is_rooted()) {
                for_each_kind(collective, ranks, 5, 4, check_thoroughly);
                for_each_kind(collective, ranks, 200_003, 8, check_once);
            }
        }
    }
}

#[test]
fn all_algorithms_are_right_for_many_segments() {
    for (elements, unit) in [(40_009, 8), (1 << 19, 8), (300_007, 12)] {
        for collective in collectives(1) {
            for ranks in [2, 3, 4, 7] {
                for_each_kind(collective, ranks, elements, unit, check_thoroughly);
            }
            for ranks in [8, 13, 16, 31] {
                for_each_kind(collective, ranks, elements, unit, check_once);
            }
        }
    }
}

#[test]
fn all_algorithms_are_right_where_slots_are_used_again() {
    for ranks in 2..=33 {
        for collective in collectives(ranks / 2) {
            for_each_kind(collective, ranks, 200_003, 8, check_once);
            if ranks <= 12 {
                // Elements that do not fill segments.
                for_each_kind(collective, ranks, 501, 3008, check_once);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_selected_is_right_for_any_shape(
        (ranks, root) in (1..=12u32).prop_flat_map(|ranks| (Just(ranks), 0..ranks)),
        kind in 0..Collective::ALL.len(),
        elements in prop_oneof![0..40u64, 0..400_000u64],
        unit in prop_oneof![Just(1u32), Just(4), Just(8), Just(12), 1..100u32],
        commutative in any::<bool>(),
        nodes in prop_oneof![
            Just(Nodes::One),
            (1..5u32).prop_map(|per_node| Nodes::Regular { per_node }),
            prop::collection::vec(0..4u32, 12).prop_map(|labels| Nodes::of(&labels)),
        ],
        seed in any::<u64>(),
    ) {
        let shape = shape_of(Collective::ALL[kind], root, ranks, elements, unit);
        // A map of others than these ranks is none.
        let nodes = if matches!(nodes, Nodes::Irregular(_)) && ranks < 12 { Nodes::APART } else { nodes };
        let shape = Shape { commutative, nodes, ..shape };
        let in_place: Vec<bool> = (0..ranks).map(|rank| seed >> rank & 1 == 1).collect();
        let overrides = Overrides::default();
        let plans: Vec<_> =
            (0..ranks).map(|rank| compile(&shape, rank, in_place[rank as usize], &overrides)).collect();
        let conditions = Conditions { sends: Sends::Synchronous, schedule: Schedule::Random(seed) };
        prop_assert_eq!(verify_under(&shape, &in_place, &plans, conditions), Ok(()));
    }
}

#[test]
fn an_element_longer_than_all_slots_is_not_cut() {
    for collective in collectives(1) {
        for_each_kind(collective, 4, 3, 600_000, check_thoroughly);
    }
}
