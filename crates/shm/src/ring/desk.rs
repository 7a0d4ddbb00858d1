//! A desk: memory in which two processes write in turn.
//!
//! What is dear of a payload is to write where the other process has read: each line has to be taken away
//! from it. The lines that this process has read itself last are its own for little. So an answer is written best
//! where the question was read.
//!
//! A desk belongs to one process of a pair at any time. Who sends a payload on it hands it over with the message, and
//! who has [released](Receiver::release) such a message has the desk. That is all: the mark that shows the message,
//! which the other one acquires, orders what both write and read there. Nothing is counted, no credit is given for it,
//! and it does not matter by which ring of the pair the message goes. Who has no desk writes into the bulk.
//!
//! Each of the two makes one, so that both have one when they send at the same time, and more where longer messages go
//! in pieces, so that the next one can be written while others are read. Desks are lost with the process that has them,
//! and else stay as long as the segment.

use std::fmt;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_mem::Region;

use super::{Arrival, CELL_BYTES, Header, Receiver, RingSize, Room, Sender};
use crate::{Block, Segment};

/// The longest payload that goes on a desk.
pub const DESK_BYTES: usize = RingSize::LARGEST_PAYLOAD;
/// As many as each of a pair may make.
pub const DESKS: usize = 4;
/// In the word that says where a payload lies: it is the offset of a desk in the segment, and no position in the bulk.
pub(super) const ON_DESK: u64 = 1 << 63;

/// A desk that is this process's, until a message goes on it.
#[derive(Debug)]
pub struct Desk {
    place: u64,
    memory: Region,
}

/// Those that messages have brought, the last one first.
pub(super) struct Desks {
    lie_in: Memory,
    places: [u64; 2 * DESKS],
}

/// What offsets of desks are relative to.
enum Memory {
    Segment(&'static Segment),
    #[cfg(test)]
    Heap(Region),
}

impl Desk {
    /// One in a block of this process, which is never given back.
    ///
    /// # Errors
    /// `Intern` if the block is too short, or does not lie in the segment.
    pub fn new(segment: &'static Segment, block: Block) -> Result<Self> {
        if block.bytes < DESK_BYTES {
            return Err(Error::new(ErrorClass::Intern, format!("no desk fits into {block:?}")));
        }
        let memory = segment.region(block.offset, DESK_BYTES)?;
        Ok(Self { place: block.offset | ON_DESK, memory })
    }

    /// The first bytes of its memory, to be written before a message goes on it.
    ///
    /// # Panics
    /// If it has fewer.
    pub fn part(&self, bytes: usize) -> Region {
        self.memory.part(0, bytes)
    }
}

impl Desks {
    pub(super) fn of(segment: &'static Segment) -> Self {
        Self { lie_in: Memory::Segment(segment), places: [0; 2 * DESKS] }
    }

    #[cfg(test)]
    pub(super) fn of_a_test(heap: Region) -> Self {
        Self { lie_in: Memory::Heap(heap), places: [0; 2 * DESKS] }
    }

    /// A desk has been read.
    #[inline]
    pub(super) fn put(&mut self, place: u64) {
        self.places.copy_within(..2 * DESKS - 1, 1);
        self.places[0] = place;
    }

    fn take(&mut self) -> Option<Desk> {
        let place = self.places[0];
        if place == 0 {
            return None;
        }
        self.places.copy_within(1.., 0);
        self.places[2 * DESKS - 1] = 0;
        Some(Desk { place, memory: self.at(place)? })
    }

    /// The desk at this place, which a peer has named.
    fn at(&self, place: u64) -> Option<Region> {
        let offset = place & !ON_DESK;
        match &self.lie_in {
            Memory::Segment(segment) => segment.region(offset, DESK_BYTES).ok(),
            #[cfg(test)]
            Memory::Heap(heap) => {
                let is_inside =
                    offset.checked_add(DESK_BYTES as u64).is_some_and(|end| end <= heap.len() as u64);
                is_inside.then(|| heap.part(offset as usize, DESK_BYTES))
            }
        }
    }
}

impl fmt::Debug for Desks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Desks").field(&self.places).finish()
    }
}

impl Sender {
    /// Room for a message of more than [`CELL_BYTES`] bytes on a desk, if `take` has one; `None` if the ring is full,
    /// and none was taken.
    ///
    /// # Panics
    /// If the desk is too short.
    pub fn room_on(&mut self, take: impl FnOnce() -> Option<Desk>, bytes: usize) -> Option<Room<'_>> {
        if !self.has_cell() {
            return None;
        }
        let Desk { place, memory } = take()?;
        assert!(bytes > CELL_BYTES, "what fits into a cell lies there");
        let cell = self.cell();
        Some(Room { sender: self, cell, payload: memory.part(0, bytes), place })
    }
}

impl Receiver {
    /// A message on a desk that the sender has named; an empty one if nothing can lie there.
    pub(super) fn arrival_on_desk(&self, header: Header, place: u64, bytes: u64) -> Arrival {
        match self.desks.at(place) {
            Some(memory) => {
                let payload = memory.part(0, bytes.min(DESK_BYTES as u64) as usize);
                Arrival { header, payload, place }
            }
            None => Arrival { header, payload: Region::EMPTY, place: 0 },
        }
    }

    /// The desk that was read last, if there is one.
    #[inline]
    pub fn take_desk(&mut self) -> Option<Desk> {
        self.desks.take()
    }

    /// Goes on with the desks of the ring before.
    pub fn keep_desks(&mut self, before: &Self) {
        self.desks.places = before.desks.places;
    }
}

#[cfg(test)]
impl Desk {
    /// The one at this offset of the memory of a test.
    fn of_a_test(heap: &Region, offset: usize) -> Self {
        Self { place: offset as u64 | ON_DESK, memory: heap.part(offset, DESK_BYTES) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::testing::{heap, ring_with};
    use super::*;

    const BYTES: usize = 1000;
    const ROUNDS: u8 = if cfg!(miri) { 4 } else { 20 };

    /// Two processes, each with its desk at first.
    struct Side {
        sender: Sender,
        receiver: Receiver,
        own: Option<Desk>,
    }

    impl Side {
        fn pair() -> [Self; 2] {
            let heap = heap(2 * DESK_BYTES);
            let [(there, end), (back, begin)] = [0; 2].map(|_| ring_with(4, 8192, heap));
            let [one, other] = [0, DESK_BYTES].map(|offset| Some(Desk::of_a_test(&heap, offset)));
            [
                Self { sender: there, receiver: begin, own: one },
                Self { sender: back, receiver: end, own: other },
            ]
        }

        /// Where the payload lies, if on a desk.
        fn send(&mut self, data: &[u8]) -> Option<u64> {
            let Self { sender, receiver, own } = self;
            let take = || receiver.take_desk().or_else(|| own.take());
            let room = match sender.room_on(take, data.len()) {
                Some(room) => room,
                None => sender.room(data.len()).expect("the receiver keeps up"),
            };
            let place = (room.place & ON_DESK != 0).then_some(room.place & !ON_DESK);
            room.payload.write(data);
            room.send(Header::default());
            place
        }

        fn receive(&mut self, data: &[u8]) {
            let arrival = self.receiver.arrival().expect("just sent");
            assert_eq!(arrival.payload.to_vec(), data);
            self.receiver.release(&arrival);
        }
    }

    #[test]
    fn an_answer_lies_where_the_question_was_read() {
        let [mut one, mut other] = Side::pair();
        for round in 0..ROUNDS {
            let [question, answer] = [[round; BYTES], [round ^ 0x55; BYTES]];
            assert_eq!(one.send(&question), Some(0));
            other.receive(&question);
            assert_eq!(other.send(&answer), Some(0));
            one.receive(&answer);
        }
        assert_eq!(other.send(&[1; BYTES]), Some(DESK_BYTES as u64), "its own");
    }

    #[test]
    fn both_have_a_desk_when_they_send_at_the_same_time() {
        let mut sides = Side::pair();
        for round in 0..ROUNDS {
            let data = [0, 1].map(|side| [round * 2 + side; BYTES]);
            for side in 0..2 {
                let place = (side + usize::from(round)) % 2 * DESK_BYTES;
                assert_eq!(sides[side].send(&data[side]), Some(place as u64));
            }
            (0..2).for_each(|side| sides[side].receive(&data[1 - side]));
        }
    }

    #[test]
    fn whoever_has_no_desk_writes_into_the_bulk() {
        let [mut one, mut other] = Side::pair();
        for round in 0..10_u8 {
            assert_eq!(one.send(&[round; BYTES]).is_some(), round == 0);
            other.receive(&[round; BYTES]);
        }
        let places = [0; 3].map(|_| other.send(&[7; BYTES]));
        assert_eq!(places, [Some(0), Some(DESK_BYTES as u64), None]);
        (0..3).for_each(|_| one.receive(&[7; BYTES]));
        assert_eq!([0; 3].map(|_| one.send(&[7; BYTES])), [places[1], places[0], None]);
    }

    #[test]
    fn all_desks_of_a_pair_may_be_at_one_side() {
        const ALL: usize = 2 * DESKS;
        let heap = heap(ALL * DESK_BYTES);
        let (mut there, mut end) = ring_with(2 * ALL, 8192, heap);
        let (mut back, mut begin) = ring_with(2 * ALL, 8192, heap);
        let mut own: Vec<Desk> = (0..ALL).map(|desk| Desk::of_a_test(&heap, desk * DESK_BYTES)).collect();
        for round in 0..3 {
            for _ in 0..ALL {
                let take = || begin.take_desk().or_else(|| own.pop());
                there.room_on(take, BYTES).expect("there is a desk").send(Header::default());
                let arrival = end.arrival().expect("just sent");
                end.release(&arrival);
            }
            assert!(own.is_empty() && begin.take_desk().is_none(), "round {round}");
            for _ in 0..ALL {
                back.room_on(|| end.take_desk(), BYTES).expect("all are here").send(Header::default());
                let arrival = begin.arrival().expect("just sent");
                begin.release(&arrival);
            }
            assert!(end.take_desk().is_none(), "round {round}");
        }
    }

    #[test]
    fn a_full_ring_takes_no_desk() {
        let [mut one, mut other] = Side::pair();
        (0..4).for_each(|_| one.sender.room(0).expect("room for four").send(Header::default()));
        assert!(one.sender.room_on(|| one.own.take(), BYTES).is_none() && one.own.is_some());
        other.receive(&[]);
        assert_eq!(one.send(&[1; BYTES]), Some(0));
    }

    #[test]
    fn a_desk_goes_on_by_the_next_ring() {
        let [mut one, mut other] = Side::pair();
        one.send(&[1; BYTES]);
        other.receive(&[1; BYTES]);
        let (_, mut next) = ring_with(4, 8192, heap(DESK_BYTES));
        next.keep_desks(&other.receiver);
        assert_eq!(next.take_desk().map(|desk| desk.place), Some(ON_DESK));
    }

    #[test]
    fn a_desk_that_a_broken_peer_made_up_is_none() {
        for place in [DESK_BYTES as u64 + 1, 1 << 40, !ON_DESK] {
            for bytes in [0, 81, 4097, u64::MAX] {
                let [mut one, mut other] = Side::pair();
                one.own = Some(Desk { place: place | ON_DESK, memory: heap(DESK_BYTES) });
                one.send(&[1; BYTES]);
                let note = super::super::payload_of(&other.receiver.cells[0]);
                note.part(8, 8).write(&bytes.to_ne_bytes());
                let arrival = other.receiver.arrival().expect("just sent");
                assert!(arrival.payload.is_empty());
                other.receiver.release(&arrival);
                assert!(other.receiver.take_desk().is_none());
            }
        }
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use std::sync::Arc;

    use super::super::testing::{heap, ring_with};
    use super::*;
    use crate::sync::UnsafeCell;

    fn receive(receiver: &mut Receiver, desk: &UnsafeCell<u8>, expected: u8) {
        let arrival = loop {
            if let Some(arrival) = receiver.arrival() {
                break arrival;
            }
            loom::thread::yield_now();
        };
        // SAFETY: what this test shows.
        assert_eq!(desk.with(|byte| unsafe { *byte }), expected);
        receiver.release(&arrival);
    }

    fn send(sender: &mut Sender, receiver: &mut Receiver, desk: &UnsafeCell<u8>, data: u8) {
        let room = sender.room_on(|| receiver.take_desk(), 100).expect("it was handed over");
        // SAFETY: what this test shows.
        desk.with_mut(|byte| unsafe { *byte = data });
        room.send(Header::default());
    }

    /// A byte stands for the desk: whoever has it is alone there, and sees what the other one has written.
    #[test]
    fn who_has_the_desk_reads_and_writes_there_alone() {
        loom::model(|| {
            let heap = heap(DESK_BYTES);
            let [(mut there, mut end), (mut back, mut begin)] = [0; 2].map(|_| ring_with(1, 256, heap));
            let desk = Arc::new(UnsafeCell::new(0));
            let same = desk.clone();
            begin.desks.put(Desk::of_a_test(&heap, 0).place);
            let other = loom::thread::spawn(move || {
                receive(&mut end, &same, 1);
                send(&mut back, &mut end, &same, 2);
            });
            send(&mut there, &mut begin, &desk, 1);
            receive(&mut begin, &desk, 2);
            send(&mut there, &mut begin, &desk, 3);
            other.join().expect("the other one does not panic");
        });
    }
}
