//! Rows: what all ranks of a job have side by side.
//!
//! A row has a place for each rank, one behind the other; there a rank shows the lines of a communicator. Who makes one
//! takes the first row in which its place is free. Nobody asks the others, but ranks that have made the same
//! communicators find the same row. Then the lines of all lie at equal distances, which is all that has to be kept of
//! where they are; one mapping shows them; and who touches a page of one rank gets those of its neighbours with it,
//! since the kernel maps sixteen pages at a time. Ranks that find different rows lose that, and nothing else.
//!
//! What would be the first row holds words instead ([`Departure`](crate::Departure)), for the same reason: some lines
//! of them for each rank.
//!
//! Only a rank gives out its places, so the bookkeeping is private memory. There is memory behind the places that were
//! used, and beyond many it goes back to the system with the place.

use crate::layout::Layout;
use crate::{Block, Segment};

/// The places of one rank.
#[derive(Debug)]
pub struct Rows {
    segment: &'static Segment,
    /// Offset of all rows in the segment, and their bytes.
    begin: usize,
    bytes: usize,
    rank: usize,
    /// Ranks, as a power of two: so no row lies in two windows.
    width: usize,
    /// A bit for each row: whether this rank's place is taken, and whether there is memory behind it.
    taken: Vec<u64>,
    claimed: Vec<u64>,
    /// In all words before this one no place is free.
    full: usize,
    /// Lines of words that were given out.
    words: usize,
}

impl Rows {
    /// Bytes of a place.
    pub const PLACE_BYTES: usize = 8 << 10;
    /// Bytes of a line of words.
    pub const WORDS_BYTES: usize = 128;

    /// Those of a rank of which nothing is used, but what is to hold words.
    pub(crate) fn new(segment: &'static Segment, layout: &Layout, rank: usize) -> Self {
        Self {
            segment,
            begin: layout.rows(),
            bytes: layout.arena_bytes(),
            rank,
            width: layout.ranks.next_power_of_two(),
            taken: vec![1],
            claimed: Vec::new(),
            full: 0,
            words: 0,
        }
    }

    /// A place in the first row where there is one, if there are rows, memory and address space. Its contents are what
    /// its last user left, or zeroes.
    pub fn take(&mut self) -> Option<Block> {
        while self.taken.get(self.full) == Some(&u64::MAX) {
            self.full += 1;
        }
        if self.full == self.taken.len() {
            self.taken.push(0);
        }
        let row = self.full * BITS + self.taken[self.full].trailing_ones() as usize;
        let block = self.place(row)?;
        self.claim(row, block)?;
        self.taken[self.full] |= bit(row);
        Some(block)
    }

    /// Takes a place back; false if it is none.
    pub fn give(&mut self, block: Block) -> bool {
        let row = (block.offset as usize).wrapping_sub(self.begin) / self.row_bytes();
        if self.place(row) != Some(block)
            || self.taken.get(row / BITS).is_none_or(|word| word & bit(row) == 0)
        {
            return false;
        }
        self.taken[row / BITS] &= !bit(row);
        self.full = self.full.min(row / BITS);
        if row >= KEPT && self.segment.clear(block.offset as usize, block.bytes).is_ok() {
            self.claimed[row / BITS] &= !bit(row);
        }
        true
    }

    /// A line for words, if there is one left: they are never given back.
    pub fn take_words(&mut self) -> Option<Block> {
        let place = (self.words * self.width + self.rank) * Self::WORDS_BYTES;
        let offset = self.begin + place;
        let is_there = place < self.row_bytes().min(self.bytes)
            && self.segment.reserve(offset, Self::WORDS_BYTES).is_ok()
            && self.segment.region(offset as u64, Self::WORDS_BYTES).is_ok();
        is_there.then(|| {
            self.words += 1;
            Block { offset: offset as u64, bytes: Self::WORDS_BYTES }
        })
    }

    /// This rank's place in a row, if there is such a row.
    fn place(&self, row: usize) -> Option<Block> {
        let place = row.checked_mul(self.row_bytes()).filter(|&begin| row != 0 && begin < self.bytes)?;
        let offset = self.begin + place + self.rank * Self::PLACE_BYTES;
        Some(Block { offset: offset as u64, bytes: Self::PLACE_BYTES })
    }

    /// Sees to it that there is memory behind a place, and that it can be seen.
    fn claim(&mut self, row: usize, block: Block) -> Option<()> {
        let word = row / BITS;
        self.claimed.resize(self.claimed.len().max(word + 1), 0);
        if self.claimed[word] & bit(row) == 0 {
            self.segment.reserve(block.offset as usize, block.bytes).ok()?;
            self.claimed[word] |= bit(row);
        }
        self.segment.region(block.offset, block.bytes).ok().map(drop)
    }

    fn row_bytes(&self) -> usize {
        self.width * Self::PLACE_BYTES
    }
}

/// Rows whose memory is kept when they are not used.
const KEPT: usize = 1024;
const BITS: usize = u64::BITS as usize;

fn bit(row: usize) -> u64 {
    1 << (row % BITS)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn rows<const N: usize>(arena_bits: u32) -> [Rows; N] {
        let layout = Layout::with_arenas(N, arena_bits).expect("a possible size");
        let segment = Segment::of_a_test(&layout);
        std::array::from_fn(|rank| Rows::new(segment, &layout, rank))
    }

    #[test]
    fn who_takes_as_often_as_the_others_has_its_places_beside_theirs() {
        let mut all: [Rows; 3] = rows(24);
        let row_bytes = 4 * Rows::PLACE_BYTES;
        for row in 1..100 {
            for (rank, rows) in all.iter_mut().enumerate() {
                let place = rows.take().expect("there are many");
                let expected = rows.begin + row * row_bytes + rank * Rows::PLACE_BYTES;
                assert_eq!(place, Block { offset: expected as u64, bytes: Rows::PLACE_BYTES });
            }
        }
        let first = (all[0].begin + 7 * row_bytes) as u64;
        let (from, to) = (first, first + row_bytes as u64 - Rows::PLACE_BYTES as u64);
        all[0].segment.region(from, (to - from) as usize).expect("one mapping shows a row");
    }

    #[test]
    fn the_first_place_that_is_free_is_taken_and_what_is_none_is_not_given() {
        let [mut rows, mut other] = rows(24);
        let places: Vec<Block> = (0..200).map(|_| rows.take().expect("there are many")).collect();
        for at in [150, 3, 70] {
            assert!(rows.give(places[at]) && !rows.give(places[at]));
        }
        for at in [3, 70, 150] {
            assert_eq!(rows.take(), Some(places[at]));
        }
        let theirs = other.take().expect("there are many");
        let odd = Block { offset: places[0].offset + 128, ..places[0] };
        let short = Block { bytes: 128, ..places[0] };
        for none in [theirs, odd, short, Block { offset: 0, ..places[0] }] {
            assert!(!rows.give(none), "{none:?}");
        }
    }

    #[test]
    fn there_are_as_many_as_fit_and_then_none() {
        let [mut rows]: [Rows; 1] = rows(20);
        let words: Vec<Block> = std::iter::from_fn(|| rows.take_words()).collect();
        assert_eq!(words.len(), Rows::PLACE_BYTES / Rows::WORDS_BYTES);
        let places: Vec<Block> = std::iter::from_fn(|| rows.take()).collect();
        assert_eq!(places.len(), (1 << 20) / Rows::PLACE_BYTES - 1);
        let mut all: Vec<Block> = [words, places].concat();
        all.sort_unstable_by_key(|block| block.offset);
        assert!(all.windows(2).all(|two| two[0].offset + two[0].bytes as u64 <= two[1].offset));
        assert!(all.iter().all(|block| rows.segment.region(block.offset, block.bytes).is_ok()));
        assert!(rows.give(all[100]) && rows.take() == Some(all[100]) && rows.take().is_none());
    }

    #[test]
    fn what_many_have_used_goes_back_to_the_system() {
        let [mut rows]: [Rows; 1] = rows(25);
        let places: Vec<Block> = (0..KEPT + 9).map(|_| rows.take().expect("there are many")).collect();
        let last = *places.last().expect("there are many");
        let shown = |rows: &Rows| rows.segment.region(last.offset, last.bytes).expect("inside");
        shown(&rows).write(&[7; Rows::PLACE_BYTES]);
        assert!(places.into_iter().all(|place| rows.give(place)));
        assert_eq!(shown(&rows).to_vec(), [0; Rows::PLACE_BYTES]);
        let again: Vec<Block> = (0..KEPT + 9).map(|_| rows.take().expect("there are many")).collect();
        assert_eq!(again.last(), Some(&last));
    }

    #[test]
    fn rows_that_are_longer_than_all_of_them_may_be_do_not_exist() {
        let layout = Layout::with_arenas(1000, 20).expect("a possible size");
        let mut rows = Rows::new(Segment::of_a_test(&layout), &layout, 999);
        assert_eq!(rows.take(), None);
        assert!(std::iter::from_fn(|| rows.take_words()).count() <= 8);
    }
}
