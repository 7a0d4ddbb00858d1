//! The ranks of one node stand for those of all, where plans look the same from every node.

use super::program::{Kind, Op, append};
use crate::{Algorithm, Nodes, Shape};

/// Which ranks are walked, and how those that stand for others see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fold {
    /// Ranks in all.
    ranks: u32,
    /// Those that are walked: the first ones.
    pub(super) walked: u32,
    likeness: Likeness,
}

/// In what the plans of ranks at the same place of their nodes are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    /// Peers are as many ranks further on, around the ring of all ranks.
    Shifted,
    /// The numbers of peers differ in the same bits.
    Mirrored,
}

/// The ranks whose plans are compared.
const SAMPLES: u32 = 24;

impl Fold {
    /// Every rank is walked.
    pub(super) fn none(ranks: u32) -> Self {
        Self { ranks, walked: ranks, likeness: Likeness::Shifted }
    }

    /// How ranks can be folded, if they can: as far as a sample of them shows.
    pub(super) fn of(shape: &Shape, algorithm: &Algorithm) -> Option<Self> {
        let ranks = shape.ranks;
        let Nodes::Regular { per_node } = shape.nodes else { return None };
        if per_node >= ranks || !ranks.is_multiple_of(per_node) {
            return None;
        }
        let folds = [Likeness::Shifted, Likeness::Mirrored].map(|likeness| Self {
            ranks,
            walked: per_node,
            likeness,
        });
        let ops = |rank| {
            let mut ops = Vec::new();
            append(&mut ops, &algorithm.plan(shape, rank, false));
            ops
        };
        // Spread over all nodes and places, the last rank among them.
        let samples = (1..=SAMPLES)
            .map(|index| (u64::from(index) * u64::from(ranks)).div_ceil(SAMPLES.into()) as u32 - 1);
        let samples: Vec<_> = samples.chain([per_node, 2 * per_node - 1]).collect();
        folds.into_iter().find(|fold| {
            (fold.likeness == Likeness::Shifted || ranks.is_power_of_two() && per_node.is_power_of_two())
                && samples.iter().all(|&rank| {
                    let place = rank % per_node;
                    let (one, other) = (ops(place), ops(rank));
                    one.len() == other.len()
                        && one
                            .iter()
                            .zip(&other)
                            .all(|(one, other)| fold.described(place, one) == fold.described(rank, other))
                })
        })
    }

    /// An action of `rank`, its peer told by where it is from there.
    fn described(self, rank: u32, op: &Op) -> Op {
        match op.kind {
            Kind::Await | Kind::Copy | Kind::Post | Kind::Reduce => *op,
            _ => Op { peer: self.seen_from(rank, op.peer), ..*op },
        }
    }

    /// Where `to` is, seen from `from`.
    fn seen_from(self, from: u32, to: u32) -> u32 {
        match self.likeness {
            Likeness::Shifted => {
                ((u64::from(to) + u64::from(self.ranks) - u64::from(from)) % u64::from(self.ranks)) as u32
            }
            Likeness::Mirrored => from ^ to,
        }
    }

    /// The walked rank that stands for `rank`.
    pub(super) fn walked_for(self, rank: u32) -> u32 {
        if self.walked == self.ranks { rank } else { rank % self.walked }
    }

    /// What messages from one rank to another are filed under.
    pub(super) fn pair(self, from: u32, to: u32) -> (u32, u32) {
        if self.walked == self.ranks { (from, to) } else { (self.seen_from(from, to), self.walked_for(to)) }
    }
}
