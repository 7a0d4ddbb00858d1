//! Which algorithm a shape gets: the cheapest admissible one, unless an override names another.
//!
//! The choice depends on the shape (and the overrides, which must be equal on all ranks) alone.

use oxmpi_base::{Error, ErrorClass, Result};

use crate::{Algorithm, Collective, Plan, Shape};
use crate::{allgather, allreduce, alltoall, barrier, bcast, gather, reduce, scatter};

/// One of each collective, for looking them up by name.
const COLLECTIVES: [Collective; 8] = [
    Collective::Allgather,
    Collective::Allreduce,
    Collective::Alltoall,
    Collective::Barrier,
    Collective::Bcast { root: 0 },
    Collective::Gather { root: 0 },
    Collective::Reduce { root: 0 },
    Collective::Scatter { root: 0 },
];

/// All algorithms of a collective, admissible or not, in a stable order.
pub fn candidates(collective: Collective) -> &'static [&'static Algorithm] {
    match collective {
        Collective::Allgather => allgather::ALGORITHMS,
        Collective::Allreduce => allreduce::ALGORITHMS,
        Collective::Alltoall => alltoall::ALGORITHMS,
        Collective::Barrier => barrier::ALGORITHMS,
        Collective::Bcast { .. } => bcast::ALGORITHMS,
        Collective::Gather { .. } => gather::ALGORITHMS,
        Collective::Reduce { .. } => reduce::ALGORITHMS,
        Collective::Scatter { .. } => scatter::ALGORITHMS,
    }
}

/// The algorithm for `shape`: the one that `overrides` names, if it is admissible; else the cheapest.
pub fn select(shape: &Shape, overrides: &Overrides) -> &'static Algorithm {
    if let Some(named) = overrides.get(shape.collective).filter(|algorithm| algorithm.admits(shape)) {
        return named;
    }
    let admissible = candidates(shape.collective).iter().filter(|algorithm| algorithm.admits(shape));
    admissible
        .min_by(|one, other| one.cost_ns(shape).total_cmp(&other.cost_ns(shape)))
        .expect("every collective has an algorithm of messages that admits every shape")
}

/// The plan of `rank`, which works in place or not, by the algorithm for `shape`.
///
/// # Panics
/// If `rank` or the root is not below `shape.ranks`.
pub fn compile(shape: &Shape, rank: u32, in_place: bool, overrides: &Overrides) -> Plan {
    select(shape, overrides).plan(shape, rank, in_place)
}

/// Algorithms that somebody prefers to the cheapest.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    chosen: Vec<(&'static str, &'static Algorithm)>,
}

impl Overrides {
    /// Reads `collective=algorithm` pairs, separated by commas; of two for one collective the last one holds.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if a pair has no `=`, or names an unknown collective or algorithm; the text names
    /// the known ones.
    pub fn parse(text: &str) -> Result<Self> {
        let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
        let chosen = pairs.map(parse_pair).collect::<Result<_>>()?;
        Ok(Self { chosen })
    }

    /// What was chosen for `collective`, if anything.
    pub fn get(&self, collective: Collective) -> Option<&'static Algorithm> {
        let named = self.chosen.iter().rev().find(|(name, _)| *name == collective.name());
        named.map(|&(_, algorithm)| algorithm)
    }
}

fn parse_pair(pair: &str) -> Result<(&'static str, &'static Algorithm)> {
    let wrong = |text: String| Error::new(ErrorClass::Arg, text);
    let Some((collective, algorithm)) = pair.split_once('=') else {
        return Err(wrong(format!("'{pair}' is not of the form collective=algorithm")));
    };
    let Some(collective) = COLLECTIVES.iter().find(|known| known.name() == collective.trim()) else {
        let known = COLLECTIVES.map(|known| known.name()).join(", ");
        return Err(wrong(format!("'{pair}' names an unknown collective; known are {known}")));
    };
    let algorithms = candidates(*collective);
    let Some(&found) = algorithms.iter().find(|known| known.name() == algorithm.trim()) else {
        let known: Vec<_> = algorithms.iter().map(|known| known.name()).collect();
        let (known, collective) = (known.join(", "), collective.name());
        return Err(wrong(format!("'{pair}' names an unknown algorithm; those of {collective} are {known}")));
    };
    Ok((collective.name(), found))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::segment::SLOT_BUDGET_BYTES;

    fn allreduce(ranks: u32, bytes: u64, node: bool) -> Shape {
        Shape { collective: Collective::Allreduce, ranks, bytes, unit: 8, commutative: true, node }
    }

    #[test]
    fn short_vectors_are_combined_by_all_and_long_ones_in_slices() {
        let name = |ranks, bytes| select(&allreduce(ranks, bytes, true), &Overrides::default()).name();
        assert_eq!(name(2, 8), "node-flat");
        assert_eq!(name(4, 1024), "node-flat");
        assert_eq!(name(2, 1 << 20), "node-sliced");
        assert_eq!(name(4, 64 << 10), "node-sliced");
        assert_eq!(name(64, 8), "node-tree");
    }

    #[test]
    fn an_override_wins_where_it_is_admissible() {
        let overrides = Overrides::parse("allreduce=ring, bcast=binomial").expect("both are known");
        let mut shape = allreduce(4, 8, true);
        assert_eq!(select(&shape, &overrides).name(), "ring");
        shape.commutative = false;
        assert_eq!(select(&shape, &overrides).name(), "node-flat");
    }

    proptest! {
        #[test]
        fn the_choice_depends_on_the_shape_alone_and_all_ranks_declare_the_same_lines(
            kind in 0..COLLECTIVES.len(),
            ranks in 1..=128u32,
            bytes in prop_oneof![0..1000u64, 0..10_000_000u64],
            (commutative, node) in any::<(bool, bool)>(),
            in_place in any::<(bool, bool)>(),
        ) {
            let collective = COLLECTIVES[kind];
            let bytes = if collective == Collective::Barrier { 0 } else { bytes };
            let shape = Shape { collective, ranks, bytes: bytes * 4, unit: 4, commutative, node };
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

    #[test]
    fn unknown_names_are_errors_that_name_the_known_ones() {
        let text = |input| Overrides::parse(input).expect_err("it is wrong").text().to_owned();
        assert!(text("allreduce=rign").contains("recursive-doubling"));
        assert!(text("alreduce=ring").contains("allreduce"));
        assert!(text("ring").contains("collective=algorithm"));
    }
}
