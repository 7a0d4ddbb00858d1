//! Where the rings lie that a rank has made to the other ranks of its job.
//!
//! A rank makes a ring ([`Sender::make`](crate::ring::Sender::make)) in its own arena when it has something to tell
//! another one. Where the first one lies stands in its table, one word for each rank of the job; then it
//! [knocks](crate::Knocks). The place of a ring that follows on another one comes by that one, as its last message;
//! when nothing follows, the next one is a first one again.

use crate::ring::RingSize;
use crate::sync::{AtomicU64, Ordering};
use crate::{Block, Segment};

/// The table of one rank. One writer, that rank; its readers look at one word each.
#[derive(Clone, Copy, Debug)]
pub struct Rings {
    places: &'static [AtomicU64],
    /// Offset of the rank's arena, in which the rings lie.
    arena: u64,
}

/// Where a ring lies and how large it is, in one word; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingPlace(u64);

/// How a place is told: in which line of the arena the ring begins, the logarithms of its cells and of its bulk's
/// bytes, and above them how many first rings the rank had made to that peer before: so that nobody takes the place of
/// a ring that has ended for that of the next one.
const LINE_BITS: u32 = 36;
const SIZE_BITS: u32 = 5;
const COUNT_SHIFT: u32 = LINE_BITS + 2 * SIZE_BITS;
const LINE_BYTES: u64 = 128;

impl RingPlace {
    /// From the word that [`RingPlace::word`] has made, perhaps named by a peer.
    pub fn of_word(word: u64) -> Option<Self> {
        (word != 0).then_some(Self(word))
    }

    /// What stands for it.
    pub fn word(self) -> u64 {
        self.0
    }

    fn size(self) -> RingSize {
        let bits = |shift: u32| self.0 >> shift & ((1 << SIZE_BITS) - 1);
        RingSize { cells: 1 << bits(LINE_BITS), bulk_bytes: 1 << bits(LINE_BITS + SIZE_BITS) }
    }
}

impl Rings {
    /// Bytes in the segment of a job of `ranks` ranks: whole lines.
    pub(crate) fn bytes(ranks: usize) -> usize {
        (ranks * size_of::<AtomicU64>()).next_multiple_of(128)
    }

    /// The table at `offset` of the segment of a job of `ranks` ranks, of the rank whose arena is at `arena`.
    ///
    /// # Panics
    /// If it does not lie there.
    pub(crate) fn view(segment: &'static Segment, offset: usize, ranks: usize, arena: usize) -> Self {
        // SAFETY: it is atomics, and every process of this version has it here.
        let places = unsafe { segment.view_all(offset, ranks) };
        Self { places, arena: arena as u64 }
    }

    /// The place of a ring in a block of the arena. `count` tells first rings to one peer apart.
    pub fn place(&self, block: Block, size: RingSize, count: u64) -> RingPlace {
        let line = block.offset.wrapping_sub(self.arena) / LINE_BYTES;
        let sizes =
            u64::from(size.cells.trailing_zeros()) | u64::from(size.bulk_bytes.trailing_zeros()) << SIZE_BITS;
        RingPlace(line | sizes << LINE_BITS | count << COUNT_SHIFT | 1 << (u64::BITS - 1))
    }

    /// Offset in the segment, and size, of the ring at a place.
    pub fn at(&self, place: RingPlace) -> (u64, RingSize) {
        (self.arena + (place.0 & ((1 << LINE_BITS) - 1)) * LINE_BYTES, place.size())
    }

    /// Lets `rank` know of a first ring, once it is looked for.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn show(&self, rank: usize, place: RingPlace) {
        self.places[rank].store(place.0, Ordering::Release); // pairs with the Acquire in `first`
    }

    /// The last first ring to `rank`, if there ever was one.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn first(&self, rank: usize) -> Option<RingPlace> {
        RingPlace::of_word(self.places[rank].load(Ordering::Acquire)) // pairs with the Release in `show`
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.places.iter().for_each(|place| place.store(0, Ordering::Relaxed));
    }
}

#[cfg(all(loom, test))]
pub(crate) mod testing {
    use super::*;

    /// The table of a rank of a job of so many ranks, leaked. Its arena begins at 0.
    pub(crate) fn table(ranks: usize) -> Rings {
        let places: Vec<_> = (0..ranks).map(|_| AtomicU64::new(0)).collect();
        Rings { places: places.leak(), arena: 0 }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Job;

    #[test]
    fn a_place_says_where_a_ring_lies_and_how_large_it_is() {
        let rings = Job::of_a_test(3).rings(1);
        assert_eq!(rings.first(2), None);
        for (lines, size) in
            [(0, RingSize::SMALL), (7, RingSize::FULL), ((1 << LINE_BITS) - 1, RingSize::SMALL)]
        {
            let block = Block { offset: rings.arena + lines * LINE_BYTES, bytes: size.bytes() };
            for count in [0, 1, (1 << 17) - 1] {
                let place = rings.place(block, size, count);
                rings.show(2, place);
                assert_eq!(rings.first(2).map(|place| rings.at(place)), Some((block.offset, size)));
                assert_ne!(place, rings.place(block, size, count + 1));
            }
        }
        assert_eq!(rings.first(0), None);
        rings.clear();
        assert_eq!(rings.first(2), None);
    }

    #[test]
    fn a_place_that_a_broken_peer_made_up_is_some_place() {
        let rings = Job::of_a_test(1).rings(0);
        for word in [1, u64::MAX, 1 << 63, 0x5555_5555_5555_5555] {
            let (offset, size) = rings.at(RingPlace::of_word(word).expect("not zero"));
            assert!(
                offset >= rings.arena && size.cells.is_power_of_two() && size.bulk_bytes.is_power_of_two()
            );
        }
    }
}
