//! Collectives of two groups with blocks of lengths of their own, and exchanges: right for groups of any sizes,
//! and spoiled plans are found.

use super::pattern::by_lines;
use crate::inter::{Groups, exchange};
use crate::pattern::Pattern;
use crate::pattern::inter::{allgatherv, alltoallv, gatherv, scatterv};
use crate::verify::contract::{Contract, Expected, Part, Synchronizes};
use crate::verify::{Conditions, Flaw, Schedule, Sends, verify_contract};
use crate::{Action, Nodes, Plan, Root, Span};

/// Two groups; their ranks are counted through.
#[derive(Clone, Copy, Debug)]
struct Pair {
    first: u32,
    second: u32,
}

/// A collective, and what its root is, counted through.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Allgatherv,
    Alltoallv,
    Exchange,
    Gatherv { root: u32 },
    Scatterv { root: u32 },
}

/// What is verified: plans, and what they promise.
struct Case {
    contract: Contract,
    plans: Vec<Plan>,
}

const UNIT: u64 = 8;

impl Pair {
    fn ranks(self) -> u32 {
        self.first + self.second
    }

    fn is_second(self, rank: u32) -> bool {
        rank >= self.first
    }

    /// The ranks of the group that `rank` is not in, counted through.
    fn others(self, rank: u32) -> std::ops::Range<u32> {
        if self.is_second(rank) { 0..self.first } else { self.first..self.ranks() }
    }

    fn fellows(self, rank: u32) -> std::ops::Range<u32> {
        if self.is_second(rank) { self.first..self.ranks() } else { 0..self.first }
    }

    fn groups(self, rank: u32) -> Groups {
        let (fellows, others) = (self.fellows(rank), self.others(rank));
        Groups { rank: rank - fellows.start, local: fellows.len() as u32, remote: others.len() as u32 }
    }

    fn root(self, rank: u32, root: u32) -> Root {
        match self.is_second(rank) == self.is_second(root) {
            _ if rank == root => Root::Here,
            true => Root::Beside,
            false => Root::Rank(root - self.others(rank).start),
        }
    }
}

impl Kind {
    fn all(pair: Pair) -> Vec<Self> {
        let mut all = vec![Self::Allgatherv, Self::Alltoallv, Self::Exchange];
        for root in 0..pair.ranks() {
            all.extend([Self::Gatherv { root }, Self::Scatterv { root }]);
        }
        all
    }

    /// The collective on vectors and blocks of about `bytes` bytes.
    fn case(self, pair: Pair, bytes: u64) -> Case {
        let contract = Contract {
            nodes: Nodes::One,
            parts: (0..pair.ranks()).map(|rank| self.part(pair, rank, bytes)).collect(),
            first_group: pair.first,
            unit: 1,
            commutative: false,
            synchronizes: Synchronizes::Nobody,
            has_equal_results: false,
        };
        Case { contract, plans: (0..pair.ranks()).map(|rank| self.plan(pair, rank, bytes)).collect() }
    }

    fn plan(self, pair: Pair, rank: u32, bytes: u64) -> Plan {
        match self {
            Self::Exchange => exchange(&pair.groups(rank), bytes),
            _ => self.pattern(pair, rank, bytes).by_messages(),
        }
    }

    fn pattern(self, pair: Pair, rank: u32, bytes: u64) -> Pattern {
        let groups = pair.groups(rank);
        let own = || vec![length(rank, rank, bytes)];
        let at_root = |root, lengths: Vec<u64>| if rank == root { lengths } else { own() };
        let of_others =
            || -> Vec<u64> { pair.others(rank).map(|other| length(other, other, bytes)).collect() };
        match self {
            Self::Allgatherv => allgatherv(&groups, length(rank, rank, bytes), &of_others()),
            Self::Alltoallv => {
                let sent: Vec<_> = pair.others(rank).map(|to| length(rank, to, bytes)).collect();
                let received: Vec<_> = pair.others(rank).map(|from| length(from, rank, bytes)).collect();
                alltoallv(&groups, &sent, &received)
            }
            Self::Exchange => unreachable!("an exchange is no pattern"),
            Self::Gatherv { root } => gatherv(&groups, pair.root(rank, root), &at_root(root, of_others())),
            Self::Scatterv { root } => scatterv(&groups, pair.root(rank, root), &at_root(root, of_others())),
        }
    }

    /// What the standard says of a rank's buffers.
    fn part(self, pair: Pair, rank: u32, bytes: u64) -> Part {
        let own = length(rank, rank, bytes);
        let gathered = || blocks(pair.others(rank).map(|from| (from, length(from, from, bytes), 0)));
        match self {
            Self::Allgatherv => Part::receiving(own, gathered()),
            Self::Alltoallv => {
                let sent = pair.others(rank).map(|to| length(rank, to, bytes)).sum();
                let offset = |from| (pair.fellows(rank).start..rank).map(|to| length(from, to, bytes)).sum();
                let block = |from| (from, length(from, rank, bytes), offset(from));
                Part::receiving(sent, blocks(pair.others(rank).map(block)))
            }
            Self::Exchange => {
                let everybody = pair.fellows(rank).chain(pair.others(rank));
                Part::receiving(bytes, blocks(everybody.map(|from| (from, bytes, 0))))
            }
            Self::Gatherv { root } => match pair.root(rank, root) {
                Root::Here => Part::receiving(0, gathered()),
                Root::Beside => Part::receiving(0, Vec::new()),
                Root::Rank(_) => Part::receiving(own, Vec::new()),
            },
            Self::Scatterv { root } => match pair.root(rank, root) {
                Root::Here => {
                    Part::receiving(pair.others(rank).map(|to| length(to, to, bytes)).sum(), Vec::new())
                }
                Root::Beside => Part::receiving(0, Vec::new()),
                Root::Rank(_) => {
                    let offset = (pair.fellows(rank).start..rank).map(|to| length(to, to, bytes)).sum();
                    Part::receiving(0, blocks(std::iter::once((root, own, offset))))
                }
            },
        }
    }
}

impl Case {
    fn verify_under(&self, conditions: Conditions) -> Result<(), Flaw> {
        verify_contract(&self.contract, &self.plans, conditions)
    }

    /// Verifies under all conditions.
    fn verify(&self) -> Result<(), Flaw> {
        let last = self.plans.len() as u32 - 1;
        let other = self.contract.first_group;
        let schedules = [
            Schedule::Fair,
            Schedule::Ahead(0),
            Schedule::Ahead(other),
            Schedule::Behind(other - 1),
            Schedule::Behind(last),
            Schedule::Random(u64::from(last)),
        ];
        for sends in [Sends::Buffered, Sends::Synchronous] {
            for schedule in schedules {
                self.verify_under(Conditions { sends, schedule })?;
            }
        }
        Ok(())
    }
}

/// Bytes of the block that `from` has for `to`: some have none.
fn length(from: u32, to: u32, bytes: u64) -> u64 {
    match (3 * from + 5 * to) % 7 {
        3 => 0,
        some => bytes + u64::from(some),
    }
}

/// Blocks one after the other: from whom, how long, and where in its vector each begins.
fn blocks(of: impl Iterator<Item = (u32, u64, u64)>) -> Vec<Expected> {
    let mut begin = 0;
    of.map(|(from, bytes, origin)| {
        begin += bytes;
        Expected { begin: begin - bytes, bytes, origin, ranks: 1 << from }
    })
    .collect()
}

fn pairs(most: u32) -> impl Iterator<Item = Pair> {
    (1..=most).flat_map(move |first| (1..=most).map(move |second| Pair { first, second }))
}

#[test]
fn all_collectives_are_right_for_groups_of_all_sizes_and_every_root() {
    for pair in pairs(12) {
        for kind in Kind::all(pair) {
            let mut case = kind.case(pair, 3 * UNIT);
            case.verify().unwrap_or_else(|flaw| panic!("{pair:?}, {kind:?}: {flaw}"));
            if !matches!(kind, Kind::Exchange) {
                let pattern = |rank| kind.pattern(pair, rank, 3 * UNIT);
                let patterns: Vec<_> = (0..pair.ranks()).map(pattern).collect();
                case.plans = by_lines(&patterns, pair.first).expect("blocks are short");
                case.verify().unwrap_or_else(|flaw| panic!("{pair:?}, {kind:?} by lines: {flaw}"));
            }
        }
    }
}

#[test]
fn all_collectives_are_right_for_large_groups() {
    for (first, second) in [(1, 33), (33, 1), (7, 40), (40, 7), (31, 32), (64, 3), (50, 50)] {
        let pair = Pair { first, second };
        let roots = [0, first - 1, first, pair.ranks() - 1];
        let is_chosen = |kind: &Kind| match kind {
            Kind::Gatherv { root } | Kind::Scatterv { root } => roots.contains(root),
            _ => true,
        };
        for kind in Kind::all(pair).into_iter().filter(is_chosen) {
            let conditions = Conditions { sends: Sends::Synchronous, schedule: Schedule::Random(7) };
            let verdict = kind.case(pair, UNIT).verify_under(conditions);
            verdict.unwrap_or_else(|flaw| panic!("{pair:?}, {kind:?}: {flaw}"));
        }
    }
}

#[test]
fn blocks_of_no_bytes_are_not_sent() {
    let pair = Pair { first: 3, second: 4 };
    for rank in 0..pair.ranks() {
        let groups = pair.groups(rank);
        let zeros = vec![0; groups.remote as usize];
        let patterns = [allgatherv(&groups, 0, &zeros), alltoallv(&groups, &zeros, &zeros)];
        assert!(patterns.iter().all(|pattern| pattern.by_messages().steps.is_empty()));
        assert!(exchange(&groups, 0).steps.is_empty());
    }
}

const PAIR: Pair = Pair { first: 4, second: 2 };

/// Whether a flaw is found in plans with one thing changed.
fn is_flawed(contract: &Contract, plans: &[Plan]) -> bool {
    let conditions = Conditions { sends: Sends::Buffered, schedule: Schedule::Fair };
    verify_contract(contract, plans, conditions).is_err()
}

#[test]
fn no_step_of_any_plan_can_be_left_out() {
    for_each_step(|name, contract, plans, rank, index| {
        let mut spoiled = plans.to_vec();
        let steps = &mut spoiled[rank].steps;
        steps[index].action = Action::Copy { from: Span::EMPTY, into: Span::EMPTY };
        steps.iter_mut().for_each(|step| step.after.retain(|&earlier| earlier as usize != index));
        assert!(is_flawed(contract, &spoiled), "{name}, rank {rank}: {}", plans[rank].steps[index]);
    });
}

#[test]
fn no_message_of_any_plan_can_be_left_unawaited() {
    for_each_step(|name, contract, plans, rank, index| {
        let mut spoiled = plans.to_vec();
        for step in &mut spoiled[rank].steps {
            step.after.retain(|&awaited| awaited as usize != index);
        }
        if spoiled != plans {
            assert!(is_flawed(contract, &spoiled), "{name}, rank {rank}: {}", plans[rank].steps[index]);
        }
    });
}

/// Calls `check(name, contract, plans, rank, step)`.
fn for_each_step(check: impl Fn(&str, &Contract, &[Plan], usize, usize)) {
    for pair in [PAIR, Pair { first: 2, second: 8 }] {
        for kind in Kind::all(pair) {
            let Case { contract, plans } = kind.case(pair, UNIT);
            for (rank, plan) in plans.iter().enumerate() {
                for index in 0..plan.steps.len() {
                    check(&format!("{pair:?}, {kind:?}"), &contract, &plans, rank, index);
                }
            }
        }
    }
}
