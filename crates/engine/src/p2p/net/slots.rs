//! The slots of one direction of a [bond](super::bound): memory of the receiver, into which the sender writes.
//!
//! | bytes of a slot, in little-endian order | what |
//! |---|---|
//! | 0..8 | the note that comes with the message |
//! | 8..16 | how many messages of the other direction its sender has taken, so far |
//! | 16..24 | length of the payload |
//! | 24..32 | how many slots behind this one were written [together](super::together) with it |
//! | 32.. | the payload |
//!
//! Message `n` lies in slot `n` modulo [`SLOTS`], and is written when message `n` less [`SLOTS`] is known to be taken.
//! So what passes what on the way does not matter: each has a slot, and its number says which.

use std::collections::VecDeque;

use oxmpi_fabric::Place;
use oxmpi_mem::{Region, Taken};

use crate::p2p::OpKey;

/// Messages of a direction that can be written and not yet taken.
pub(super) const SLOTS: u64 = 8;
/// Longer messages are not put into slots. To open the receive for them is a message more, the other way, of 13 us
/// where sockets are beneath; the second copy of so many bytes takes about one for 16 KiB.
pub(super) const LONGEST_BYTES: u64 = 64 << 10;
/// The same in a process that has more bonds than so many: the slots of one take 256 KiB then, or 32.
pub(super) const SHORTER: [(usize, u64); 2] = [(8, 16 << 10), (64, (4 << 10) - PREFIX_BYTES as u64)];
/// Bytes before the payload.
pub(super) const PREFIX_BYTES: usize = 32;

/// What a plan has for a member on another node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// A receive of so many bytes at most, and whether it is into the buffer in which the operation receives.
    Receive(u64, bool),
    /// A send.
    Send(u64),
}

/// How the messages of a direction go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way<T> {
    /// It is not agreed on yet: they wait.
    Open,
    /// As all others.
    Messages,
    /// By slots.
    Slots(T),
    /// Not at all: one of them was taken back, and those behind it have lost their places.
    Nowhere,
}

/// The direction from here.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub way: Way<Landing>,
    /// Bytes of the longest.
    pub longest: u64,
    /// How many were written, and how many of them the receiver is known to have taken.
    pub written: u64,
    pub taken_there: u64,
    /// Sends that wait for their turn.
    pub waiting: VecDeque<OpKey>,
    /// Where the receiver [opens](super::direct) its buffers, if messages are written into those.
    pub openings: Option<OwnSlots>,
    /// Which of them are open, and how many bytes of the next message are on their way.
    pub is_open: [bool; SLOTS as usize],
    pub asked: u64,
    /// The receiver is to hear when nothing is [written](super::closing) any more.
    pub is_to_close: bool,
}

/// Where a peer's slots are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Landing {
    pub place: Place,
    /// The number of the first one, by which that peer is told which was written.
    pub number: u32,
    /// Bytes of each.
    pub slot_bytes: u64,
}

/// The direction to here.
#[derive(Debug)]
pub(super) struct Incoming {
    pub way: Way<()>,
    pub longest: u64,
    /// The memory of the slots, if there are any.
    pub slots: Option<OwnSlots>,
    /// Which of them hold a message.
    has_arrived: [bool; SLOTS as usize],
    /// How many messages were taken, and how many of them the sender knows of.
    pub taken: u64,
    pub told: u64,
    /// Receives that wait for theirs.
    pub waiting: VecDeque<OpKey>,
    /// Whether all of them lie in the buffer in which operations receive.
    pub lands: bool,
    /// Whether messages are written into the receives' own memory, and where that is said to the sender.
    pub is_direct: bool,
    pub openings: Option<Landing>,
    /// How many receives the sender may write for, from the first one on.
    pub opened: u64,
    /// Receives that are over when the sender [writes no more](super::closing).
    pub closing: Vec<OpKey>,
}

/// Slots of this process.
#[derive(Debug)]
pub(super) struct OwnSlots {
    pub memory: Taken,
    /// What others know it as; none if nothing is to be written any more.
    pub place: Option<Place>,
    pub number: u32,
    pub slot_bytes: usize,
}

/// What comes before the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    pub note: u64,
    pub taken: u64,
    pub bytes: u64,
    pub behind: u64,
}

impl Outgoing {
    pub(super) fn new() -> Self {
        Self {
            way: Way::Open,
            longest: 0,
            written: 0,
            taken_there: 0,
            waiting: VecDeque::new(),
            openings: None,
            is_open: Default::default(),
            asked: 0,
            is_to_close: false,
        }
    }

    /// Where the next message goes, and what tells that it has come; none as long as there is no room.
    pub(super) fn next(&self) -> Option<(Place, u32)> {
        let Way::Slots(landing) = self.way else { return None };
        let has_room = self.written < self.taken_there + SLOTS;
        has_room.then(|| landing.at(self.written))
    }

    /// The receiver has said how many it has taken; perhaps it has said more before.
    pub(super) fn note_taken(&mut self, taken: u64) {
        self.taken_there = self.taken_there.max(taken.min(self.written));
    }
}

impl Landing {
    /// Where message `number` goes, and what tells that it has come.
    pub(super) fn at(&self, number: u64) -> (Place, u32) {
        let slot = number % SLOTS;
        (self.place.behind(slot.wrapping_mul(self.slot_bytes)), self.number.wrapping_add(slot as u32))
    }
}

impl Incoming {
    pub(super) fn new() -> Self {
        Self {
            way: Way::Open,
            longest: 0,
            slots: None,
            has_arrived: Default::default(),
            taken: 0,
            told: 0,
            waiting: VecDeque::new(),
            lands: true,
            is_direct: false,
            openings: None,
            opened: 0,
            closing: Vec::new(),
        }
    }

    /// Whether the sender may write into receives.
    pub(super) fn has_opened(&self) -> bool {
        self.opened > self.taken
    }

    /// Messages have come into a slot and those behind it, if it says so: what it says of the other direction.
    pub(super) fn note_arrival(&mut self, number: u32) -> Option<u64> {
        let slots = self.slots.as_ref()?;
        let first = number.wrapping_sub(slots.number) as usize;
        let arrived = self.has_arrived.get_mut(first..).filter(|slots| !slots.is_empty())?;
        let Prefix { taken, behind, .. } = slots.at(first).0;
        let count = behind.saturating_add(1).min(arrived.len() as u64) as usize;
        arrived[..count].fill(true);
        Some(taken)
    }

    /// The next message, if it is here.
    pub(super) fn next(&self) -> Option<(Prefix, Region)> {
        let slot = (self.taken % SLOTS) as usize;
        self.slots.as_ref().filter(|_| self.has_arrived[slot]).map(|slots| slots.at(slot))
    }

    /// It was taken: its slot is free.
    pub(super) fn release(&mut self) {
        self.has_arrived[(self.taken % SLOTS) as usize] = false;
        self.taken += 1;
    }

    /// Whether the sender is to hear of what was taken, since nothing else tells it: it may wait for that soon.
    pub(super) fn owes_a_word(&self) -> bool {
        self.taken - self.told >= SLOTS / 2 && !self.is_direct
    }
}

impl OwnSlots {
    /// What a slot holds, and the payload: no more than fits into it, whatever the peer says.
    pub(super) fn at(&self, slot: usize) -> (Prefix, Region) {
        let memory = self.memory.part(slot * self.slot_bytes, self.slot_bytes);
        let prefix = Prefix::read(&memory);
        let room = (self.slot_bytes - PREFIX_BYTES) as u64;
        (prefix, memory.part(PREFIX_BYTES, prefix.bytes.min(room) as usize))
    }
}

impl Prefix {
    pub(super) fn write(&self, into: &Region) {
        let Self { note, taken, bytes, behind } = *self;
        for (at, word) in [note, taken, bytes, behind].into_iter().enumerate() {
            into.part(8 * at, 8).write(&word.to_le_bytes());
        }
    }

    /// Says in one that was written how many slots behind it will be written together with it.
    pub(super) fn note_behind(slot: &Region, behind: u64) {
        slot.part(24, 8).write(&behind.to_le_bytes());
    }

    fn read(from: &Region) -> Self {
        let [note, taken, bytes, behind] = [0, 8, 16, 24].map(|at| {
            let mut word = [0; 8];
            from.part(at, 8).read(&mut word);
            u64::from_le_bytes(word)
        });
        Self { note, taken, bytes, behind }
    }
}

/// Bytes of the slots for messages of so many bytes at most.
pub(super) fn slot_bytes(longest: u64) -> u64 {
    (PREFIX_BYTES as u64 + longest).next_multiple_of(64)
}

#[cfg(test)]
mod tests {
    use oxmpi_mem::Pool;
    use proptest::prelude::*;

    use super::*;

    fn incoming(number: u32) -> Incoming {
        let slot_bytes = slot_bytes(100) as usize;
        let memory = Pool::default().take(slot_bytes * SLOTS as usize);
        memory.write(&vec![0xff; memory.len()]);
        Incoming { slots: Some(OwnSlots { memory, place: None, number, slot_bytes }), ..Incoming::new() }
    }

    #[test]
    fn messages_are_taken_in_order_whichever_comes_first() {
        let mut into = incoming(80);
        for number in [81, 80, 83] {
            let slots = into.slots.as_ref().expect("just made");
            Prefix::note_behind(&slots.memory.part((number - 80) * slots.slot_bytes, PREFIX_BYTES), 0);
            assert_eq!(into.note_arrival(number as u32), Some(u64::MAX));
        }
        for _ in 0..2 {
            assert!(into.next().is_some());
            into.release();
        }
        assert!(into.next().is_none(), "the third is not here");
        assert_eq!([79, 88].map(|number| into.note_arrival(number)), [None; 2], "not of these slots");
    }

    #[test]
    fn what_was_written_together_is_there_together_and_never_beyond_the_last_slot() {
        let mut into = incoming(80);
        let slots = into.slots.as_ref().expect("just made");
        Prefix::note_behind(&slots.memory.part(6 * slots.slot_bytes, PREFIX_BYTES), u64::MAX);
        Prefix::note_behind(&slots.memory, 2);
        assert!(into.note_arrival(80).is_some());
        assert_eq!(into.has_arrived, [true, true, true, false, false, false, false, false]);
        assert!(into.note_arrival(86).is_some());
        assert_eq!(into.has_arrived, [true, true, true, false, false, false, true, true]);
    }

    #[test]
    fn nothing_is_written_beyond_the_slots_that_are_free() {
        let place = Place { key: 7, address: 1000 };
        let landing = Landing { place, number: 50, slot_bytes: 64 };
        let mut out = Outgoing { way: Way::Slots(landing), ..Outgoing::new() };
        for slot in 0..SLOTS {
            assert_eq!(out.next(), Some((place.behind(slot * 64), 50 + slot as u32)));
            out.written += 1;
        }
        assert_eq!(out.next(), None);
        out.note_taken(1);
        assert_eq!(out.next(), Some((place, 50)));
        out.note_taken(0); // said before, and come later
        assert!(out.next().is_some());
        out.note_taken(u64::MAX); // of what was never written
        assert_eq!(out.taken_there, SLOTS);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 5 } else { 500 }))]

        #[test]
        fn a_slot_is_read_as_it_was_written_and_never_beyond_its_end(
            words in any::<(u64, u64)>(),
            bytes in prop_oneof![0..300_u64, any::<u64>()],
        ) {
            let into = incoming(0);
            let slots = into.slots.as_ref().expect("just made");
            let prefix = Prefix { note: words.0, taken: words.1, bytes, behind: 0 };
            prefix.write(&slots.memory);
            let (read, payload) = slots.at(0);
            let fits = bytes.min((slots.slot_bytes - PREFIX_BYTES) as u64);
            prop_assert_eq!(read, prefix);
            prop_assert_eq!(payload.len() as u64, fits);
        }
    }

    #[test]
    fn the_format_is_what_the_other_node_reads() {
        let memory = Pool::default().take(PREFIX_BYTES);
        Prefix { note: 1, taken: 2, bytes: 0x0304, behind: 5 }.write(&memory);
        let mut expected = [0; PREFIX_BYTES];
        (expected[0], expected[8], expected[16], expected[17], expected[24]) = (1, 2, 4, 3, 5);
        assert_eq!(memory.to_vec(), expected);
    }
}
