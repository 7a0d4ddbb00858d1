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
    /// Where the blocks that this rank receives lie in the streams of those that send them, if all blocks of all
    /// ranks are `bytes` long and `ends_of` tells where the edges of a rank lead. As [`Pattern::by_lines`] wants it.
    pub fn places(&self, ends_of: impl Fn(u32) -> Vec<Option<u32>>, bytes: u64) -> Vec<u64> {
        let others =
            self.in_order().filter_map(|index| self.sources[index].filter(|&from| from != self.rank));
        let others: Vec<u32> = others.collect();
        let place = |(index, &from): (usize, &u32)| {
            let earlier = others[..index].iter().filter(|&&other| other == from).count();
            let ends = ends_of(from);
            let first = ends.iter().position(|end| end.is_some_and(|end| end != from));
            let mut here = (0..ends.len()).filter(|&end| ends[end] == Some(self.rank));
            let end = here.nth(earlier);
            // Where the other rank knows of no such edge, the two wait for each other anyhow.
            first.zip(end).map_or(0, |(first, end)| (end - first) as u64 * bytes)
        };
        others.iter().enumerate().map(place).collect()
    }

    /// The sources, in the order in which their blocks match those that are sent.
    fn in_order(&self) -> impl Iterator<Item = usize> {
        let is_grid = self.is_grid;
        (0..self.sources.len()).map(move |index| if is_grid { index ^ 1 } else { index })
    }

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
        for index in self.in_order() {
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
