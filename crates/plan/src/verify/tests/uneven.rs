//! Reduce-scatters with blocks of any lengths, within a group and between two.

use proptest::prelude::*;

use crate::verify::contract::{Alias, Contract, Expected, Part, Synchronizes};
use crate::verify::{Conditions, Flaw, Schedule, Sends, verify_contract};
use crate::{Buf, Nodes, Overrides, Plan, Uneven};

const UNIT: u64 = 8;

/// The blocks of one group or of two, and who works in place.
struct Case {
    groups: [Vec<u64>; 2],
    in_place: bool,
    commutative: bool,
}

impl Case {
    fn within(elements: &[u64], in_place: bool, commutative: bool) -> Self {
        Self { groups: [bytes(elements), Vec::new()], in_place, commutative }
    }

    fn between(first: &[u64], second: &[u64]) -> Self {
        Self { groups: [bytes(first), bytes(second)], in_place: false, commutative: false }
    }

    fn ranks(&self) -> usize {
        self.groups[0].len() + self.groups[1].len()
    }

    /// The group of a rank, counted through, and its rank there.
    fn place(&self, rank: usize) -> (usize, usize) {
        let first = self.groups[0].len();
        if rank < first { (0, rank) } else { (1, rank - first) }
    }

    fn uneven(&self, group: usize, nodes: Nodes) -> Uneven {
        Uneven {
            lengths: self.groups[group].as_slice().into(),
            remote_ranks: self.groups[1 - group].len() as u32,
            unit: UNIT as u32,
            commutative: self.commutative,
            nodes,
        }
    }

    fn part(&self, rank: usize) -> Part {
        let (group, own) = self.place(rank);
        let (lengths, total) = (&self.groups[group], self.groups[group].iter().sum());
        let first = self.groups[0].len();
        let is_between = !self.groups[1].is_empty();
        let from = if is_between && group == 0 { first..self.ranks() } else { 0..first };
        let ranks = from.fold(0_u128, |set, other| set | 1 << other);
        let origin = lengths[..own].iter().sum();
        let result = vec![Expected { begin: 0, bytes: lengths[own], origin, ranks }];
        let alias = Alias { buf: Buf::Send, of: Buf::Recv, offset: 0 };
        Part {
            send_bytes: total,
            recv_bytes: if self.in_place { total } else { lengths[own] },
            input: Buf::Send,
            alias: self.in_place.then_some(alias),
            result,
        }
    }

    fn verify(&self, plans: &[Plan], seed: u64) -> Result<(), Flaw> {
        let contract = Contract {
            nodes: Nodes::One,
            parts: (0..self.ranks()).map(|rank| self.part(rank)).collect(),
            first_group: self.groups[0].len() as u32,
            unit: UNIT,
            commutative: self.commutative,
            synchronizes: Synchronizes::Nobody,
            has_equal_results: false,
        };
        for sends in [Sends::Buffered, Sends::Synchronous] {
            for schedule in [Schedule::Fair, Schedule::Ahead(0), Schedule::Random(seed)] {
                verify_contract(&contract, plans, Conditions { sends, schedule })?;
            }
        }
        Ok(())
    }

    /// Verifies all ways that serve these blocks; returns the names of those that do so on one node.
    fn check(&self) -> Vec<&'static str> {
        if self.groups[1].is_empty() {
            self.check_on(Nodes::APART);
        }
        self.check_on(Nodes::One)
    }

    fn check_on(&self, nodes: Nodes) -> Vec<&'static str> {
        let plans = |rank| {
            let (group, own) = self.place(rank);
            self.uneven(group, nodes).plans(own as u32, self.in_place)
        };
        let all: Vec<_> = (0..self.ranks()).map(plans).collect();
        let names: Vec<_> = all[0].iter().map(|(name, _)| *name).collect();
        for (index, name) in names.iter().enumerate() {
            let plans: Vec<_> = all.iter().map(|of_rank| of_rank[index].1.clone()).collect();
            let verdict = self.verify(&plans, index as u64);
            verdict.unwrap_or_else(|flaw| panic!("{:?}, {}, {name}: {flaw}", self.groups, self.in_place));
        }
        names
    }
}

fn bytes(elements: &[u64]) -> Vec<u64> {
    elements.iter().map(|elements| elements * UNIT).collect()
}

#[test]
fn every_way_is_right_for_wildly_uneven_blocks() {
    let all: [&[u64]; 10] = [
        &[0, 1],
        &[5, 0],
        &[1, 2, 3],
        &[0, 0, 7, 0],
        &[1, 9, 40, 2, 0],
        &[3, 3, 4],
        &[10_000, 1, 70_000],
        &[1, 300_000],
        &[70_000, 0, 10_000, 20_001, 3],
        &[0, 1, 2, 3, 4, 5, 60, 7, 8, 9, 0],
    ];
    for elements in all {
        for (in_place, commutative) in [(false, false), (false, true), (true, false), (true, true)] {
            assert!(!Case::within(elements, in_place, commutative).check().is_empty());
        }
    }
}

#[test]
fn every_way_is_right_for_groups_that_cut_the_vector_differently() {
    let pairs: [(&[u64], &[u64]); 7] = [
        (&[6], &[6]),
        (&[2, 4], &[6]),
        (&[6, 0], &[1, 2, 3]),
        (&[0, 10, 0, 0], &[5, 5]),
        (&[1, 2, 3, 4, 5, 6], &[0, 21]),
        (&[100_000, 1, 50_000], &[150_001]),
        (&[40_000, 40_000], &[1, 9_999, 70_000]),
    ];
    for (first, second) in pairs {
        Case::between(first, second).check();
        Case::between(second, first).check();
    }
}

#[test]
fn lines_serve_what_is_short_or_of_few_ranks() {
    let names = |elements: &[u64]| Case::within(elements, false, true).check();
    assert_eq!(names(&[1, 2, 3]), ["node-flat", "node-whole", "pairwise"]);
    assert_eq!(names(&[1, 2, 3, 4, 5, 6, 7]), ["node-whole", "pairwise"]);
    assert_eq!(names(&[100_000, 2, 3]), ["node-flat", "pairwise"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_selected_is_right_for_any_blocks(
        elements in prop::collection::vec(prop_oneof![Just(0u64), 1..50u64, 0..100_000u64], 1..9),
        (in_place, commutative, node) in any::<(bool, bool, bool)>(),
        seed: u64,
    ) {
        let case = Case::within(&elements, in_place, commutative);
        let uneven = case.uneven(0, if node { Nodes::One } else { Nodes::APART });
        let overrides = Overrides::default();
        let plans: Vec<_> =
            (0..elements.len() as u32).map(|rank| uneven.compile(rank, in_place, &overrides)).collect();
        prop_assert_eq!(case.verify(&plans, seed), Ok(()));
    }
}
