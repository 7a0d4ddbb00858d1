//! Distributed graphs: each process knows its own edges.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes, Distributed Graph Constructor.

use oxmpi_base::{Error, ErrorClass, Result};

use crate::record::Record;

/// The edges of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistGraph {
    /// Those that lead here.
    pub incoming: Edges,
    /// Those that lead away.
    pub outgoing: Edges,
    /// Whether the weights were given; otherwise there are none.
    pub weighted: bool,
}

/// Edges of one process in one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// Who is at the other end. A process may be its own neighbour, or another's several times.
    pub ranks: Vec<u32>,
    /// As many as ranks, or none.
    pub weights: Vec<i32>,
}

/// An edge that some process names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The rank it leads away from.
    pub source: i32,
    /// The rank it leads to.
    pub destination: i32,
    /// Its weight; 1 in a graph without weights.
    pub weight: i32,
}

/// What one end of an edge is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// The rank at the other end.
    other: u32,
    weight: i32,
    incoming: bool,
}

impl Edges {
    /// The edges to or from `ranks` of a communicator of `size`; without `weights` the graph has none.
    ///
    /// # Errors
    /// `Rank` if a rank is none of the communicator.
    pub fn new(ranks: &[i32], weights: Option<&[i32]>, size: u32) -> Result<Self> {
        let weights = weights.unwrap_or_default();
        let ranks = ranks.iter().map(|&rank| checked_rank(rank, size)).collect::<Result<_>>()?;
        Ok(Self { ranks, weights: weights.to_vec() })
    }

    fn push(&mut self, end: End, weighted: bool) {
        self.ranks.push(end.other);
        if weighted {
            self.weights.push(end.weight);
        }
    }
}

impl Edge {
    /// What the two ends of the edge are told, and who they are.
    ///
    /// # Errors
    /// As [`Edges::new`].
    pub(super) fn ends(&self, size: u32) -> Result<[(u32, End); 2]> {
        let checked = |argument, rank| checked_rank(rank, size).map_err(|error: Error| error.about(argument));
        let source = checked("sources", self.source)?;
        let destination = checked("destinations", self.destination)?;
        let weight = self.weight;
        let outgoing = End { other: destination, weight, incoming: false };
        let incoming = End { other: source, weight, incoming: true };
        Ok([(source, outgoing), (destination, incoming)])
    }
}

impl DistGraph {
    /// Whether this process has a neighbour.
    pub(super) fn has_edges(&self) -> bool {
        !self.incoming.ranks.is_empty() || !self.outgoing.ranks.is_empty()
    }

    /// The graph of which this process is told these ends.
    pub(super) fn of(ends: Vec<End>, weighted: bool) -> Self {
        let mut graph = Self { incoming: Edges::default(), outgoing: Edges::default(), weighted };
        for end in ends {
            let edges = if end.incoming { &mut graph.incoming } else { &mut graph.outgoing };
            edges.push(end, weighted);
        }
        graph
    }
}

fn checked_rank(rank: i32, size: u32) -> Result<u32> {
    u32::try_from(rank).ok().filter(|&rank| rank < size).ok_or_else(|| {
        let text = format!("{rank} is not a rank of the communicator, which has {size}");
        Error::new(ErrorClass::Rank, text)
    })
}

impl Record for End {
    const BYTES: usize = 9;

    fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.other.to_ne_bytes());
        into.extend_from_slice(&self.weight.to_ne_bytes());
        into.push(u8::from(self.incoming));
    }

    fn read(from: &[u8]) -> Self {
        let word = |at: usize| u32::from_ne_bytes(from[at..at + 4].try_into().expect("4 bytes"));
        Self { other: word(0), weight: word(4).cast_signed(), incoming: from[8] != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_an_edge_hear_of_it() {
        let edge = Edge { source: 2, destination: 5, weight: 7 };
        let [(at_source, outgoing), (at_destination, incoming)] = edge.ends(6).expect("ranks");
        assert_eq!((at_source, at_destination), (2, 5));
        let graph = DistGraph::of(vec![outgoing, incoming], true);
        assert_eq!(graph.outgoing, Edges { ranks: vec![5], weights: vec![7] });
        assert_eq!(graph.incoming, Edges { ranks: vec![2], weights: vec![7] });
        assert_eq!(DistGraph::of(vec![outgoing], false).outgoing, Edges { ranks: vec![5], weights: vec![] });
    }

    #[test]
    fn an_end_survives_the_way_to_its_process() {
        let mut bytes = Vec::new();
        End { other: 7, weight: i32::MAX, incoming: true }.write(&mut bytes);
        assert_eq!(bytes.len(), End::BYTES);
        let End { other, weight, incoming } = End::read(&bytes);
        assert_eq!((other, weight, incoming), (7, i32::MAX, true));
    }

    #[test]
    fn strangers_are_refused() {
        for (source, destination) in [(-1, 0), (0, 4)] {
            let edge = Edge { source, destination, weight: 1 };
            assert_eq!(edge.ends(4).expect_err("a stranger").class(), ErrorClass::Rank);
        }
        assert_eq!(Edges::new(&[4], None, 4).expect_err("a stranger").class(), ErrorClass::Rank);
    }
}
