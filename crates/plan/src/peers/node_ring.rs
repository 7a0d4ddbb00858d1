//! A ring that passes through all ranks of a node before it goes on to the next one, so that it leaves each node once.
//!
//! Where nodes are ranges of ranks that is the order of ranks; where they are not, the order of nodes.

use crate::Nodes;
use crate::peers::ring;

/// The ring as one of its ranks sees it.
pub(crate) struct NodeRing {
    /// The ranks in the order of the ring; none where that is theirs.
    order: Vec<u32>,
    ranks: u32,
    place: u32,
}

impl NodeRing {
    /// The ring of `ranks` ranks on `nodes`, seen from `rank`.
    pub(crate) fn new(nodes: Nodes, rank: u32, ranks: u32) -> Self {
        let Nodes::Irregular(_) = nodes else { return Self { order: Vec::new(), ranks, place: rank } };
        let order: Vec<u32> = (0..nodes.count(ranks)).flat_map(|node| nodes.ranks_of(node, ranks)).collect();
        let place = order.iter().position(|&other| other == rank).expect("every rank is on a node");
        Self { order, ranks, place: place as u32 }
    }

    /// The rank that many places before this one.
    pub(crate) fn before(&self, distance: u32) -> u32 {
        self.at(ring::before(self.place, distance, self.ranks))
    }

    /// The next rank.
    pub(crate) fn next(&self) -> u32 {
        self.at(ring::after(self.place, 1, self.ranks))
    }

    fn at(&self, place: u32) -> u32 {
        self.order.get(place as usize).copied().unwrap_or(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_leaves_each_node_once_and_passes_through_every_rank() {
        for labels in [&[0, 1, 0, 1, 2][..], &[0, 0, 1, 1], &[3, 1, 2], &[0, 1, 1, 0, 0, 2, 1]] {
            let (nodes, ranks) = (Nodes::of(labels), labels.len() as u32);
            let mut left = 0;
            for rank in 0..ranks {
                let own = NodeRing::new(nodes, rank, ranks);
                let next = own.next();
                assert_eq!(NodeRing::new(nodes, next, ranks).before(1), rank);
                left += u32::from(!nodes.shares(rank, next));
                let mut all: Vec<u32> = (0..ranks).map(|distance| own.before(distance)).collect();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..ranks));
            }
            assert_eq!(left, nodes.count(ranks), "{labels:?}");
        }
    }
}
