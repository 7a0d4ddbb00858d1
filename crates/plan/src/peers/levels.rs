//! Two levels: the ranks of each node, and one rank of each that leads it.
//!
//! A node is led by its lowest rank, but that of the root by the root, so that nothing is passed on for nothing.

use crate::{Members, Nodes, Shape};

/// Who is where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    nodes: Nodes,
    ranks: u32,
    root: Option<u32>,
}

impl Levels {
    /// The levels of a collective of one group. Where contributions are combined in the order of ranks, nodes are
    /// ranges of ranks: one that is scattered counts as several.
    pub(crate) fn of(shape: &Shape) -> Self {
        let info = shape.collective.info();
        let is_ordered = info.is_reduction() && (!shape.commutative || !info.is_from_all());
        let nodes = if is_ordered { shape.nodes.as_ranges() } else { shape.nodes };
        let root = info.is_rooted().then(|| shape.root.rank());
        Self { nodes, ranks: shape.ranks, root }
    }

    /// Whether there are two: some ranks share memory, and some do not.
    pub(crate) fn are_two(shape: &Shape) -> bool {
        !shape.is_between() && !shape.shares_memory() && {
            let levels = Self::of(shape);
            levels.count() < shape.ranks
        }
    }

    /// Number of nodes.
    pub(crate) fn count(&self) -> u32 {
        self.nodes.count(self.ranks)
    }

    /// The most ranks of a node.
    pub(crate) fn largest(&self) -> u32 {
        self.nodes.largest(self.ranks)
    }

    /// The most ranks that another node than that of the root, or the first, has.
    pub(crate) fn largest_other(&self) -> u32 {
        self.largest_others()[0]
    }

    /// The same but for that node; 0 if there is no other.
    pub(crate) fn second_largest_other(&self) -> u32 {
        self.largest_others()[1]
    }

    /// The numbers of ranks of the two largest nodes beside that of the root, or the first.
    fn largest_others(&self) -> [u32; 2] {
        let ranks_of = |node| self.members(node).len() as u32;
        match self.nodes {
            Nodes::Irregular(_) => {
                let others = (0..self.count()).filter(|&node| node != self.first());
                others.map(ranks_of).fold([0, 0], |[most, second], ranks| {
                    if ranks > most { [ranks, most] } else { [most, second.max(ranks)] }
                })
            }
            // All are alike, but for the last one.
            _ if self.count() == 2 => [ranks_of(1 - self.first()), 0],
            _ if self.count() == 3 && self.first() < 2 => [self.largest(), ranks_of(2)],
            _ => [self.largest(); 2],
        }
    }

    /// The most ranks that one of the nodes below `node` has.
    pub(crate) fn largest_before(&self, node: u32) -> u32 {
        match self.nodes {
            Nodes::Irregular(_) => (0..node).map(|node| self.members(node).len() as u32).max().unwrap_or(0),
            _ => self.largest(),
        }
    }

    /// The fewest ranks of a node.
    pub(crate) fn smallest(&self) -> u32 {
        self.nodes.smallest(self.ranks)
    }

    /// The node of `rank`.
    pub(crate) fn node(&self, rank: u32) -> u32 {
        self.nodes.node_of(rank)
    }

    /// The ranks of a node.
    pub(crate) fn members(&self, node: u32) -> Members {
        self.nodes.ranks_of(node, self.ranks)
    }

    /// The ranks of the node of `rank`.
    pub(crate) fn fellows(&self, rank: u32) -> Members {
        self.members(self.node(rank))
    }

    /// The place of `rank` among those of its node.
    pub(crate) fn place(&self, rank: u32) -> u32 {
        self.nodes.place(rank)
    }

    /// Who leads a node.
    pub(crate) fn leader(&self, node: u32) -> u32 {
        match self.root {
            Some(root) if self.node(root) == node => root,
            _ => self.nodes.leader(node),
        }
    }

    /// Whether `rank` leads its node.
    pub(crate) fn leads(&self, rank: u32) -> bool {
        self.leader(self.node(rank)) == rank
    }

    /// The place of who leads the node of `rank`.
    pub(crate) fn place_of_leader(&self, rank: u32) -> u32 {
        self.place(self.leader(self.node(rank)))
    }

    /// The node of the root, or the first.
    pub(crate) fn first(&self) -> u32 {
        self.root.map_or(0, |root| self.node(root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collective, Root};

    #[test]
    fn the_root_leads_its_node_and_the_lowest_rank_any_other() {
        let nodes = Nodes::of(&[0, 1, 0, 1, 2]);
        let shape = Shape { nodes, ..Shape::of(Collective::Bcast, 5, 8) }.rooted(Root::Rank(3));
        let levels = Levels::of(&shape);
        assert!(Levels::are_two(&shape));
        let leaders: Vec<_> = (0..levels.count()).map(|node| levels.leader(node)).collect();
        assert_eq!(leaders, [0, 3, 4]);
        assert_eq!((levels.first(), levels.place_of_leader(1), levels.leads(1)), (1, 1, false));
        assert_eq!((levels.largest(), levels.largest_other(), levels.smallest()), (2, 2, 1));
        let nodes = Nodes::Regular { per_node: 3 };
        let levels = |root| Levels::of(&Shape { nodes, ..Shape::of(Collective::Bcast, 5, 8) }.rooted(root));
        assert_eq!([0, 4].map(|root| levels(Root::Rank(root)).largest_other()), [2, 3]);
    }

    #[test]
    fn what_is_ordered_sees_ranges() {
        let nodes = Nodes::of(&[0, 0, 1, 1, 0]);
        let shape = Shape { nodes, ..Shape::of(Collective::Allreduce, 5, 8) };
        assert_eq!(Levels::of(&shape).count(), 2);
        assert_eq!(Levels::of(&Shape { commutative: false, ..shape }).count(), 3);
        assert_eq!(Levels::of(&Shape { collective: Collective::Scan, ..shape }).count(), 3);
        let scattered = Shape { nodes: Nodes::of(&[0, 1, 0, 1, 0]), commutative: false, ..shape };
        assert!(!Levels::are_two(&scattered));
    }
}
