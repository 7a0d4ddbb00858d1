//! How many messages of a round go from node to node: what decides how long the ports of nodes are busy.
//!
//! Where nodes have equal numbers of consecutive ranks that mostly follows from the distance. Where it does not, and
//! where ranks are placed without a rule, it is counted, once for each round and map, and kept.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::peers::circulant;

/// Messages that go from node to node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Crossing {
    /// All of them.
    pub(crate) all: u32,
    /// The most that a node sends, or receives.
    pub(crate) most: u32,
}

/// Who sends to whom at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Round {
    /// All ranks, to those that are so far away.
    Shift {
        /// In which direction.
        way: Way,
        /// How far.
        distance: u32,
    },
    /// A level of a k-nomial tree of places, which are counted from its root on: multiples of `arity * distance`, to
    /// those that are 1 to `arity - 1` distances further on.
    Level {
        /// `k`.
        arity: u32,
        /// From a child to the next one.
        distance: u32,
        /// The rank of the first place.
        root: u32,
    },
    /// Not messages, but in how many of the rounds over this distance, half of it, and so on, the longest path crosses.
    /// The path to a rank is its own one, or that of who sends to it.
    Path {
        /// In which direction.
        way: Way,
        /// How far in the last round.
        distance: u32,
    },
    /// Not messages, but in how many of the levels from the widest one to that over this distance the longest path from
    /// the root crosses, of those to so many first places.
    Descent {
        /// `k`.
        arity: u32,
        /// From a child to the next one, in the last level.
        distance: u32,
        /// The rank of the first place.
        root: u32,
        /// How many.
        places: u32,
    },
    /// All rounds of a circulant graph together, in which nobody sends to the root.
    Flow {
        /// Which rank.
        root: u32,
    },
    /// From the first of so many pairs of neighbours to the second.
    Fold {
        /// How many.
        pairs: u32,
    },
    /// All levels of a binomial tree together.
    Tree {
        /// The rank of the first place.
        root: u32,
    },
}

/// Where messages over a distance go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// So many ranks further on; the first rank comes after the last one.
    Around,
    /// To the rank whose number differs in this bit.
    Pairs,
    /// So many ranks further on, as far as there are ranks.
    Up,
}

impl Way {
    /// Who gets a message of `rank` over a distance.
    fn to(self, rank: usize, distance: usize, ranks: usize) -> Option<usize> {
        let to = match self {
            Self::Around => (rank + distance) % ranks,
            Self::Pairs => rank ^ distance,
            Self::Up => rank + distance,
        };
        (to < ranks).then_some(to)
    }
}

/// What was counted of a map.
#[derive(Debug, Default)]
pub(crate) struct Counted(Mutex<Known>);

/// What was counted of a round among so many ranks, so many on each node; both are 0 where the map says it.
type Known = BTreeMap<(u32, u32, Round), Crossing>;

impl Counted {
    /// How many messages of a round leave their nodes, where ranks are on these nodes.
    pub(crate) fn crossing(&self, round: Round, node_of: &[u32]) -> Crossing {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEPT {
            known.clear();
        }
        *known.entry((0, 0, round)).or_insert_with(|| count(round, node_of))
    }
}

/// How many messages of a round leave their nodes of `per_node` ranks.
pub(crate) fn of_regular(round: Round, ranks: u32, per_node: u32) -> Crossing {
    static KNOWN: Mutex<Known> = Mutex::new(Known::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= KEPT {
        known.clear();
    }
    let counted = || count(round, &(0..ranks).map(|rank| rank / per_node).collect::<Vec<_>>());
    *known.entry((ranks, per_node, round)).or_insert_with(counted)
}

/// As many are kept as a program has communicators and roots; more are counted again.
const KEPT: usize = 1024;

fn count(round: Round, node_of: &[u32]) -> Crossing {
    if let Round::Path { way, distance } = round {
        let all = paths(way, distance as usize, node_of).into_iter().max().unwrap_or(0);
        return Crossing { all, most: 0 };
    }
    if let Round::Descent { arity, distance, root, places } = round {
        let numbers = [arity, distance, root, places].map(|number| number as usize);
        return Crossing { all: descent(numbers, node_of), most: 0 };
    }
    let nodes = node_of.iter().max().map_or(0, |last| *last as usize + 1);
    let mut all = 0;
    let mut ports = vec![[0; 2]; nodes];
    for_each_message(round, node_of.len(), |from, to| {
        let [from, to] = [from, to].map(|rank| node_of[rank] as usize);
        if from != to {
            all += 1;
            ports[from][0] += 1;
            ports[to][1] += 1;
        }
    });
    let most = ports.iter().flatten().max().copied().unwrap_or(0);
    Crossing { all, most }
}

/// How often the longest path to each rank crosses, in rounds over `distance`, half of it, and so on.
fn paths(way: Way, distance: usize, node_of: &[u32]) -> Vec<u32> {
    if distance == 0 {
        return vec![0; node_of.len()];
    }
    let before = paths(way, distance / 2, node_of);
    let mut paths = before.clone();
    for (from, &crossings) in before.iter().enumerate() {
        if let Some(to) = way.to(from, distance, node_of.len()) {
            paths[to] = paths[to].max(crossings + u32::from(node_of[from] != node_of[to]));
        }
    }
    paths
}

/// How often the longest path from the root of a tree crosses, as far as it is one of multiples of a distance.
fn descent([arity, distance, root, places]: [usize; 4], node_of: &[u32]) -> u32 {
    let node_at = |place: usize| node_of[(place + root) % node_of.len()];
    let mut crossings = vec![0; places];
    for place in (distance..places).step_by(distance) {
        let width = std::iter::successors(Some(distance * arity), |width| Some(width * arity))
            .find(|width| !place.is_multiple_of(*width));
        let parent = width.map_or(0, |width| place - place % width);
        crossings[place] = crossings[parent] + u32::from(node_at(place) != node_at(parent));
    }
    crossings.into_iter().max().unwrap_or(0)
}

fn for_each_message(round: Round, ranks: usize, mut send: impl FnMut(usize, usize)) {
    match round {
        Round::Shift { way, distance } => {
            let to = |rank| way.to(rank, distance as usize, ranks);
            (0..ranks).filter_map(|rank| Some((rank, to(rank)?))).for_each(|(from, to)| send(from, to));
        }
        Round::Flow { root } => {
            let skips = circulant::skips(ranks as u32);
            for &skip in &skips[..skips.len() - 1] {
                let to = |rank| (rank + skip as usize) % ranks;
                let sends = |&rank: &usize| to(rank) != root as usize;
                (0..ranks).filter(sends).for_each(|rank| send(rank, to(rank)));
            }
        }
        Round::Level { arity, distance, root } => {
            let (arity, distance) = (arity as usize, distance as usize);
            let at = |place| (place + root as usize) % ranks;
            for parent in (0..ranks).step_by(arity * distance) {
                let children = (1..arity).map(|child| parent + child * distance);
                children.filter(|&child| child < ranks).for_each(|child| send(at(parent), at(child)));
            }
        }
        Round::Descent { .. } | Round::Path { .. } => {}
        Round::Fold { pairs } => (0..pairs as usize).for_each(|pair| send(2 * pair, 2 * pair + 1)),
        // A parent's number lacks the last bit of its child's.
        Round::Tree { root } => {
            let at = |place| (place + root as usize) % ranks;
            (1..ranks).for_each(|child| send(at(child & (child - 1)), at(child)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_stay_on_a_node_do_not_count() {
        let in_turn: Vec<u32> = (0..16).map(|rank| rank % 4).collect();
        let crossing = |round| count(round, &in_turn);
        assert_eq!(crossing(Round::Shift { way: Way::Around, distance: 1 }), Crossing { all: 16, most: 4 });
        assert_eq!(crossing(Round::Shift { way: Way::Around, distance: 4 }), Crossing::default());
        // From 0 4 8 12, all on one node, to 2 6 10 14.
        assert_eq!(crossing(Round::Level { arity: 2, distance: 2, root: 0 }), Crossing { all: 4, most: 4 });
        assert_eq!(crossing(Round::Level { arity: 4, distance: 4, root: 1 }), Crossing::default());
        assert_eq!(crossing(Round::Level { arity: 4, distance: 1, root: 2 }), Crossing { all: 12, most: 12 });
        // From 0, 2 and 4, of which the first and the last one are on one node.
        assert_eq!(crossing(Round::Fold { pairs: 3 }), Crossing { all: 3, most: 2 });
    }

    #[test]
    fn the_longest_path_goes_by_messages_or_stays() {
        let path = |way, distance, node_of: &[u32]| count(Round::Path { way, distance }, node_of).all;
        // From 3 to 0, and from 1 to 3.
        assert_eq!([1, 2].map(|distance| path(Way::Around, distance, &[0, 0, 0, 1])), [1, 2]);
        // From 0 to 1; nobody is above 2.
        assert_eq!([1, 2].map(|distance| path(Way::Up, distance, &[0, 1, 0])), [1, 1]);
        // Pairs of the first round share a node.
        assert_eq!(
            [1, 2, 4].map(|distance| path(Way::Pairs, distance, &[0, 0, 1, 1, 0, 0, 1, 1])),
            [0, 1, 1]
        );
    }

    #[test]
    fn the_longest_path_down_a_tree_crosses_as_often_as_nodes_change() {
        let descent = |distance, root, node_of: &[u32]| {
            let places = node_of.len() as u32;
            count(Round::Descent { arity: 2, distance, root, places }, node_of).all
        };
        // From 0 to 4, which stays, to 6, and from there or from 2 to its neighbour.
        assert_eq!([4, 2, 1].map(|distance| descent(distance, 0, &[0, 0, 1, 1, 0, 0, 2, 2])), [0, 1, 1]);
        assert_eq!([4, 2, 1].map(|distance| descent(distance, 0, &[0, 1, 2, 3, 4, 5, 6, 7])), [1, 2, 3]);
        // Places 0 to 5 are the ranks 2, 3, 4, 5, 0 and 1.
        assert_eq!([4, 2, 1].map(|distance| descent(distance, 2, &[1, 0, 0, 0, 0, 0])), [1, 1, 2]);
        let of_first = |distance, places| {
            count(Round::Descent { arity: 4, distance, root: 0, places }, &[0, 1, 0, 1, 1, 0]).all
        };
        // To 4, and on to 5; without these, to 1 or 3.
        assert_eq!([of_first(4, 6), of_first(1, 6), of_first(4, 4), of_first(1, 4)], [1, 2, 0, 1]);
    }

    #[test]
    fn the_rounds_of_a_circulant_graph_pass_a_port_together() {
        // To the places 1, 2 and 4 further on, but not to 0: from 0 and 3 five go to others, to 4 and 6 as many come.
        let flow = count(Round::Flow { root: 0 }, &[0, 1, 2, 0, 3, 4, 3]);
        assert_eq!(flow, Crossing { all: 17, most: 5 });
    }

    #[test]
    fn a_tree_is_all_of_its_levels() {
        let node_of: Vec<u32> = (0..29).map(|rank| rank * 7 % 5).collect();
        let levels =
            [1, 2, 4, 8, 16].map(|distance| count(Round::Level { arity: 2, distance, root: 3 }, &node_of));
        let tree = count(Round::Tree { root: 3 }, &node_of);
        assert_eq!(tree.all, levels.iter().map(|level| level.all).sum::<u32>());
        assert!(tree.most >= levels.iter().map(|level| level.most).max().expect("there are levels"));
    }
}
