//! Where each part of a segment lies, as a function of the number of ranks and the size of an arena.

use oxmpi_system::memory::GRANULE;

use crate::arena::{COLOUR, PAGE};
use crate::doorbell::Doorbell;
use crate::knocks::Knocks;
use crate::rings::Rings;
use crate::sleepers::{RANKS_PER_WORD, Summary};
use crate::{Doorway, Line};

/// Lines that each rank has without taking them from its arena.
pub const FIRST_LINES: usize = 228;

/// Offsets, in bytes, of the parts of a job's segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub ranks: usize,
    arena_bits: u32,
}

/// A part of an arena, or of the rows, that is mapped as a whole, when it is used first. No block lies in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Among all windows of the segment, the first of each arena before the others.
    pub index: usize,
    /// Offset in the segment.
    pub begin: usize,
    pub bytes: usize,
}

/// Where the windows of all arenas, and of the rows, lie: what is needed to find the one behind an offset, and no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    begin: usize,
    arenas: usize,
    arena_bits: u32,
}

/// The first window of an arena has so many bytes, as a logarithm, and so does the smallest arena.
pub(crate) const SMALLEST_BITS: u32 = 20;
/// The largest arena: a million of them still fit into a file.
const LARGEST_BITS: u32 = 42;

impl Layout {
    pub(crate) const HEADER: usize = 0;
    const STATES: usize = PAGE;

    /// The layout for `ranks` ranks on a node with so much memory, in a file that may have `most_bytes`; `None` if that
    /// is too little.
    ///
    /// In an arena there is room for one block as large as the node's memory: it is a range of a file, which costs
    /// nothing.
    pub(crate) fn for_ranks(ranks: usize, memory_bytes: u64, most_bytes: u64) -> Option<Self> {
        let largest_bits = (u64::BITS - memory_bytes.leading_zeros() + 1).clamp(SMALLEST_BITS, LARGEST_BITS);
        let layouts = (SMALLEST_BITS..=largest_bits).rev().map(|bits| Self::with_arenas(ranks, bits));
        layouts.flatten().find(|layout| layout.total_bytes() as u64 <= most_bytes)
    }

    /// The layout for `ranks` ranks with arenas of 2^`arena_bits` bytes; `None` if there is no such layout.
    pub(crate) fn with_arenas(ranks: usize, arena_bits: u32) -> Option<Self> {
        let is_possible =
            (1..=1 << 20).contains(&ranks) && (SMALLEST_BITS..=LARGEST_BITS).contains(&arena_bits);
        is_possible.then_some(Self { ranks, arena_bits })
    }

    pub(crate) fn state(&self, rank: usize) -> usize {
        Self::STATES + rank * PAGE
    }

    /// End of what is worth looking at in the core dump of a rank: the header and the state pages.
    pub(crate) fn dumped_bytes(&self) -> usize {
        self.state(self.ranks).next_multiple_of(GRANULE)
    }

    /// The summary of who sleeps.
    pub(crate) fn sleepers(&self) -> usize {
        self.state(self.ranks)
    }

    /// A bit for each rank, in so many words.
    pub(crate) fn sleepers_bits(&self) -> (usize, usize) {
        (self.sleepers() + size_of::<Summary>(), self.ranks.div_ceil(RANKS_PER_WORD))
    }

    pub(crate) fn doorbell(&self, rank: usize) -> usize {
        let (bits, words) = self.sleepers_bits();
        (bits + words * size_of::<u64>()).next_multiple_of(128) + rank * size_of::<Doorbell>()
    }

    pub(crate) fn doorway(&self, rank: usize) -> usize {
        self.doorbell(self.ranks) + rank * size_of::<Doorway>()
    }

    /// Who knocks at the doorway of a rank.
    pub(crate) fn knocks(&self, rank: usize) -> usize {
        self.doorway(self.ranks) + rank * Knocks::bytes(self.ranks)
    }

    /// Where the first rings of a rank to the others lie.
    pub(crate) fn rings(&self, rank: usize) -> usize {
        self.knocks(self.ranks) + rank * Rings::bytes(self.ranks)
    }

    /// Lines that a rank has from the start, for the collectives of the communicator that exists from the start.
    pub(crate) fn first_lines(&self, rank: usize) -> usize {
        self.rings(self.ranks).next_multiple_of(PAGE) + rank * FIRST_LINES * size_of::<Line>()
    }

    /// End of what exists from the start; arenas come behind, and grow.
    pub(crate) fn fixed_bytes(&self) -> usize {
        self.first_lines(self.ranks).next_multiple_of(GRANULE)
    }

    /// Arenas begin in the middle of a page, and so does every long block: see the module `arena`.
    pub(crate) fn arena(&self, rank: usize) -> usize {
        self.fixed_bytes() + COLOUR + rank * self.arena_bytes()
    }

    /// What ranks have side by side, behind their arenas and as long as one of them: see the module `rows`.
    pub(crate) fn rows(&self) -> usize {
        self.arena(self.ranks)
    }

    /// Bytes of an arena, and of the rows.
    pub(crate) fn arena_bytes(&self) -> usize {
        1 << self.arena_bits
    }

    pub(crate) fn arena_bits(&self) -> u32 {
        self.arena_bits
    }

    pub(crate) fn total_bytes(&self) -> usize {
        (self.rows() + self.arena_bytes()).next_multiple_of(GRANULE)
    }

    pub(crate) fn windows(&self) -> Windows {
        Windows { begin: self.arena(0), arenas: self.ranks + 1, arena_bits: self.arena_bits }
    }
}

impl Window {
    /// Where it begins in a mapping of its whole pages.
    pub(crate) const WITHIN: usize = COLOUR;

    /// Offset and length of its whole pages.
    pub(crate) fn pages(&self) -> (usize, usize) {
        (self.begin - Self::WITHIN, self.bytes + GRANULE)
    }
}

impl Windows {
    /// Where a window begins in its arena, and the logarithm of its length.
    ///
    /// The first one has a megabyte, the second another one, and each that follows doubles the arena: so whoever uses
    /// little maps little, and whoever uses much maps seldom.
    pub(crate) fn extent(window: u32) -> (usize, u32) {
        match window.checked_sub(1) {
            None => (0, SMALLEST_BITS),
            Some(before) => {
                (1_usize.checked_shl(SMALLEST_BITS + before).unwrap_or(0), SMALLEST_BITS + before)
            }
        }
    }

    /// Bytes of an arena.
    pub(crate) fn arena_bytes(&self) -> usize {
        1 << self.arena_bits
    }

    /// Number of windows of an arena.
    pub(crate) fn of_an_arena(&self) -> u32 {
        self.arena_bits - SMALLEST_BITS + 1
    }

    /// Number of windows.
    pub(crate) fn count(&self) -> usize {
        self.arenas * self.of_an_arena() as usize
    }

    /// All windows.
    pub(crate) fn all(&self) -> impl Iterator<Item = Window> {
        (0..self.arenas)
            .flat_map(move |arena| (0..self.of_an_arena()).map(move |window| self.window(arena, window)))
    }

    /// The window that holds the byte at `offset`; `None` if that is in no arena.
    pub(crate) fn find(&self, offset: usize) -> Option<Window> {
        let (arena, place) = self.arena(offset);
        let window = usize::BITS - (place >> SMALLEST_BITS).leading_zeros();
        (arena < self.arenas).then(|| self.window(arena, window))
    }

    /// If the byte at `offset` lies in the first window of an arena: the index of that, the place of the byte there,
    /// and how many bytes begin with it.
    #[inline]
    pub(crate) fn find_first(&self, offset: usize) -> Option<(usize, usize, usize)> {
        let (arena, place) = self.arena(offset);
        let is_first = arena < self.arenas && place >> SMALLEST_BITS == 0;
        is_first.then(|| (arena, place, (1 << SMALLEST_BITS) - place))
    }

    fn window(&self, arena: usize, window: u32) -> Window {
        let (place, bits) = Self::extent(window);
        let others = self.of_an_arena() as usize - 1;
        let index = match window.checked_sub(1) {
            None => arena,
            Some(before) => self.arenas + arena * others + before as usize,
        };
        Window { index, begin: self.begin + (arena << self.arena_bits) + place, bytes: 1 << bits }
    }

    /// The arena that the byte at `offset` lies in, and where in it; none has this number if it lies in none.
    #[inline]
    fn arena(&self, offset: usize) -> (usize, usize) {
        let within = offset.wrapping_sub(self.begin);
        (within >> self.arena_bits, within & ((1 << self.arena_bits) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(ranks: usize) -> Layout {
        Layout::for_ranks(ranks, 6 << 30, u64::MAX).expect("a possible number")
    }

    #[test]
    fn parts_follow_each_other_without_overlap_and_aligned() {
        for ranks in [1, 2, 7, 8, 9, 33, 200] {
            let layout = layout(ranks);
            let (bits, words) = layout.sleepers_bits();
            assert!(words * 64 >= ranks && bits + words * 8 <= layout.doorbell(0));
            assert!(layout.doorbell(ranks) <= layout.doorway(0));
            assert!(layout.doorway(ranks) <= layout.knocks(0));
            assert!(layout.knocks(ranks) <= layout.rings(0));
            assert!(layout.rings(ranks) <= layout.first_lines(0));
            assert!(layout.first_lines(ranks) <= layout.arena(0));
            assert!(
                layout.knocks(ranks - 1).is_multiple_of(128) && layout.rings(ranks - 1).is_multiple_of(128)
            );
            assert_eq!(layout.arena(ranks + 1) + GRANULE - COLOUR, layout.total_bytes());
        }
    }

    /// Else a system with large pages would map nothing of it.
    #[test]
    fn what_is_mapped_are_whole_pages_of_any_system() {
        for (ranks, bits) in [(1, SMALLEST_BITS), (3, 22), (33, 24)] {
            let layout = Layout::with_arenas(ranks, bits).expect("a possible size");
            let (windows, total) = (layout.windows(), layout.total_bytes());
            let bounds = [layout.fixed_bytes(), layout.dumped_bytes(), total];
            let pages = windows.all().map(|window| window.pages()).inspect(|&(offset, bytes)| {
                assert!(layout.fixed_bytes() <= offset && offset + bytes <= total);
            });
            let all = bounds.into_iter().chain(pages.flat_map(|(offset, bytes)| [offset, bytes]));
            assert!(all.into_iter().all(|bound| bound.is_multiple_of(GRANULE)), "{layout:?}");
            assert!(layout.dumped_bytes() <= layout.fixed_bytes());
        }
    }

    #[test]
    fn windows_cover_all_arenas_one_after_the_other() {
        for (ranks, bits) in [(1, SMALLEST_BITS), (3, 22), (2, LARGEST_BITS)] {
            let layout = Layout::with_arenas(ranks, bits).expect("a possible size");
            let windows = layout.windows();
            let all: Vec<Window> = windows.all().collect();
            assert_eq!(all.len(), windows.count());
            let mut end = layout.arena(0);
            for window in &all {
                assert_eq!(window.begin, end);
                end += window.bytes;
                assert_eq!(windows.find(end - 1), Some(*window));
                let first = windows.find_first(end - 1);
                let is_first = window.index <= ranks;
                assert_eq!(first, is_first.then_some((window.index, window.bytes - 1, 1)));
            }
            let mut indices: Vec<usize> = all.iter().map(|window| window.index).collect();
            indices.sort_unstable();
            assert!(indices.into_iter().eq(0..windows.count()));
            assert_eq!(end, layout.rows() + layout.arena_bytes());
            assert_eq!(windows.find(end), None);
            assert_eq!(windows.find(layout.arena(0) - 1), None);
        }
    }

    #[test]
    fn arenas_have_room_for_the_memory_of_the_node_or_shrink_to_fit_a_limit_and_end_at_a_megabyte() {
        let all = layout(4);
        assert_eq!(all.arena_bytes(), 16 << 30);
        let limit = all.fixed_bytes() as u64 + (100 << 20);
        let small = Layout::for_ranks(4, 6 << 30, limit).expect("16 MiB for each");
        assert_eq!((small.arena_bytes(), small.fixed_bytes()), (16 << 20, all.fixed_bytes()));
        assert_eq!(Layout::for_ranks(4, 6 << 30, all.fixed_bytes() as u64 + (4 << 20)), None);
        for memory in [0, u64::MAX] {
            assert!(Layout::for_ranks(1 << 20, memory, u64::MAX).is_some(), "{memory} bytes");
        }
    }

    #[test]
    fn impossible_numbers_are_refused() {
        for (ranks, bits) in [(0, 30), (usize::MAX, 30), (1, 19), (1, 43)] {
            assert_eq!(Layout::with_arenas(ranks, bits), None);
        }
    }
}
