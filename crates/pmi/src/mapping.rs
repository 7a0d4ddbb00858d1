//! The node map as text: what Hydra, Slurm and oxmpi's `mpiexec` tell of it.
//!
//! `(vector,(0,4,2),(4,1,3))`: two ranks on each of four nodes from node 0 on, then three on node 4; where ranks are
//! left the list begins anew. It is as long as the map is irregular.

use std::iter;

use crate::NodeMap;

/// Blocks of nodes that are read at most: more than that is no map of anything.
const MOST_BLOCKS: usize = 1 << 20;

/// Nodes beside each other with as many ranks each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    first: u32,
    nodes: u32,
    ranks: u32,
}

impl NodeMap {
    /// The map as text.
    pub fn to_mapping(&self) -> String {
        let mut blocks: Vec<Block> = Vec::new();
        for run in self.labels().chunk_by(|left, right| left == right) {
            let ranks = u32::try_from(run.len()).expect("there are no more ranks");
            match blocks.last_mut() {
                Some(last) if last.first + last.nodes == run[0] && last.ranks == ranks => last.nodes += 1,
                _ => blocks.push(Block { first: run[0], nodes: 1, ranks }),
            }
        }
        let blocks: String = blocks
            .iter()
            .map(|Block { first, nodes, ranks }| format!(",({first},{nodes},{ranks})"))
            .collect();
        format!("(vector{blocks})")
    }

    /// The map of `ranks` ranks that a text tells, if it is one.
    pub fn from_mapping(text: &str, ranks: u32) -> Option<Self> {
        let blocks = blocks(text)?;
        if ranks > 0 && blocks.is_empty() {
            return None;
        }
        let (ranks, mut labels) = (ranks as usize, Vec::new());
        // Not an iterator that ends with the ranks: what the compiler makes of that valgrind takes for a fault.
        while labels.len() < ranks {
            for block in &blocks {
                for node in 0..block.nodes {
                    let left = ranks - labels.len();
                    if left == 0 {
                        break;
                    }
                    let label = u64::from(block.first) + u64::from(node);
                    labels.extend(iter::repeat_n(label, left.min(block.ranks as usize)));
                }
            }
        }
        Some(Self::of(labels))
    }
}

fn blocks(text: &str) -> Option<Vec<Block>> {
    let inner = text.trim().strip_prefix("(vector")?.strip_suffix(')')?;
    let mut blocks = Vec::new();
    let mut rest = inner;
    while !rest.is_empty() {
        let (block, after) = rest.strip_prefix(",(")?.split_once(')')?;
        let mut numbers = block.split(',').map(|number| number.trim().parse().ok());
        let mut number = || numbers.next().flatten();
        let block = Block { first: number()?, nodes: number()?, ranks: number()? };
        if number().is_some() || blocks.len() == MOST_BLOCKS {
            return None;
        }
        // What has nobody in it would be gone through for nothing.
        blocks.extend(Some(block).filter(|block| block.nodes > 0 && block.ranks > 0));
        rest = after;
    }
    Some(blocks)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn labels(text: &str, ranks: u32) -> Option<Vec<u32>> {
        NodeMap::from_mapping(text, ranks).map(|map| map.labels().to_vec())
    }

    #[test]
    fn blocks_are_repeated_until_all_ranks_have_a_node() {
        assert_eq!(labels("(vector,(0,2,2))", 4), Some(vec![0, 0, 1, 1]));
        assert_eq!(labels("(vector,(0,2,1))", 5), Some(vec![0, 1, 0, 1, 0]));
        assert_eq!(labels("(vector,(0,1,5),(1,1,1),(2,1,2))", 8), Some(vec![0, 0, 0, 0, 0, 1, 2, 2]));
        assert_eq!(labels(" (vector,(4,1,2), (0,1,1))", 3), None);
        assert_eq!(labels("(vector,(4,1,2),(0,1,1))", 3), Some(vec![0, 0, 1]));
    }

    #[test]
    fn what_is_no_map_is_none() {
        for wrong in ["", "(vector)", "(vector,)", "(vector,(0,1))", "(vector,(0,0,4))", "(vector,(0,1,2,3))"]
        {
            assert_eq!(labels(wrong, 4), None, "{wrong}");
        }
        assert_eq!(labels("(vector,(0,1,-1))", 4), None);
        assert_eq!(labels("(vector,(4294967295,4294967295,1))", 2), Some(vec![0, 1]));
    }

    proptest! {
        #[test]
        fn maps_round_trip(nodes in vec(0_u32..5, 1..40)) {
            let map = NodeMap::of(nodes);
            let text = map.to_mapping();
            prop_assert_eq!(NodeMap::from_mapping(&text, map.ranks()), Some(map));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "\\(?vector[(),0-9 ]{0,40}", ranks in 0_u32..100) {
            let _ = NodeMap::from_mapping(&text, ranks);
        }
    }
}
