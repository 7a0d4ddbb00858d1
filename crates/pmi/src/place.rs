//! Who a process is among all of its job, and which of them share a node.

use std::cmp::Ordering;

/// Who a process is, and where the others are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its rank in the job, of [`Place::size`].
    pub rank: u32,
    /// Where all ranks are.
    pub nodes: NodeMap,
}

/// Which ranks of a job share a node.
///
/// Nodes are numbered in the order of their lowest ranks. Costs 4 bytes a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeMap {
    node_of: Box<[u32]>,
    count: u32,
}

impl Place {
    /// Processes of the job.
    pub fn size(&self) -> u32 {
        self.nodes.ranks()
    }

    /// The node of this process.
    pub fn node(&self) -> u32 {
        self.nodes.node_of(self.rank)
    }

    /// How many ranks of its node are below it: its seat in the node's memory.
    pub fn local_rank(&self) -> u32 {
        self.nodes.local_rank(self.rank)
    }

    /// Processes on its node.
    pub fn local_size(&self) -> u32 {
        u32::try_from(self.nodes.ranks_of(self.node()).count()).expect("there are no more ranks")
    }
}

impl NodeMap {
    /// The map in which ranks with equal labels share a node, whatever the labels.
    pub fn of<L: Ord>(labels: impl IntoIterator<Item = L>) -> Self {
        let labels: Box<[L]> = labels.into_iter().collect();
        Self::numbered(labels.len(), &|left, right| labels[left].cmp(&labels[right]))
    }

    /// That in which ranks that are equal share a node: what is known of labels, so that its code is there once.
    fn numbered(ranks: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Self {
        let mut node_of: Vec<u32> = Vec::with_capacity(ranks);
        // Of each node, in the order of labels.
        let mut firsts = Vec::new();
        for rank in 0..ranks {
            let node = match firsts.binary_search_by(|&first| compare(first, rank)) {
                Ok(place) => node_of[firsts[place]],
                Err(place) => {
                    firsts.insert(place, rank);
                    u32::try_from(firsts.len() - 1).expect("there are no more ranks")
                }
            };
            node_of.push(node);
        }
        let count = u32::try_from(firsts.len()).expect("there are no more ranks");
        Self { node_of: node_of.into(), count }
    }

    /// All on one node.
    pub fn one(ranks: u32) -> Self {
        Self { node_of: vec![0; ranks as usize].into(), count: ranks.min(1) }
    }

    /// All ranks.
    pub fn ranks(&self) -> u32 {
        u32::try_from(self.node_of.len()).expect("checked when it was made")
    }

    /// The nodes.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The node of each rank.
    pub fn labels(&self) -> &[u32] {
        &self.node_of
    }

    /// The node of a rank.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn node_of(&self, rank: u32) -> u32 {
        self.node_of[rank as usize]
    }

    /// The first rank of each node; looks at all ranks.
    pub fn firsts(&self) -> impl Iterator<Item = u32> {
        let ranks = (0..).zip(&self.node_of);
        // That is how they are numbered.
        ranks.scan(0, |next, (rank, &node)| Some((node == *next).then(|| (*next += 1, rank).1))).flatten()
    }

    /// The ranks of a node, in their order; looks at all ranks.
    pub fn ranks_of(&self, node: u32) -> impl Iterator<Item = u32> {
        (0..).zip(&self.node_of).filter(move |(_, its)| **its == node).map(|(rank, _)| rank)
    }

    /// How many ranks of the node of `rank` are below it; looks at all of these.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn local_rank(&self, rank: u32) -> u32 {
        let node = self.node_of(rank);
        let below = self.node_of[..rank as usize].iter().filter(|&&its| its == node);
        u32::try_from(below.count()).expect("there are no more ranks")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_in_the_order_of_their_lowest_ranks() {
        let nodes = NodeMap::of(["b", "a", "b", "c", "a"]);
        assert_eq!(nodes.labels(), [0, 1, 0, 2, 1]);
        assert_eq!((nodes.count(), nodes.ranks()), (3, 5));
        assert_eq!(nodes.ranks_of(1).collect::<Vec<_>>(), [1, 4]);
        assert_eq!(nodes.firsts().collect::<Vec<_>>(), [0, 1, 3]);
        let place = Place { rank: 4, nodes };
        assert_eq!((place.node(), place.local_rank(), place.local_size(), place.size()), (1, 1, 2, 5));
    }

    #[test]
    fn one_node_has_all_ranks() {
        let nodes = NodeMap::one(3);
        assert_eq!((nodes.count(), nodes.ranks_of(0).count(), nodes.local_rank(2)), (1, 3, 2));
    }
}
