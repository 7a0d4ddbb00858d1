//! Neighbourhoods: blocks along the edges of a topology.
//!
//! A process may be its own neighbour, or another's several times; a neighbour that is not there (beyond the edge of
//! a grid) has a block in the buffers which nothing happens to.

use super::{Pattern, in_a_row};
use crate::{Buf, Span};

/// The edges of one rank, in the order of its blocks.
#[derive(Clone, Copy, Debug)]
pub struct Neighborhood<'a> {
    /// This rank.
    pub rank: u32,
    /// Whence edges lead here.
    pub sources: &'a [Option<u32>],
    /// Where edges lead from here.
    pub destinations: &'a [Option<u32>],
    /// Whether it is a grid: edges come in pairs, against and along a dimension. What goes out against a dimension
    /// arrives along it, also where both neighbours are the same process.
    pub is_grid: bool,
}

/// Sends a block of `sent` bytes along each edge, and receives from each source as many as `received` says.
pub fn neighbor_allgatherv(neighborhood: &Neighborhood<'_>, sent: u64, received: &[u64]) -> Pattern {
    let block = Span::fixed(Buf::Send, 0, sent);
    neighborhood.pattern(neighborhood.destinations.iter().map(|_| block), received)
}

/// Sends a block along each edge, and receives one along each.
pub fn neighbor_alltoallv(neighborhood: &Neighborhood<'_>, sent: &[u64], received: &[u64]) -> Pattern {
    assert_eq!(sent.len(), neighborhood.destinations.len(), "one length for each edge");
    neighborhood.pattern(in_a_row(Buf::Send, sent), received)
}

impl Neighborhood<'_> {
    fn pattern(&self, sent: impl Iterator<Item = Span>, received: &[u64]) -> Pattern {
        assert_eq!(received.len(), self.sources.len(), "one length for each edge");
        let mut pattern = Pattern::default();
        let mut kept = Vec::new();
        for (to, block) in self.destinations.iter().zip(sent) {
            match *to {
                Some(to) if to == self.rank => kept.push(block),
                Some(to) => pattern.send(to, block),
                None => {}
            }
        }
        let blocks: Vec<Span> = in_a_row(Buf::Recv, received).collect();
        let mut kept = kept.into_iter();
        for index in (0..blocks.len()).map(|index| if self.is_grid { index ^ 1 } else { index }) {
            match self.sources[index] {
                Some(from) if from == self.rank => {
                    if let Some(own) = kept.next() {
                        pattern.keep(own, blocks[index]);
                    }
                }
                Some(from) => pattern.receive(from, blocks[index]),
                None => {}
            }
        }
        pattern
    }
}
