//! Which ranks share memory: a map from the ranks of a group to nodes.
//!
//! Nodes are numbered in the order of their lowest ranks, their *leaders*; a rank's *place* counts the ranks of its
//! node below it. So all processes that know the same map know the same numbers.
//!
//! A [`Nodes`] is a word and a pointer, copied and compared without looking at the map, because it is part of
//! every [`Shape`](crate::Shape), and so of the key of every call. Maps without a rule are kept for as long as the
//! process runs, each once: see [`NodeMap`].

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, OnceLock, PoisonError};

use oxmpi_base::Ordered;

use crate::crossing::{Counted, Crossing, Round};

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nodes {
    /// All ranks share memory.
    One,
    /// Rank `r` is on node `r / per_node`; the last node may have fewer ranks.
    Regular {
        /// Ranks of a node; at least 1.
        per_node: u32,
    },
    /// Any other map.
    Irregular(NodeMap),
}

/// A map from ranks to nodes that follows no rule.
///
/// Equal maps are the same memory, which is never given back: so it is copied as a pointer, and compared as one. What a
/// program can leave behind are 12 bytes a rank for each *different* division of ranks that it has ever had
/// communicators for; those of one node, and those whose nodes have equal numbers of consecutive ranks, are none.
#[derive(Clone, Copy)]
pub struct NodeMap(&'static Map);

#[derive(Debug)]
struct Map {
    /// The node of each rank.
    node_of: Box<[u32]>,
    /// The ranks of all nodes, node after node.
    members: Box<[u32]>,
    /// Where those of each node begin, and where the last ones end.
    begins: Box<[u32]>,
    digest: u64,
    /// [`Nodes::as_ranges`], once somebody has asked.
    ranges: OnceLock<Nodes>,
    /// [`Nodes::of_ranges`], the same way.
    of_ranges: OnceLock<Nodes>,
    /// What [`NodeMap::crossing`] has found.
    counted: Counted,
}

impl Nodes {
    /// No two ranks share memory.
    pub const APART: Self = Self::Regular { per_node: 1 };

    /// The map in which ranks with equal labels share a node, whatever the labels.
    pub fn of(labels: &[u32]) -> Self {
        let node_of = in_order(labels);
        let nodes = node_of.iter().max().map_or(1, |last| last + 1);
        if nodes == 1 {
            return Self::One;
        }
        let per_node = node_of.iter().take_while(|&&node| node == 0).count() as u32;
        let is_regular = (0..).zip(&node_of).all(|(rank, &node): (u32, _)| node == rank / per_node);
        if is_regular { Self::Regular { per_node } } else { Self::Irregular(NodeMap::interned(node_of)) }
    }

    /// How many nodes `ranks` ranks have, which are all ranks of the map.
    #[inline]
    pub fn count(&self, ranks: u32) -> u32 {
        match *self {
            Self::One => 1,
            Self::Regular { per_node } => ranks.div_ceil(per_node),
            Self::Irregular(NodeMap(map)) => map.begins.len() as u32 - 1,
        }
    }

    /// The node of `rank`.
    #[inline]
    pub fn node_of(&self, rank: u32) -> u32 {
        match *self {
            Self::One => 0,
            Self::Regular { per_node } => rank / per_node,
            Self::Irregular(NodeMap(map)) => map.node_of[rank as usize],
        }
    }

    /// The ranks of a node, of `ranks` ranks in all.
    pub fn ranks_of(&self, node: u32, ranks: u32) -> Members {
        let (list, first, end) = match *self {
            Self::One => (None, 0, ranks),
            Self::Regular { per_node } => {
                let begin = node * per_node;
                (None, begin, begin.saturating_add(per_node).min(ranks))
            }
            Self::Irregular(NodeMap(map)) => {
                (Some(&*map.members), map.begins[node as usize], map.begins[node as usize + 1])
            }
        };
        Members { list, begin: first, end }
    }

    /// The lowest rank of a node.
    #[inline]
    pub fn leader(&self, node: u32) -> u32 {
        match *self {
            Self::One => 0,
            Self::Regular { per_node } => node * per_node,
            Self::Irregular(NodeMap(map)) => map.members[map.begins[node as usize] as usize],
        }
    }

    /// How many ranks of the node of `rank` are below it.
    pub fn place(&self, rank: u32) -> u32 {
        match *self {
            Self::One => rank,
            Self::Regular { per_node } => rank % per_node,
            Self::Irregular(_) => self.ranks_of(self.node_of(rank), 0).place(rank),
        }
    }

    /// Whether two ranks share memory.
    #[inline]
    pub fn shares(&self, a: u32, b: u32) -> bool {
        self.node_of(a) == self.node_of(b)
    }

    /// The same map with every node cut into ranges of consecutive ranks, each of which counts as a node: for what
    /// must be combined in the order of ranks.
    pub fn as_ranges(&self) -> Self {
        let Self::Irregular(NodeMap(map)) = *self else { return *self };
        *map.ranges.get_or_init(|| {
            let mut range = 0;
            let mut before = 0;
            let mut next = |&node: &u32| {
                range += u32::from(node != std::mem::replace(&mut before, node));
                range
            };
            Self::of(&map.node_of.iter().map(&mut next).collect::<Vec<_>>())
        })
    }

    /// The nodes of the ranges of [`as_ranges`](Self::as_ranges), of which several may be on one; where there is a
    /// rule, each is on its own.
    pub(crate) fn of_ranges(&self) -> Self {
        let Self::Irregular(NodeMap(map)) = *self else { return Self::APART };
        *map.of_ranges.get_or_init(|| {
            let is_first = |&rank: &usize| rank == 0 || map.node_of[rank] != map.node_of[rank - 1];
            let firsts = (0..map.node_of.len()).filter(is_first);
            Self::of(&firsts.map(|rank| map.node_of[rank]).collect::<Vec<_>>())
        })
    }

    /// The most ranks that a node has, of `ranks` ranks in all.
    pub fn largest(&self, ranks: u32) -> u32 {
        match *self {
            Self::One => ranks,
            Self::Regular { per_node } => per_node.min(ranks),
            Self::Irregular(NodeMap(map)) => {
                map.begins.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0)
            }
        }
    }

    /// The fewest ranks that a node has, of `ranks` ranks in all.
    pub(crate) fn smallest(&self, ranks: u32) -> u32 {
        match *self {
            Self::Regular { per_node } if !ranks.is_multiple_of(per_node) => ranks % per_node,
            Self::Irregular(NodeMap(map)) => {
                map.begins.windows(2).map(|ends| ends[1] - ends[0]).min().unwrap_or(1)
            }
            _ => self.largest(ranks),
        }
    }

    /// A number that is the same for the same map in every process, and hardly for any other.
    pub fn digest(&self) -> u64 {
        match *self {
            Self::One => 0,
            Self::Regular { per_node } => per_node.into(),
            Self::Irregular(NodeMap(map)) => map.digest,
        }
    }
}

impl NodeMap {
    /// How many messages of a round go from node to node.
    pub(crate) fn crossing(&self, round: Round) -> Crossing {
        self.0.counted.crossing(round, &self.0.node_of)
    }

    /// The one map with these nodes, which are numbered in order.
    fn interned(node_of: Vec<u32>) -> Self {
        static KNOWN: Mutex<Ordered<u64, Vec<&'static Map>>> = Mutex::new(Ordered::new());
        let digest = node_of.iter().fold(node_of.len() as u64, |sum, &node| mixed(sum, node.into()));
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let alike = known.get_or_default(digest);
        if let Some(map) = alike.iter().find(|map| *map.node_of == *node_of) {
            return Self(map);
        }
        let map: &'static Map = Box::leak(Box::new(Map::new(node_of, digest)));
        alike.push(map);
        Self(map)
    }
}

impl Map {
    fn new(node_of: Vec<u32>, digest: u64) -> Self {
        let nodes = node_of.iter().max().map_or(0, |last| *last as usize + 1);
        let mut begins = vec![0; nodes + 1];
        node_of.iter().for_each(|&node| begins[node as usize + 1] += 1);
        (1..=nodes).for_each(|node| begins[node] += begins[node - 1]);
        let mut next = begins.clone();
        let mut members = vec![0; node_of.len()];
        for (rank, &node) in (0..).zip(&node_of) {
            let place = &mut next[node as usize];
            members[*place as usize] = rank;
            *place += 1;
        }
        Self {
            node_of: node_of.into(),
            members: members.into(),
            begins: begins.into(),
            digest,
            ranges: OnceLock::new(),
            of_ranges: OnceLock::new(),
            counted: Counted::default(),
        }
    }
}

impl PartialEq for NodeMap {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for NodeMap {}

impl Hash for NodeMap {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.digest.hash(state);
    }
}

impl fmt::Debug for NodeMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.node_of.iter()).finish()
    }
}

/// The ranks of a node, in ascending order: [`Nodes::ranks_of`].
#[derive(Clone, Copy, Debug)]
pub struct Members {
    /// All ranks in the order of nodes; where there is none, they are in order anyway.
    list: Option<&'static [u32]>,
    begin: u32,
    end: u32,
}

impl Members {
    /// The rank at `place`.
    ///
    /// # Panics
    /// If the node has not as many ranks.
    #[inline]
    pub fn at(&self, place: u32) -> u32 {
        assert!(place < self.end - self.begin, "place {place} of {self:?}");
        let index = self.begin + place;
        self.list.map_or(index, |list| list[index as usize])
    }

    /// The place of `rank`, which is on the node.
    fn place(&self, rank: u32) -> u32 {
        match self.list {
            None => rank - self.begin,
            Some(list) => {
                list[self.begin as usize..self.end as usize].partition_point(|&member| member < rank) as u32
            }
        }
    }
}

impl Iterator for Members {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let rank = (self.begin < self.end).then(|| self.at(0))?;
        self.begin += 1;
        Some(rank)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end.saturating_sub(self.begin) as usize;
        (left, Some(left))
    }
}

impl DoubleEndedIterator for Members {
    fn next_back(&mut self) -> Option<u32> {
        let rank = (self.begin < self.end).then(|| self.at(self.end - self.begin - 1))?;
        self.end -= 1;
        Some(rank)
    }
}

impl ExactSizeIterator for Members {}

/// The same division with nodes numbered in the order of their lowest ranks.
fn in_order(labels: &[u32]) -> Vec<u32> {
    let mut numbers = Ordered::new();
    let mut number = |label: u32| {
        let next = numbers.len() as u32;
        *numbers.get_or_insert_with(label, || next)
    };
    labels.iter().map(|&label| number(label)).collect()
}

/// `sum` and `value` as one number.
fn mixed(sum: u64, value: u64) -> u64 {
    let mut state = (sum.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ state >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    state ^ state >> 29
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn maps_that_follow_a_rule_are_recognized_by_any_labels() {
        assert_eq!(Nodes::of(&[7, 7, 7]), Nodes::One);
        assert_eq!(Nodes::of(&[]), Nodes::One);
        assert_eq!(Nodes::of(&[5, 5, 2, 2, 9]), Nodes::Regular { per_node: 2 });
        assert_eq!(Nodes::of(&[3, 2, 1, 0]), Nodes::APART);
        assert!(matches!(Nodes::of(&[0, 1, 1]), Nodes::Irregular(_)));
        assert!(matches!(Nodes::of(&[0, 1, 0, 1]), Nodes::Irregular(_)));
    }

    #[test]
    fn ranges_are_where_their_ranks_are() {
        assert_eq!(Nodes::of(&[0, 1, 1, 0]).of_ranges(), Nodes::of(&[0, 1, 0]));
        assert_eq!(Nodes::of(&[0, 1, 1]).of_ranges(), Nodes::APART);
    }

    #[test]
    fn equal_divisions_are_the_same_map() {
        let [one, other, third] = [[0, 1, 0, 1], [9, 4, 9, 4], [0, 1, 1, 0]].map(|labels| Nodes::of(&labels));
        assert_eq!(one, other);
        assert_eq!(one.digest(), other.digest());
        assert_ne!(one, third);
        assert_ne!(one.digest(), third.digest());
    }

    #[test]
    fn ranges_are_cut_where_the_node_changes() {
        let ranges = |labels: &[u32]| Nodes::of(labels).as_ranges();
        assert_eq!(ranges(&[0, 1, 0, 1]), Nodes::APART);
        assert_eq!(ranges(&[0, 0, 1, 1, 0, 0]), Nodes::Regular { per_node: 2 });
        assert_eq!(ranges(&[0, 1, 1, 0]), Nodes::of(&[0, 1, 1, 2]));
        assert_eq!(ranges(&[0, 1, 1]), Nodes::of(&[0, 1, 1]));
        assert_eq!(ranges(&[0, 0, 1]), Nodes::Regular { per_node: 2 });
    }

    fn check(nodes: Nodes, ranks: u32) {
        let mut seen = 0;
        let mut largest = 0;
        for node in 0..nodes.count(ranks) {
            let members = nodes.ranks_of(node, ranks);
            assert_eq!(members.at(0), nodes.leader(node), "{nodes:?}");
            assert!(node == 0 || nodes.leader(node - 1) < nodes.leader(node), "{nodes:?}");
            largest = largest.max(members.len() as u32);
            for (place, rank) in (0..).zip(members) {
                assert_eq!((nodes.node_of(rank), nodes.place(rank), members.at(place)), (node, place, rank));
                seen += 1;
            }
            assert!(members.is_sorted() && members.rev().eq(members.collect::<Vec<_>>().into_iter().rev()));
        }
        assert_eq!((seen, largest), (ranks, nodes.largest(ranks)), "{nodes:?}");
    }

    proptest! {
        #[test]
        fn every_rank_has_one_node_and_one_place(
            labels in prop::collection::vec(0..6u32, 1..40),
            per_node in 1..8u32,
        ) {
            let ranks = labels.len() as u32;
            let nodes = Nodes::of(&labels);
            check(nodes, ranks);
            check(Nodes::Regular { per_node }, ranks);
            check(Nodes::One, ranks);
            for (a, &label) in (0..).zip(&labels) {
                for (b, &other) in (0..).zip(&labels) {
                    prop_assert_eq!(nodes.shares(a, b), label == other);
                }
            }
        }
    }
}
