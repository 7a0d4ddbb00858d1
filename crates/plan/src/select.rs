//! Which algorithm a shape gets: the cheapest admissible one, unless an override names another.
//!
//! The choice depends on the shape (and the overrides, which must be equal on all ranks) alone. Between two
//! groups it is that of the mirror image too.

use oxmpi_base::{Error, ErrorClass, Result};

use crate::ladder::Ladders;
use crate::{Algorithm, Collective, Cost, Machine, Plan, Shape};

/// All algorithms of a shape's collective within a group or between two, admissible or not, in a stable order.
pub fn candidates(shape: &Shape) -> &'static [&'static Algorithm] {
    algorithms(shape.collective, shape.is_between())
}

fn algorithms(collective: Collective, is_between: bool) -> &'static [&'static Algorithm] {
    let info = collective.info();
    if is_between { info.between } else { info.within }
}

/// The algorithm for `shape`: the one that `overrides` names, if it is admissible; else the cheapest at the next lower
/// step of a ladder of lengths, or the first where nothing is predicted. As the length grows, none comes back.
pub fn select(shape: &Shape, overrides: &Overrides) -> &'static Algorithm {
    if let Some(named) = overrides.get(shape).filter(|algorithm| algorithm.admits(shape)) {
        return named;
    }
    if shape.is_between() {
        let admissible = candidates(shape).iter().copied().find(|algorithm| algorithm.admits(shape));
        return admissible.expect("every collective has an algorithm of messages that admits every shape");
    }
    overrides.ladders.choice(shape, &overrides.machine)
}

/// The cheapest of some ways, with what it costs; the first where nothing is predicted, and of those that cost the
/// same but for the last digits of sums.
pub(crate) fn cheapest<W>(priced: impl Iterator<Item = (W, Option<Cost>)>) -> Option<(W, f64)> {
    let total_ns = |cost: Option<Cost>| cost.map_or(f64::INFINITY, |cost| cost.total_ns());
    priced
        .map(|(way, cost)| (way, total_ns(cost)))
        .reduce(|best, other| if other.1 < best.1 * ALMOST { other } else { best })
}

/// What is not shorter than this part of something is as long.
const ALMOST: f64 = 1.0 - 1e-9;

/// The plan of `rank`, which works in place or not, by the algorithm for `shape`.
///
/// # Panics
/// If there is no such rank or root.
pub fn compile(shape: &Shape, rank: u32, in_place: bool, overrides: &Overrides) -> Plan {
    select(shape, overrides).plan(shape, rank, in_place)
}

/// What somebody knows better: algorithms to prefer to the cheapest, and what makes them cheap.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    chosen: Vec<Choice>,
    machine: Machine,
    ladders: Ladders,
}

#[derive(Clone, Copy, Debug)]
struct Choice {
    collective: Collective,
    is_between: bool,
    ranks: Limits,
    bytes: Limits,
    algorithm: &'static Algorithm,
}

/// The least and the most of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    least: u64,
    most: u64,
}

impl Overrides {
    /// Reads `collective=algorithm` pairs, separated by commas or ends of lines, where `#` begins a comment; of those
    /// that fit a shape the last one holds. `inter-collective=algorithm` is for intercommunicators.
    ///
    /// A pair can be for some numbers of ranks and lengths alone, of which either end may be missing, and both count:
    /// `bcast ranks 5.. bytes 4096..65536 = node-tree`. Bytes are those of the vector, or of one rank's block; between
    /// two groups the larger one's ranks, and the longer of the blocks.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if a pair has no `=`, or names an unknown collective or algorithm (the text names the known
    /// ones), or what should be limits are none.
    pub fn parse(text: &str) -> Result<Self> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or(""));
        let pairs = lines.flat_map(|line| line.split(',')).map(str::trim).filter(|pair| !pair.is_empty());
        let chosen = pairs.map(parse_pair).collect::<Result<_>>()?;
        Ok(Self { chosen, ..Self::default() })
    }

    /// The same for collectives that combine nothing: what is combined is always combined in the order that the shape
    /// alone decides, so that its last bits are the same however the ranks are run.
    #[must_use]
    pub fn without_reductions(mut self) -> Self {
        self.chosen.retain(|choice| !choice.collective.info().is_reduction());
        self
    }

    /// The same on this machine.
    #[must_use]
    pub fn on(self, machine: Machine) -> Self {
        Self { machine, ladders: Ladders::default(), ..self }
    }

    /// The machine by whose constants the cheapest algorithm is found.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What was chosen for the collective of `shape`, if anything.
    pub fn get(&self, shape: &Shape) -> Option<&'static Algorithm> {
        let is_for = |choice: &&Choice| {
            let is_kind = choice.collective == shape.collective && choice.is_between == shape.is_between();
            is_kind
                && choice.ranks.include(shape.most_ranks().into())
                && choice.bytes.include(shape.longest())
        };
        self.chosen.iter().rev().find(is_for).map(|choice| choice.algorithm)
    }
}

/// What stands before the name of a collective of two groups.
const BETWEEN: &str = "inter-";

fn parse_pair(pair: &str) -> Result<Choice> {
    let wrong = |text: String| Error::new(ErrorClass::Arg, text);
    let Some((name, algorithm)) = pair.split_once('=') else {
        return Err(wrong(format!("'{pair}' is not of the form collective=algorithm")));
    };
    let (mut words, algorithm) = (name.split_whitespace(), algorithm.trim());
    let name = words.next().unwrap_or("");
    let (is_between, bare) = name.strip_prefix(BETWEEN).map_or((false, name), |bare| (true, bare));
    let Some(collective) = Collective::named(bare) else {
        let known = Collective::NAMES.join(", ");
        let note = "and the same after 'inter-' for intercommunicators";
        return Err(wrong(format!("'{pair}' names an unknown collective; known are {known}, {note}")));
    };
    let all = algorithms(collective, is_between);
    let Some(&algorithm) = all.iter().find(|known| known.name() == algorithm) else {
        let known: Vec<_> = all.iter().map(|known| known.name()).collect();
        let known = known.join(", ");
        return Err(wrong(format!("'{pair}' names an unknown algorithm; those of {name} are {known}")));
    };
    let [mut ranks, mut bytes] = [Limits::NONE; 2];
    while let Some(word) = words.next() {
        let limits = match word {
            "bytes" => &mut bytes,
            "ranks" => &mut ranks,
            _ => return Err(wrong(format!("'{pair}': '{word}' should be 'ranks' or 'bytes'"))),
        };
        let range = words.next().unwrap_or("");
        *limits = Limits::parse(range).ok_or_else(|| {
            let note = "a number, or two with '..' between, of which either may be missing";
            wrong(format!("'{pair}': '{range}' after '{word}' should be {note}"))
        })?;
    }
    Ok(Choice { collective, is_between, ranks, bytes, algorithm })
}

impl Limits {
    const NONE: Self = Self { least: 0, most: u64::MAX };

    /// Reads `3`, `3..5`, `3..` or `..5`; `None` if it is none of these, or nothing lies between.
    fn parse(text: &str) -> Option<Self> {
        let Some((least, most)) = text.split_once("..") else {
            let only = text.parse().ok()?;
            return Some(Self { least: only, most: only });
        };
        let end = |text: &str, missing| if text.is_empty() { Some(missing) } else { text.parse().ok() };
        let limits = Self { least: end(least, Self::NONE.least)?, most: end(most, Self::NONE.most)? };
        (limits.least <= limits.most).then_some(limits)
    }

    fn include(self, number: u64) -> bool {
        (self.least..=self.most).contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Nodes;
    use crate::segment::SLOT_BUDGET_BYTES;

    fn allreduce(ranks: u32, bytes: u64) -> Shape {
        Shape { unit: 8, ..Shape::of(Collective::Allreduce, ranks, bytes) }
    }

    #[test]
    fn short_vectors_are_combined_by_all_and_long_ones_in_slices() {
        let name = |ranks, bytes| select(&allreduce(ranks, bytes), &Overrides::default()).name();
        assert_eq!(name(2, 8), "node-flat");
        assert_eq!(name(4, 1024), "node-flat");
        assert_eq!(name(2, 1 << 20), "node-sliced");
        assert_eq!(name(4, 64 << 10), "node-sliced");
        assert_eq!(name(64, 8), "node-tree");
    }

    /// What is chosen among 2 to 8 ranks of a node with two cores, from which length on: measured there, in medians of
    /// some tens of jobs. Who changes the model must have measured.
    #[test]
    fn few_ranks_of_a_node_get_what_has_been_measured() {
        let flat = |_| "8 node-flat";
        check_choices(Collective::Allgather, flat);
        check_choices(Collective::Barrier, flat);
        check_choices(Collective::Bcast, flat);
        check_choices(Collective::Gather, flat);
        check_choices(Collective::Allreduce, |ranks| match ranks {
            2 => "8 node-flat, 65536 node-sliced",
            3 => "8 node-flat, 49152 node-sliced",
            4 => "8 node-flat, 24576 node-sliced",
            5 => "8 node-flat, 6144 node-tree, 49152 node-sliced",
            6 => "8 node-flat, 6144 node-tree, 32768 node-sliced",
            7 => "8 node-flat, 2048 node-tree, 49152 node-sliced",
            _ => "8 node-flat, 1536 node-tree, 49152 node-sliced",
        });
        check_choices(Collective::Alltoall, |ranks| match ranks {
            2 => "8 node-flat",
            3 => "8 node-whole, 1024 node-flat",
            4 => "8 node-whole, 2048 node-flat",
            5 => "8 node-whole, 3072 node-flat",
            _ => "8 node-whole, 98304 pairwise",
        });
        check_choices(Collective::Reduce, |ranks| match ranks {
            2 | 3 => "8 node-flat",
            4 => "8 node-flat, 262144 node-sliced, 6291456 node-tree",
            5 => "8 node-flat, 1048576 node-sliced, 3145728 node-tree",
            6 => "8 node-flat, 196608 node-sliced, 6291456 node-tree",
            7 => "8 node-flat, 393216 node-sliced, 3145728 node-tree",
            _ => "8 node-flat, 131072 node-sliced, 4194304 node-tree",
        });
        check_choices(Collective::Scan, |ranks| match ranks {
            2 => "8 node-flat, 786432 node-chain",
            3 => "8 node-chain",
            4 => "8 node-flat, 16384 node-chain",
            5 | 7 => "8 node-flat, 8192 node-chain",
            _ => "8 node-flat, 12288 node-chain",
        });
        check_choices(Collective::Scatter, |ranks| match ranks {
            2 => "8 node-flat",
            3 => "8 node-whole, 1024 node-flat",
            4 => "8 node-whole, 2048 node-flat",
            5 => "8 node-whole, 131072 linear",
            _ => "8 node-whole, 98304 linear",
        });
    }

    /// As measured among 2 and 3 ranks that share one core: messages take as many turns, and more work in each.
    #[test]
    fn few_ranks_of_one_core_read_lines() {
        let overrides = of_cores(1);
        for collective in [Collective::Allgather, Collective::Allreduce, Collective::Barrier] {
            for ranks in [2, 3] {
                for bytes in [8, 16, 1 << 10, 8000, 16 << 10] {
                    let shape = of_one_node(collective, ranks, bytes);
                    assert_eq!(select(&shape, &overrides).name(), "node-flat", "{shape:?}");
                }
            }
        }
    }

    fn of_cores(cores: u32) -> Overrides {
        Overrides::default().on(Machine { cores, ..Machine::default() })
    }

    fn of_one_node(collective: Collective, ranks: u32, bytes: u64) -> Shape {
        let bytes = if collective.info().moves_data() { bytes } else { 0 };
        let unit = if collective.info().is_reduction() { 8 } else { 1 };
        Shape { unit, ..Shape::of(collective, ranks, bytes) }
    }

    fn check_choices(collective: Collective, expected: impl Fn(u32) -> &'static str) {
        let overrides = of_cores(2);
        for ranks in 2..=8 {
            let mut found: Vec<String> = Vec::new();
            for bytes in (3..26).flat_map(|power| [1 << power, 3 << power >> 1 & !7]) {
                let shape = of_one_node(collective, ranks, bytes);
                let name = select(&shape, &overrides).name();
                if found.last().is_none_or(|last| !last.ends_with(&format!(" {name}"))) {
                    found.push(format!("{} {name}", shape.bytes.max(8)));
                }
            }
            assert_eq!(found.join(", "), expected(ranks), "{collective:?} among {ranks} ranks");
        }
    }

    #[test]
    fn an_override_wins_where_it_is_admissible() {
        let overrides = Overrides::parse("allreduce=ring, bcast=binomial").expect("both are known");
        let mut shape = allreduce(4, 8);
        assert_eq!(select(&shape, &overrides).name(), "ring");
        shape.commutative = false;
        assert_eq!(select(&shape, &overrides).name(), "node-flat");
    }

    #[test]
    fn an_override_can_be_for_some_ranks_and_lengths_alone() {
        let text = "# ours\nallreduce ranks 3..4 bytes 1024.. = ring # long\nallreduce bytes 4096=node-tree";
        let overrides = Overrides::parse(text).expect("it is right");
        let name = |ranks, bytes| select(&allreduce(ranks, bytes), &overrides).name();
        assert_eq!(
            [name(3, 1024), name(4, 1 << 24), name(4, 4096), name(8, 4096)],
            ["ring", "ring", "node-tree", "node-tree"]
        );
        for (ranks, bytes) in [(2, 1024), (5, 1 << 20), (4, 1016), (8, 4104)] {
            assert_eq!(name(ranks, bytes), select(&allreduce(ranks, bytes), &Overrides::default()).name());
        }
        let between = Overrides::parse("inter-allreduce ranks ..4=binomial").expect("it is right");
        let shape = Shape { remote_ranks: 5, received: 8, ..allreduce(3, 8) };
        let mirrored = Shape { ranks: 5, remote_ranks: 3, ..shape };
        assert!(
            between.get(&shape).is_none() && between.get(&mirrored).is_none(),
            "both see the larger group"
        );
    }

    /// To choose, to say why, and to plan for one of 10,000 ranks takes a millisecond or so. What takes as long as
    /// there are pairs of ranks would not let this test end.
    #[test]
    fn ten_thousand_ranks_get_their_algorithms_on_any_map() {
        let by_chance = (0..10_000u32).map(|rank| rank.wrapping_mul(2_654_435_761) >> 24).collect::<Vec<_>>();
        let in_turn = (0..10_000u32).map(|rank| rank % 157).collect::<Vec<_>>();
        let maps = [
            Nodes::One,
            Nodes::APART,
            Nodes::Regular { per_node: 48 },
            Nodes::of(&by_chance),
            Nodes::of(&in_turn),
        ];
        for collective in Collective::ALL.iter().copied() {
            let unit = if collective.info().is_reduction() { 8 } else { 1 };
            for (nodes, commutative) in maps.into_iter().flat_map(|nodes| [(nodes, true), (nodes, false)]) {
                for bytes in (3..=26).step_by(2).map(|power| 1 << power) {
                    let bytes = if collective.info().moves_data() { bytes } else { 0 };
                    let shape = Shape { unit, nodes, commutative, ..Shape::of(collective, 10_000, bytes) };
                    let why = crate::why(&shape, &Overrides::default());
                    assert!(why.chosen().admits(&shape), "{collective:?}");
                    let plan = why.chosen().plan(&shape, 4711, false);
                    assert!(plan.steps.len() < 1 << 20, "{collective:?}: {} steps", plan.steps.len());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn limits_are_read_as_they_are_written(
            (least, most) in any::<(Option<u64>, Option<u64>)>(),
            number in any::<u64>(),
        ) {
            let written = |end: Option<u64>| end.map_or(String::new(), |end| end.to_string());
            let range = format!("{}..{}", written(least), written(most));
            let is_empty = least.unwrap_or(0) > most.unwrap_or(u64::MAX);
            let limits = Limits::parse(&range);
            prop_assert_eq!(limits.is_none(), is_empty);
            let includes = least.unwrap_or(0) <= number && number <= most.unwrap_or(u64::MAX);
            prop_assert_eq!(limits.is_some_and(|limits| limits.include(number)), includes);
            prop_assert_eq!(Limits::parse(&number.to_string()), Some(Limits { least: number, most: number }));
        }

        #[test]
        fn any_text_is_read_or_refused_with_a_sentence(
            text in "(allreduce|ranks|bytes|ring|[0-9]|[a-z.=,# \n-]){0,40}",
        ) {
            if let Err(error) = Overrides::parse(&text) {
                prop_assert!(!error.text().is_empty());
            }
        }
    }

    #[test]
    fn an_override_holds_on_the_kind_of_communicator_that_it_names() {
        let overrides = Overrides::parse("inter-allreduce=binomial").expect("both are known");
        let shape = allreduce(4, 8);
        assert_eq!(select(&shape, &overrides).name(), "node-flat");
        let between = Shape { remote_ranks: 3, received: 8, ..shape };
        assert_eq!(select(&between, &overrides).name(), "binomial");
        assert_eq!(select(&between, &Overrides::default()).name(), "node-flat");
    }

    #[test]
    fn without_reductions_nothing_that_is_preferred_changes_a_bracket() {
        for collective in Collective::ALL.iter().copied() {
            for (ranks, remote_ranks) in [(2, 0), (5, 0), (64, 0), (3, 4)] {
                for bytes in [8, 4096, 1 << 20] {
                    let shape = Shape::of(collective, ranks, bytes);
                    let shape =
                        Shape { remote_ranks, received: bytes.min(u64::from(remote_ranks) * bytes), ..shape };
                    for algorithm in candidates(&shape) {
                        let usual = select(&shape, &Overrides::default());
                        let before = if remote_ranks == 0 { "" } else { BETWEEN };
                        let text = format!("{before}{}={}", collective.name(), algorithm.name());
                        let overrides = Overrides::parse(&text).expect("it is known").without_reductions();
                        let is_kept = std::ptr::eq(select(&shape, &overrides), usual);
                        assert!(is_kept || !collective.info().is_reduction(), "{text}: {shape:?}");
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_choice_depends_on_the_shape_alone_and_all_ranks_declare_the_same_lines(
            kind in 0..Collective::ALL.len(),
            ranks in 1..=128u32,
            bytes in prop_oneof![0..1000u64, 0..10_000_000u64],
            (commutative, node) in any::<(bool, bool)>(),
            in_place in any::<(bool, bool)>(),
        ) {
            let collective = Collective::ALL[kind];
            let bytes = if collective.info().moves_data() { bytes } else { 0 };
            let nodes = if node { Nodes::One } else { Nodes::APART };
            let shape = Shape { unit: 4, commutative, nodes, ..Shape::of(collective, ranks, bytes * 4) };
            let chosen = select(&shape, &Overrides::default());
            prop_assert!(chosen.admits(&shape));
            prop_assert!(std::ptr::eq(chosen, select(&shape.clone(), &Overrides::default())));
            let first = chosen.plan(&shape, 0, in_place.0);
            let last = chosen.plan(&shape, ranks - 1, in_place.1);
            prop_assert_eq!(&first.lines, &last.lines);
            let slots = first.lines.iter().map(|line| line.slot_bytes * u64::from(line.depth)).sum::<u64>();
            prop_assert!(slots <= 2 * SLOT_BUDGET_BYTES, "{chosen:?} declares {slots} bytes of slots");
        }
    }

    proptest! {
        /// What was given up for something better at one length is not taken again at a greater one.
        #[test]
        fn the_choice_does_not_flip_back_and_forth(
            kind in 0..Collective::ALL.len(),
            ranks in 1..=1000u32,
            commutative in any::<bool>(),
            per_node in prop_oneof![Just(0u32), 1..=64u32],
            step in 101..200u64,
        ) {
            let collective = Collective::ALL[kind];
            let nodes = if per_node == 0 { Nodes::One } else { Nodes::Regular { per_node } };
            let unit = if collective.info().is_reduction() { 8 } else { 1 };
            let mut before: Vec<&str> = Vec::new();
            let mut bytes = 8u64;
            while collective.info().moves_data() && bytes < 64 << 20 {
                let shape = Shape { unit, commutative, nodes, ..Shape::of(collective, ranks, bytes) };
                let name = select(&shape, &Overrides::default()).name();
                let last = candidates(&shape).iter().find(|one| before.last() == Some(&one.name()));
                if last.is_some_and(|last| !last.admits(&shape)) {
                    before.clear(); // it had to be given up
                }
                if before.last() != Some(&name) {
                    prop_assert!(!before.contains(&name), "{name} comes back at {bytes} bytes: {before:?}");
                    before.push(name);
                }
                bytes = (bytes * step / 100 + 8) / 8 * 8;
            }
        }
    }

    #[test]
    fn unknown_names_are_errors_that_name_the_known_ones() {
        let text = |input: &str| Overrides::parse(input).expect_err("it is wrong").text().to_owned();
        assert!(text("allreduce=rign").contains("recursive-doubling"));
        assert!(text("alreduce=ring").contains("allreduce"));
        assert!(text("inter-allreduce=ring").contains("those of inter-allreduce are node-flat"));
        assert!(text("ring").contains("collective=algorithm"));
        assert!(text("=ring").contains("known are allgather"));
        assert!(text("allreduce rank 4=ring").contains("'ranks' or 'bytes'"));
        for range in ["", "4..3", "1,000", "-1", "4...5", "..x"] {
            assert!(text(&format!("allreduce ranks {range}=ring")).contains("allreduce ranks"), "{range}");
        }
    }
}
