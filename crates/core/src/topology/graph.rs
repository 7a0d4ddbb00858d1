//! Graphs that every process knows whole.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes, Graph Constructor.

use std::ops::Range;

use oxmpi_base::{Error, ErrorClass, Result};

/// The neighbours of all nodes; ranks are nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// By node, where its neighbours end in `edges`.
    ends: Box<[i32]>,
    edges: Box<[i32]>,
}

impl Graph {
    /// The graph in which the neighbours of node `i` are `edges[index[i - 1]..index[i]]`, from 0 for the first.
    /// Nodes may be neighbours of themselves, and of others several times.
    ///
    /// # Errors
    /// `Arg` if `index` decreases or is negative, or a neighbour is no node.
    ///
    /// # Panics
    /// If `index` ends elsewhere than `edges`.
    pub fn new(index: &[i32], edges: &[i32]) -> Result<Self> {
        let mut last = 0;
        for (node, &end) in index.iter().enumerate() {
            if end < last {
                let text = format!("indx[{node}] is {end}, but the edges of that node begin at {last}");
                return Err(Error::new(ErrorClass::Arg, text));
            }
            last = end;
        }
        assert_eq!(last as usize, edges.len(), "the index says how many edges there are");
        let nodes = index.len();
        let is_stranger = |node: &i32| usize::try_from(*node).map_or(true, |node| node >= nodes);
        if let Some(index) = edges.iter().position(is_stranger) {
            let text = format!("edges[{index}] is {}, but the graph has {nodes} nodes", edges[index]);
            return Err(Error::new(ErrorClass::Arg, text));
        }
        Ok(Self { ends: index.into(), edges: edges.into() })
    }

    /// Number of nodes.
    pub fn size(&self) -> u32 {
        self.ends.len() as u32
    }

    /// By node, where its neighbours end among the edges.
    pub fn index(&self) -> &[i32] {
        &self.ends
    }

    /// The neighbours of all nodes, one node after the other.
    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// The neighbours of a rank, in the order in which they were given.
    ///
    /// # Errors
    /// `Rank` if it is no node.
    pub fn neighbors(&self, rank: i32) -> Result<&[i32]> {
        let node = usize::try_from(rank).ok().filter(|&node| node < self.ends.len()).ok_or_else(|| {
            let size = self.size();
            Error::new(ErrorClass::Rank, format!("rank {rank} is no node of the graph, which has {size}"))
        })?;
        Ok(&self.edges[self.range(node)])
    }

    fn range(&self, node: usize) -> Range<usize> {
        let begin = node.checked_sub(1).map_or(0, |before| self.ends[before]);
        begin as usize..self.ends[node] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_has_its_neighbours_in_the_given_order() {
        let found = Graph::new(&[2, 3, 3, 6], &[3, 1, 0, 3, 0, 0]).expect("a graph");
        let neighbours = [&[3, 1][..], &[0], &[], &[3, 0, 0]];
        for (rank, expected) in (0..).zip(neighbours) {
            assert_eq!(found.neighbors(rank).expect("a node"), expected);
        }
        for rank in [-1, 4] {
            assert_eq!(found.neighbors(rank).expect_err("no node").class(), ErrorClass::Rank);
        }
    }

    #[test]
    fn an_index_that_decreases_or_an_edge_to_nowhere_is_refused() {
        let wrong: [(&[i32], &[i32]); 4] = [(&[-1], &[]), (&[2, 1], &[0, 0]), (&[1], &[1]), (&[1, 1], &[-1])];
        for (index, edges) in wrong {
            assert_eq!(Graph::new(index, edges).expect_err("no graph").class(), ErrorClass::Arg);
        }
    }
}
