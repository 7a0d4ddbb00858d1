//! Collectives of two groups: right for groups of any sizes, and spoiled plans are found.

use proptest::prelude::*;

use super::shape_of;
use crate::segment::SLOT_BUDGET_BYTES;
use crate::verify::contract::Contract;
use crate::verify::{Conditions, Flaw, FlawKind, Schedule, Sends, verify_between, verify_contract};
use crate::{Action, Algorithm, Collective, Nodes, Overrides, Overview, Peer, Plan, Shape, Span};
use crate::{candidates, select};

const UNIT: u32 = 8;

/// A collective between groups of `first` and `second` ranks, of about as many elements.
fn overview((collective, root): (Collective, u32), first: u32, second: u32, elements: u64) -> Overview {
    let Shape { root, bytes, unit, .. } = shape_of(collective, root, 1, elements, UNIT);
    let overview =
        Overview { collective, root: root.rank(), first, second, bytes: [0; 2], unit, nodes: Nodes::One };
    overview.with_bytes(bytes)
}

/// All collectives of two groups, rooted at `root` if at all.
fn collectives(root: u32) -> impl Iterator<Item = (Collective, u32)> {
    let between = Collective::ALL.iter().filter(|collective| !collective.info().between.is_empty());
    between.map(move |&collective| (collective, root))
}

/// The algorithms that admit what all ranks see.
fn admissible(overview: &Overview) -> Vec<&'static Algorithm> {
    let someone = overview.shape(overview.root);
    candidates(&someone).iter().copied().filter(|algorithm| algorithm.admits(&someone)).collect()
}

fn plans(algorithm: &Algorithm, overview: &Overview) -> Vec<Plan> {
    (0..overview.ranks()).map(|rank| overview.plan(algorithm, rank)).collect()
}

fn chosen(overview: &Overview) -> &'static Algorithm {
    select(&overview.shape(overview.root), &Overrides::default())
}

fn compile(overview: &Overview, rank: u32) -> Plan {
    let shape = overview.shape(rank);
    overview.plan(select(&shape, &Overrides::default()), rank)
}

/// Verifies all admissible algorithms under all conditions.
fn check_thoroughly(overview: &Overview) {
    for algorithm in admissible(overview) {
        let verdict = verify_between(overview, &plans(algorithm, overview), overview.bytes[0]);
        verdict.unwrap_or_else(|flaw| panic!("{overview:?}, {algorithm:?}: {flaw}"));
    }
}

/// Verifies all admissible algorithms under one skew.
fn check_once(overview: &Overview) {
    let conditions = Conditions { sends: Sends::Synchronous, schedule: Schedule::Random(overview.bytes[0]) };
    for algorithm in admissible(overview) {
        let verdict = verify_once(overview, &plans(algorithm, overview), conditions);
        verdict.unwrap_or_else(|flaw| panic!("{overview:?}, {algorithm:?}: {flaw}"));
    }
}

fn verify_once(overview: &Overview, plans: &[Plan], conditions: Conditions) -> Result<(), Flaw> {
    verify_contract(&Contract::between(overview), plans, conditions)
}

fn pairs(most: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..=most).flat_map(move |first| (1..=most).map(move |second| (first, second)))
}

#[test]
fn all_algorithms_are_right_for_groups_of_all_sizes_and_every_root() {
    for (first, second) in pairs(12) {
        for root in 0..first + second {
            let is_new = |(collective, _): &(Collective, u32)| root == 0 || collective.info().is_rooted();
            for collective in collectives(root).filter(is_new) {
                check_thoroughly(&overview(collective, first, second, 3));
            }
        }
    }
}

#[test]
fn all_algorithms_are_right_for_long_vectors() {
    for (first, second) in [(1, 1), (1, 2), (2, 1), (2, 2), (1, 5), (5, 1), (3, 4), (4, 3)] {
        for elements in [5_003, 40_001, 200_003] {
            for root in [0, first - 1, first, first + second - 1] {
                for collective in collectives(root) {
                    check_once(&overview(collective, first, second, elements));
                }
            }
        }
    }
    check_thoroughly(&overview((Collective::Allreduce, 0), 2, 3, 200_003));
    check_thoroughly(&overview((Collective::Reduce, 2), 2, 3, 200_003));
}

#[test]
fn all_algorithms_are_right_for_large_groups() {
    for (first, second) in [(1, 33), (33, 1), (7, 40), (40, 7), (31, 32), (64, 3), (50, 50)] {
        for root in [0, first - 1, first, first + second - 1] {
            for collective in collectives(root) {
                check_once(&overview(collective, first, second, 1));
            }
        }
    }
}

#[test]
fn directions_may_carry_blocks_of_different_lengths() {
    for (first, second) in [(1, 1), (2, 3), (4, 1), (5, 6)] {
        for collective in [(Collective::Allgather, 0), (Collective::Alltoall, 0)] {
            for bytes in [[0, 24], [24, 0], [7, 4000], [300_000, 1], [1_500_000, 200_000]] {
                check_thoroughly(&Overview { bytes, ..overview(collective, first, second, 1) });
            }
        }
    }
}

#[test]
fn nothing_but_a_barrier_needs_others_for_no_bytes() {
    for collective in collectives(1) {
        for rank in 0..7 {
            let plan = compile(&overview(collective, 3, 4, 0), rank);
            assert_eq!(plan.steps.is_empty(), collective.0 != Collective::Barrier, "{collective:?}");
        }
    }
}

#[test]
fn long_reductions_are_shared_out_and_short_ones_are_not() {
    let name = |collective, ranks, elements| chosen(&overview(collective, ranks, ranks, elements)).name();
    assert_eq!(name((Collective::Allreduce, 0), 1, 1), "node-flat");
    assert_eq!(name((Collective::Allreduce, 0), 4, 100), "node-flat");
    assert_eq!(name((Collective::Allreduce, 0), 4, 100_000), "node-sliced");
    assert_eq!(name((Collective::Reduce, 0), 4, 100_000), "node-sliced");
    assert_eq!(name((Collective::Reduce, 0), 1, 100_000), "node-flat");
    assert_eq!(name((Collective::Alltoall, 0), 6, 1_000_000), "direct");
}

proptest! {
    #[test]
    fn any_collective_of_any_length_is_right_and_both_groups_choose_alike(
        kind in any::<prop::sample::Index>(),
        (first, second) in (1..=9u32, 1..=9u32),
        root in 0..18u32,
        elements in prop_oneof![0..200u64, 0..300_000u64],
        asymmetry in prop_oneof![Just(0), 0..100_000u64],
        (unit, node) in (1..50u32, any::<bool>()),
        seed in any::<u64>(),
    ) {
        let all: Vec<_> = collectives(root % (first + second)).collect();
        let collective = all[kind.index(all.len())];
        let nodes = if node { Nodes::One } else { Nodes::APART };
        let mut overview = Overview { nodes, ..overview(collective, first, second, elements) };
        if overview.unit > 1 {
            overview = Overview { unit, ..overview }.with_bytes(elements * u64::from(unit));
        }
        if matches!(collective.0, Collective::Allgather | Collective::Alltoall) {
            overview.bytes[1] += asymmetry;
        }
        let plans: Vec<_> = (0..overview.ranks()).map(|rank| compile(&overview, rank)).collect();
        let conditions = Conditions { sends: Sends::Synchronous, schedule: Schedule::Random(seed) };
        let verdict = verify_once(&overview, &plans, conditions);
        prop_assert!(verdict.is_ok(), "{overview:?}: {verdict:?}");
        let slots = |plan: &Plan| plan.lines.iter().map(|line| line.slot_bytes * u64::from(line.depth)).sum();
        let most: u64 = plans.iter().map(slots).max().expect("there are ranks");
        prop_assert!(most <= 2 * SLOT_BUDGET_BYTES, "{overview:?} declares {most} bytes of slots");
    }
}

/// The flaw found in the plans by an algorithm after `spoil` changed them; without it there must be none.
fn flaw_after(overview: &Overview, name: &str, spoil: impl Fn(&mut [Plan])) -> FlawKind {
    let named = |algorithm: &&Algorithm| algorithm.name() == name;
    let algorithm = admissible(overview).into_iter().find(named).expect("it is admissible");
    let mut plans = plans(algorithm, overview);
    verify_between(overview, &plans, 1).expect("the plans are right before they are spoiled");
    spoil(&mut plans);
    verify_between(overview, &plans, 1).expect_err("the spoiled plans were found right").kind
}

#[test]
fn a_barrier_that_tells_the_other_group_too_early_is_no_barrier() {
    let flaw = flaw_after(&overview((Collective::Barrier, 0), 4, 2, 0), "dissemination", |plans| {
        let tells = |action: &Action| matches!(action, Action::Send { to: Peer::Remote(_), .. });
        let step = plans[3].steps.iter_mut().find(|step| tells(&step.action));
        assert!(step.is_none(), "rank 3 has no remote namesake");
        let step = plans[0].steps.iter_mut().find(|step| tells(&step.action)).expect("rank 0 tells");
        step.after.clear();
        let step = plans[1].steps.iter_mut().find(|step| tells(&step.action)).expect("rank 1 tells");
        step.after.clear();
    });
    assert_eq!(flaw, FlawKind::Wrong);
}

#[test]
fn operands_of_a_group_that_change_places_are_in_the_wrong_order() {
    let flaw = flaw_after(&overview((Collective::Allreduce, 0), 4, 2, 1), "binomial", |plans| {
        for step in &mut plans[0].steps {
            if let Action::Reduce { left, right, .. } = &mut step.action {
                std::mem::swap(left, right);
            }
        }
    });
    assert_eq!(flaw, FlawKind::Wrong);
}

#[test]
fn a_rank_that_is_not_in_the_remote_group_is_found() {
    let overview = overview((Collective::Bcast, 0), 4, 2, 1);
    let flaw = flaw_after(&overview, "binomial", |plans| {
        if let Action::Send { to, .. } = &mut plans[0].steps[0].action {
            *to = Peer::Remote(2);
        }
    });
    assert_eq!(flaw, FlawKind::Malformed);
    let flaw = flaw_after(&overview, "node-flat", |plans| {
        if let Action::Pull { peer, .. } = &mut plans[5].steps[0].action {
            *peer = Peer::Remote(4);
        }
    });
    assert_eq!(flaw, FlawKind::Malformed);
}

#[test]
fn what_is_meant_for_the_wrong_group_is_found() {
    let overview = overview((Collective::Bcast, 0), 4, 2, 1);
    let flaw = flaw_after(&overview, "binomial", |plans| {
        if let Action::Send { to, .. } = &mut plans[0].steps[0].action {
            *to = Peer::Local(1);
        }
    });
    assert_eq!(flaw, FlawKind::Deadlock);
    let flaw = flaw_after(&overview, "node-flat", |plans| {
        if let Action::Pull { peer, .. } = &mut plans[5].steps[0].action {
            *peer = Peer::Local(0);
        }
    });
    assert_eq!(flaw, FlawKind::Deadlock);
}

#[test]
fn groups_that_declare_different_lines_are_found() {
    let flaw = flaw_after(&overview((Collective::Allgather, 0), 4, 2, 1), "node-flat", |plans| {
        plans[4..].iter_mut().for_each(|plan| plan.lines[0].slot_bytes += 8);
    });
    assert_eq!(flaw, FlawKind::Malformed);
}

#[test]
fn a_slot_too_few_is_found() {
    for collective in [(Collective::Allgather, 0), (Collective::Alltoall, 0), (Collective::Allreduce, 0)] {
        let overview = overview(collective, 3, 2, 200_003);
        let name = chosen(&overview).name();
        let flaw = flaw_after(&overview, name, |plans| {
            for line in plans.iter_mut().flat_map(|plan| &mut plan.lines) {
                line.depth -= 1;
            }
        });
        assert_eq!(flaw, FlawKind::Race, "{collective:?}");
    }
}

/// Calls `check(name, overview, plans, rank, step)` for all algorithms.
fn for_each_step(check: impl Fn(&str, &Overview, &[Plan], usize, usize)) {
    for (first, second) in [(4, 2), (2, 7)] {
        for root in [0, first] {
            for collective in collectives(root) {
                let overview = overview(collective, first, second, 1);
                for algorithm in admissible(&overview) {
                    let plans = plans(algorithm, &overview);
                    for (rank, plan) in plans.iter().enumerate() {
                        for index in 0..plan.steps.len() {
                            check(&format!("{overview:?}, {algorithm:?}"), &overview, &plans, rank, index);
                        }
                    }
                }
            }
        }
    }
}

/// Whether a flaw is found in plans with one thing changed.
fn is_flawed(overview: &Overview, plans: &[Plan]) -> bool {
    let conditions = Conditions { sends: Sends::Buffered, schedule: Schedule::Fair };
    verify_once(overview, plans, conditions).is_err()
}

#[test]
fn no_step_of_any_plan_can_be_left_out() {
    // A barrier by messages tells more than it must, to ranks of the own group; and some slices are empty.
    let is_exempt = |overview: &Overview, action: &Action| match (overview.collective, action) {
        (Collective::Barrier, action) => matches!(action, Action::Send { .. } | Action::Receive { .. }),
        (_, Action::Post { from: span, .. } | Action::Pull { into: span, .. }) => span.at(0).1 == 0,
        _ => false,
    };
    for_each_step(|name, overview, plans, rank, index| {
        let mut spoiled = plans.to_vec();
        let steps = &mut spoiled[rank].steps;
        steps[index].action = Action::Copy { from: Span::EMPTY, into: Span::EMPTY };
        steps.iter_mut().for_each(|step| step.after.retain(|&earlier| earlier as usize != index));
        let step = &plans[rank].steps[index];
        let is_found = is_flawed(overview, &spoiled) || is_exempt(overview, &step.action);
        assert!(is_found, "{name}, rank {rank}: {step}");
    });
}

/// In a barrier, which is exempt, ranks hear of their own group from the other one as well.
#[test]
fn no_message_of_any_plan_can_be_left_unawaited() {
    for_each_step(|name, overview, plans, rank, index| {
        let mut spoiled = plans.to_vec();
        for step in &mut spoiled[rank].steps {
            step.after.retain(|&awaited| awaited as usize != index);
        }
        if spoiled != plans && overview.collective != Collective::Barrier {
            assert!(is_flawed(overview, &spoiled), "{name}, rank {rank}: {}", plans[rank].steps[index]);
        }
    });
}
