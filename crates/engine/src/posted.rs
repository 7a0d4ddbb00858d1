//! The word by which a line says where what was posted lies.
//!
//! | bits | what |
//! |---|---|
//! | 60 | where it is: an offset in the segment of who has posted, or an address in his process |
//! | 1 | of slots: they are on a [desk](PostDesk); of a name: it was copied there, segment by segment, since somebody could not read what was to be read by address |
//! | 1 | who takes it is to tell how long that took |
//! | 1 | it is an address, where all segments stay |
//! | 1 | it is an offset where all segments stay: the [name](crate::p2p::offset_of_name) of memory |
//!
//! The lowest bits of the offset of a desk are the logarithm of its length.

use std::num::NonZeroU64;

use crate::p2p::{PostDesk, name_of_offset};

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posted(NonZeroU64);

/// Where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At an address in the process of who has posted.
    Address(u64),
    /// At an offset in the segment, where it stays.
    Named(u64),
    /// In slots at an offset in the segment.
    Slots(u64),
}

const WHERE: u64 = (1 << 60) - 1;
const COPIED: u64 = 1 << 60;
const ON_DESK: u64 = COPIED;
/// Slots begin at multiples of more than these.
const DESK_BITS: u64 = 127;
const TIMED: u64 = 1 << 61;
const ADDRESS: u64 = 1 << 62;
const NAME: u64 = 1 << 63;

impl Posted {
    /// What a rank could not stage for want of shared memory. No segment is as long.
    pub(crate) const NOWHERE: Self = Self(NonZeroU64::new(WHERE).expect("it is not 0"));

    /// What is in slots.
    pub(crate) fn in_slots(offset: u64, is_timed: bool) -> Self {
        Self::marked(offset, if is_timed { TIMED } else { 0 })
    }

    /// What is in slots on a desk.
    pub(crate) fn on_desk(desk: PostDesk, is_timed: bool) -> Self {
        let bits = u64::from(desk.bytes.trailing_zeros());
        Self::marked(desk.offset | bits, ON_DESK | if is_timed { TIMED } else { 0 })
    }

    /// What stays at an address; none if no program has such addresses.
    pub(crate) fn at_address(address: usize, is_timed: bool) -> Option<Self> {
        let address = address as u64;
        let mark = ADDRESS | if is_timed { TIMED } else { 0 };
        (address <= WHERE).then(|| Self::marked(address, mark))
    }

    /// What was copied to an offset.
    pub(crate) fn copied(offset: u64) -> Self {
        Self::marked(name_of_offset(offset), COPIED)
    }

    /// What has a name.
    pub(crate) fn named(name: u64) -> Self {
        Self::marked(name, 0)
    }

    /// What a word says that came from somebody else.
    #[inline]
    pub(crate) fn of_word(word: u64) -> Option<Self> {
        NonZeroU64::new(word).map(Self)
    }

    /// The word that travels.
    #[inline]
    pub(crate) fn word(self) -> u64 {
        self.0.get()
    }

    fn marked(place: u64, mark: u64) -> Self {
        Self(NonZeroU64::new(place | mark).expect("nothing lies at 0"))
    }

    /// Where it is.
    #[inline]
    pub(crate) fn place(self) -> Place {
        let place = self.word() & WHERE;
        match self.word() & (NAME | ADDRESS) {
            0 => Place::Slots(place & !DESK_BITS),
            ADDRESS => Place::Address(place),
            _ => Place::Named(place),
        }
    }

    /// Whether who takes it is to tell how long that took.
    #[inline]
    pub(crate) fn is_timed(self) -> bool {
        self.word() & TIMED != 0
    }

    /// The desk that it is on.
    #[inline]
    pub(crate) fn desk(self) -> Option<PostDesk> {
        let is_on_desk = self.word() & (NAME | ADDRESS | ON_DESK) == ON_DESK;
        let Place::Slots(offset) = self.place() else { return None };
        let bytes = 1 << (self.word() & DESK_BITS).min(63);
        is_on_desk.then_some(PostDesk { offset, bytes })
    }

    /// Whether it is copied to where it stays.
    pub(crate) fn is_copied(self) -> bool {
        self.word() & (NAME | COPIED) == NAME | COPIED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_where_it_is_and_whether_to_time() {
        let read = |posted: Posted| {
            let posted = Posted::of_word(posted.word()).expect("it is not 0");
            assert_eq!(posted.desk(), None);
            (posted.place(), posted.is_timed(), posted.is_copied())
        };
        assert_eq!(read(Posted::in_slots(4096, false)), (Place::Slots(4096), false, false));
        assert_eq!(read(Posted::in_slots(4096, true)), (Place::Slots(4096), true, false));
        let address = Posted::at_address(0x7fff_1234_5678, true).expect("such there are");
        assert_eq!(read(address), (Place::Address(0x7fff_1234_5678), true, false));
        assert_eq!(Posted::at_address(1 << 61, false), None);
        assert_eq!(read(Posted::copied(64)), (Place::Named(64), false, true));
        assert_eq!(read(Posted::named(name_of_offset(64))), (Place::Named(64), false, false));
        assert!(matches!(Posted::NOWHERE.place(), Place::Slots(_)));
        assert_eq!(Posted::of_word(0), None);
    }

    #[test]
    fn a_word_says_which_desk_it_is_on() {
        for (bits, is_timed) in (0..64).flat_map(|bits| [(bits, false), (bits, true)]) {
            let desk = PostDesk { offset: 3 * 128, bytes: 1 << bits };
            let posted = Posted::of_word(Posted::on_desk(desk, is_timed).word()).expect("it is not 0");
            assert_eq!((posted.desk(), posted.place()), (Some(desk), Place::Slots(desk.offset)));
            assert_eq!((posted.is_timed(), posted.is_copied()), (is_timed, false));
        }
    }
}
