//! Where each part of a segment lies, as a function of the number of ranks.

use crate::Line;
use crate::ring::RingSize;

/// Lines that each rank has without taking them from its arena.
pub const FIRST_LINES: usize = 65;

/// Offsets, in bytes, of the parts of a job's segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub ranks: usize,
    pub ring: RingSize,
}

const PAGE: usize = 4096;

impl Layout {
    pub(crate) const HEADER: usize = 0;
    const STATES: usize = PAGE;

    /// Rings are the one part that grows with the square of the ranks, so the more ranks the smaller each.
    pub(crate) fn for_ranks(ranks: usize) -> Self {
        let (cells, bulk_bytes) = match ranks {
            0..=8 => (64, 64 << 10),
            9..=16 => (64, 32 << 10),
            17..=32 => (32, 16 << 10),
            33..=128 => (16, 8 << 10),
            _ => (8, 4 << 10),
        };
        Self { ranks, ring: RingSize { cells, bulk_bytes } }
    }

    pub(crate) fn state(&self, rank: usize) -> usize {
        Self::STATES + rank * PAGE
    }

    pub(crate) fn doorbell(&self, rank: usize) -> usize {
        self.state(self.ranks) + rank * 128
    }

    /// Lines that a rank has from the start, for the collectives of the communicator that exists from the start.
    pub(crate) fn first_lines(&self, rank: usize) -> usize {
        self.doorbell(self.ranks).next_multiple_of(PAGE) + rank * FIRST_LINES * size_of::<Line>()
    }

    pub(crate) fn ring(&self, src: usize, dst: usize) -> usize {
        let begin = self.first_lines(self.ranks).next_multiple_of(PAGE);
        begin + (dst * self.ranks + src) * self.ring.bytes()
    }

    /// End of what exists from the start; arenas come behind, and grow.
    pub(crate) fn fixed_bytes(&self) -> usize {
        self.ring(0, self.ranks).next_multiple_of(PAGE)
    }

    pub(crate) fn arena(&self, rank: usize) -> usize {
        self.fixed_bytes() + rank * self.arena_bytes()
    }

    /// Address space, not memory: an arena claims pages as it grows.
    pub(crate) fn arena_bytes(&self) -> usize {
        if self.ranks <= 64 { 1 << 30 } else { 128 << 20 }
    }

    pub(crate) fn total_bytes(&self) -> usize {
        self.arena(self.ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_without_overlap_and_aligned() {
        for ranks in [1, 2, 7, 8, 9, 33, 200] {
            let layout = Layout::for_ranks(ranks);
            assert!(layout.state(ranks) <= layout.doorbell(0));
            assert!(layout.doorbell(ranks) <= layout.first_lines(0));
            assert!(layout.first_lines(ranks) <= layout.ring(0, 0));
            assert!(layout.ring(ranks - 1, ranks - 1) + layout.ring.bytes() <= layout.arena(0));
            assert_eq!(layout.ring(0, ranks - 1) % 128, 0);
            assert_eq!(layout.arena(ranks), layout.total_bytes());
        }
    }
}
