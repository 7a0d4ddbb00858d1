//! Where each part of a segment lies, as a function of the number of ranks and the size of an arena.

use crate::arena::{PAGE, coloured};
use crate::ring::RingSize;
use crate::{Doorway, Line};

/// Lines that each rank has without taking them from its arena.
pub const FIRST_LINES: usize = 82;

/// Offsets, in bytes, of the parts of a job's segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub ranks: usize,
    pub ring: RingSize,
    arena_bits: u32,
}

/// A part of an arena that is mapped as a whole, when it is used first. No block lies in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Among all windows of the segment, the first of each arena before the others.
    pub index: usize,
    /// Offset in the segment.
    pub begin: usize,
    pub bytes: usize,
}

/// Where the windows of all arenas lie: what is needed to find the one behind an offset, and no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    begin: usize,
    arenas: usize,
    arena_bits: u32,
}

/// The first window of an arena has so many bytes, and so does the smallest arena.
const SMALLEST_BITS: u32 = 20;

impl Layout {
    pub(crate) const HEADER: usize = 0;
    const STATES: usize = PAGE;

    /// The layout for `ranks` ranks, in a file that may have `most_bytes`; `None` if that is too little.
    ///
    /// Rings are the one part that grows with the square of the ranks, so the more ranks the smaller each. Arenas
    /// are as large as they may be: they are address space of a file, not memory.
    pub(crate) fn for_ranks(ranks: usize, most_bytes: u64) -> Option<Self> {
        let largest_bits = if ranks <= 64 { 30 } else { 27 };
        let layouts = (SMALLEST_BITS..=largest_bits).rev().map(|bits| Self::with_arenas(ranks, bits));
        layouts.flatten().find(|layout| layout.total_bytes() as u64 <= most_bytes)
    }

    /// The layout for `ranks` ranks with arenas of 2^`arena_bits` bytes; `None` if there is no such layout.
    pub(crate) fn with_arenas(ranks: usize, arena_bits: u32) -> Option<Self> {
        let (cells, bulk_bytes) = match ranks {
            0..=8 => (64, 64 << 10),
            9..=16 => (64, 32 << 10),
            17..=32 => (32, 16 << 10),
            33..=128 => (16, 8 << 10),
            _ => (8, 4 << 10),
        };
        let is_possible = (1..=1 << 20).contains(&ranks) && (SMALLEST_BITS..=30).contains(&arena_bits);
        is_possible.then_some(Self { ranks, ring: RingSize { cells, bulk_bytes }, arena_bits })
    }

    pub(crate) fn state(&self, rank: usize) -> usize {
        Self::STATES + rank * PAGE
    }

    /// End of what is worth looking at in the core dump of a rank: the header and the state pages.
    pub(crate) fn dumped_bytes(&self) -> usize {
        self.state(self.ranks)
    }

    pub(crate) fn doorbell(&self, rank: usize) -> usize {
        self.state(self.ranks) + rank * 128
    }

    pub(crate) fn doorway(&self, rank: usize) -> usize {
        self.doorbell(self.ranks) + rank * size_of::<Doorway>()
    }

    /// Lines that a rank has from the start, for the collectives of the communicator that exists from the start.
    pub(crate) fn first_lines(&self, rank: usize) -> usize {
        self.doorway(self.ranks).next_multiple_of(PAGE) + rank * FIRST_LINES * size_of::<Line>()
    }

    pub(crate) fn ring(&self, src: usize, dst: usize) -> usize {
        // What is pieced together in a bulk comes from and goes to buffers: see the module `arena`.
        let begin = coloured(self.first_lines(self.ranks) + self.ring.bulk()) - self.ring.bulk();
        begin + (dst * self.ranks + src) * self.ring.bytes()
    }

    /// End of what exists from the start; arenas come behind, and grow.
    pub(crate) fn fixed_bytes(&self) -> usize {
        self.ring(0, self.ranks).next_multiple_of(PAGE)
    }

    pub(crate) fn arena(&self, rank: usize) -> usize {
        self.fixed_bytes() + rank * self.arena_bytes()
    }

    pub(crate) fn arena_bytes(&self) -> usize {
        1 << self.arena_bits
    }

    pub(crate) fn arena_bits(&self) -> u32 {
        self.arena_bits
    }

    pub(crate) fn total_bytes(&self) -> usize {
        self.arena(self.ranks)
    }

    pub(crate) fn windows(&self) -> Windows {
        Windows { begin: self.fixed_bytes(), arenas: self.ranks, arena_bits: self.arena_bits }
    }
}

impl Windows {
    /// Windows of an arena behind the first: one for each doubling of it.
    fn doublings(&self) -> usize {
        (self.arena_bits - SMALLEST_BITS) as usize
    }

    /// Number of windows.
    pub(crate) fn count(&self) -> usize {
        self.arenas * (self.doublings() + 1)
    }

    /// The arena that the byte at `offset` lies in, and where in it; none has this number if it lies in none.
    #[inline]
    fn arena(&self, offset: usize) -> (usize, usize) {
        let within = offset.wrapping_sub(self.begin);
        (within >> self.arena_bits, within & ((1 << self.arena_bits) - 1))
    }

    /// If the byte at `offset` lies in the first window of an arena: the index of that, the place of the byte there,
    /// and how many bytes begin with it.
    #[inline]
    pub(crate) fn find_first(&self, offset: usize) -> Option<(usize, usize, usize)> {
        let (arena, place) = self.arena(offset);
        let is_first = arena < self.arenas && place >> SMALLEST_BITS == 0;
        is_first.then(|| (arena, place, (1 << SMALLEST_BITS) - place))
    }

    /// The window that holds the byte at `offset`; `None` if that is in no arena.
    ///
    /// The first one of an arena has a megabyte, the second another one, and each that follows doubles the arena: so
    /// whoever uses little maps little, and whoever uses much maps seldom.
    pub(crate) fn find(&self, offset: usize) -> Option<Window> {
        let (arena, within) = self.arena(offset);
        if arena >= self.arenas {
            return None;
        }
        let arena_begin = self.begin + (arena << self.arena_bits);
        let doublings = (usize::BITS - (within >> SMALLEST_BITS).leading_zeros()) as usize;
        let Some(before) = doublings.checked_sub(1) else {
            return Some(Window { index: arena, begin: arena_begin, bytes: 1 << SMALLEST_BITS });
        };
        let bytes = 1 << (SMALLEST_BITS as usize + before);
        let index = self.arenas + arena * self.doublings() + before;
        Some(Window { index, begin: arena_begin + bytes, bytes })
    }

    /// All windows.
    pub(crate) fn all(&self) -> impl Iterator<Item = Window> {
        (0..self.arenas).flat_map(|arena| self.of_arena(self.begin + (arena << self.arena_bits)))
    }

    /// The windows of the arena that begins at `begin`, in their order.
    pub(crate) fn of_arena(&self, begin: usize) -> impl Iterator<Item = Window> {
        let end = begin + (1 << self.arena_bits);
        let first = self.find(begin);
        std::iter::successors(first, move |window| {
            let next = window.begin + window.bytes;
            if next < end { self.find(next) } else { None }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(ranks: usize) -> Layout {
        Layout::for_ranks(ranks, u64::MAX).expect("a possible number")
    }

    #[test]
    fn parts_follow_each_other_without_overlap_and_aligned() {
        for ranks in [1, 2, 7, 8, 9, 33, 200] {
            let layout = layout(ranks);
            assert!(layout.state(ranks) <= layout.doorbell(0));
            assert!(layout.doorbell(ranks) <= layout.doorway(0));
            assert!(layout.doorway(ranks) <= layout.first_lines(0));
            assert!(layout.first_lines(ranks) <= layout.ring(0, 0));
            assert!(layout.ring(ranks - 1, ranks - 1) + layout.ring.bytes() <= layout.arena(0));
            assert_eq!(layout.ring(0, ranks - 1) % 128, 0);
            let bulk = layout.ring(0, ranks - 1) + layout.ring.bulk();
            assert!(ranks > 32 || bulk % PAGE == PAGE / 2, "{ranks} ranks");
            assert_eq!(layout.arena(ranks), layout.total_bytes());
        }
    }

    #[test]
    fn windows_cover_all_arenas_one_after_the_other() {
        for (ranks, bits) in [(1, SMALLEST_BITS), (3, 22), (2, 30)] {
            let layout = Layout::with_arenas(ranks, bits).expect("a possible size");
            let windows = layout.windows();
            let all: Vec<Window> = windows.all().collect();
            assert_eq!(all.len(), windows.count());
            let mut end = layout.fixed_bytes();
            for window in &all {
                assert_eq!(window.begin, end);
                end += window.bytes;
                assert_eq!(windows.find(end - 1), Some(*window));
                let first = windows.find_first(end - 1);
                let is_first = window.index < ranks;
                assert_eq!(first, is_first.then_some((window.index, window.bytes - 1, 1)));
            }
            let mut indices: Vec<usize> = all.iter().map(|window| window.index).collect();
            indices.sort_unstable();
            assert!(indices.into_iter().eq(0..windows.count()));
            assert_eq!(end, layout.total_bytes());
            assert_eq!(windows.find(end), None);
            assert_eq!(windows.find(layout.fixed_bytes() - 1), None);
        }
    }

    #[test]
    fn arenas_shrink_to_fit_a_limit_and_end_at_a_megabyte() {
        let all = layout(4);
        assert_eq!(all.arena_bytes(), 1 << 30);
        let limit = all.fixed_bytes() as u64 + (100 << 20);
        let small = Layout::for_ranks(4, limit).expect("16 MiB for each");
        assert_eq!((small.arena_bytes(), small.fixed_bytes()), (16 << 20, all.fixed_bytes()));
        assert_eq!(Layout::for_ranks(4, all.fixed_bytes() as u64 + (3 << 20)), None);
    }

    #[test]
    fn impossible_numbers_are_refused() {
        for (ranks, bits) in [(0, 30), (usize::MAX, 30), (1, 19), (1, 64)] {
            assert_eq!(Layout::with_arenas(ranks, bits), None);
        }
    }
}
