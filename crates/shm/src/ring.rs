//! A ring: the queue of messages from one rank to another.
//!
//! Cells of 128 bytes carry a header and up to [`CELL_BYTES`] bytes of payload; a small message reaches the
//! receiver with one cache line, in which its mark lies too. Longer payloads lie in a byte ring beside the
//! cells (the *bulk*), contiguously. One sender, one receiver; each knows its own position and publishes it
//! rarely: the sender in every cell's mark, the receiver in [`Credit`], which the sender reads only when the
//! ring seems full. A payload lies on a [`Desk`] instead, where the sender has one.
//!
//! Rings are made when they are needed ([`Sender::make`]): when two processes talk for the first time those of cells
//! alone, or where there are many small ones, for one message at a time; full ones when they talk more. A receiver
//! that looks at many rings *parks* those by which nothing comes ([`park`]), and their senders knock when they send
//! again.

mod ahead;
mod desk;
mod made;
mod parked;

pub use desk::{DESK_BYTES, DESKS, Desk};
pub use parked::park;

use oxmpi_mem::Region;

use crate::sync::{AtomicU32, AtomicU64, Ordering, UnsafeCell};
use desk::{Desks, ON_DESK};

/// Bytes of payload that fit into a cell.
pub const CELL_BYTES: usize = 80;

/// What a cell tells about its message. The meaning of the fields belongs to the protocol above.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Which kind of message.
    pub kind: u32,
    /// The context that keeps communicators apart.
    pub context: u32,
    /// Rank of the sender in the communicator.
    pub source: i32,
    /// The message's tag.
    pub tag: i32,
    /// Bytes of the whole message.
    pub bytes: u64,
    /// A number the protocol pairs messages by.
    pub token: u64,
}

/// One place of the ring.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Cell {
    /// Position of the message here, plus 1; what it was before means empty.
    mark: AtomicU64,
    header: SharedHeader,
    payload: UnsafeCell<[u8; CELL_BYTES]>,
}

/// A [`Header`] that a peer may write at any time: one that does not keep the rules gives us nonsense, and no race.
#[repr(C)]
#[derive(Debug)]
struct SharedHeader {
    kind: AtomicU32,
    context: AtomicU32,
    source: AtomicU32,
    tag: AtomicU32,
    bytes: AtomicU64,
    token: AtomicU64,
}

// SAFETY: the payload is written by the sender while the mark says empty, and read by the receiver after an
// acquiring load of the mark; the sender writes again only after the receiver's credit covers the cell. Who neglects
// that breaks no memory safety: bytes are copied raw and never trusted.
unsafe impl Sync for Cell {}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Cell>() == 128);

/// How far the receiver has come: its positions in cells and in the bulk, and whether and how it goes on.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Credit {
    cells: AtomicU64,
    bulk: AtomicU64,
    closed: AtomicU32,
    /// What it wants to have of messages at first: a [`Wish`].
    wish: AtomicU32,
    parked: Parked,
}

/// Whether the receiver does not look any more. On a line of its own: the sender loads it after every message.
#[repr(C, align(64))]
#[derive(Debug)]
struct Parked(AtomicU32);

/// What a receiver wants to have of messages at first, if they are not long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Wish {
    /// All.
    Whole,
    /// An announcement, which it keeps.
    Announced,
    /// The same; but it keeps none.
    Shown,
}

/// Dimensions of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSize {
    /// Number of cells; a power of two.
    pub cells: usize,
    /// Bytes of the bulk; a power of two.
    pub bulk_bytes: usize,
}

impl Wish {
    fn of(word: u32) -> Self {
        match word {
            0 => Self::Whole,
            1 => Self::Announced,
            _ => Self::Shown,
        }
    }
}

impl RingSize {
    /// Bytes that a ring occupies in the segment.
    pub fn bytes(self) -> usize {
        self.bulk() + self.bulk_bytes
    }

    /// Where in a ring the bulk begins.
    pub(crate) fn bulk(self) -> usize {
        size_of::<Credit>() + self.cells * size_of::<Cell>()
    }
}

/// The sending end.
#[derive(Debug)]
pub struct Sender {
    cells: &'static [Cell],
    credit: &'static Credit,
    bulk: Region,
    /// Cells filled so far.
    position: u64,
    /// Bytes of bulk used so far, with those skipped at the wrap.
    bulk_position: u64,
    /// The receiver's positions, as last seen.
    seen_cells: u64,
    seen_bulk: u64,
    /// Cells that may be filled at the same time; of a small ring all but one, which the last message needs.
    capacity: u64,
    /// So many messages go by this ring; then a larger one is worth its memory.
    limit: u64,
    /// See [`Sender::eager_below`]; and what it is at most.
    eager_below: u64,
    most_eager_below: u64,
}

/// The receiving end.
#[derive(Debug)]
pub struct Receiver {
    cells: &'static [Cell],
    credit: &'static Credit,
    bulk: Region,
    position: u64,
    desks: Desks,
}

/// A message at the head of a ring.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// What the sender said about it.
    pub header: Header,
    /// The bytes that came with it; valid until [`Receiver::release`].
    pub payload: Region,
    /// The sender's bulk position behind the payload, or the desk; 0 if it lies in the cell.
    place: u64,
}

/// Room for a message, to be filled and sent off.
#[must_use = "a message that is not sent off stays invisible"]
#[derive(Debug)]
pub struct Room<'a> {
    sender: &'a mut Sender,
    cell: &'static Cell,
    /// Where its payload goes.
    pub payload: Region,
    /// As [`Arrival::place`].
    place: u64,
}

/// So many messages go by a small ring.
const SMALL_MESSAGES: u64 = 16;
const BULK_ALIGN: u64 = 64;
/// So many of the longest payloads fit into the bulk, at least.
const PIECES: usize = 4;
/// `token`'s neighbour in a cell whose payload lies elsewhere: where, and how long. Two words of the payload.
const NOTE: usize = 16;

impl Sender {
    pub(crate) fn new(cells: &'static [Cell], credit: &'static Credit, bulk: Region) -> Self {
        assert!(cells.len().is_power_of_two() && bulk.len().is_power_of_two(), "positions wrap by masking");
        let (capacity, limit) = (cells.len() as u64, u64::MAX);
        let mut sender = Self {
            cells,
            credit,
            bulk,
            position: 0,
            bulk_position: 0,
            seen_cells: 0,
            seen_bulk: 0,
            capacity,
            limit,
            eager_below: 0,
            most_eager_below: 0,
        };
        sender.be_eager_below(sender.largest_payload() as u64 + 1);
        sender
    }

    /// The longest payload of a message that is sent whole.
    pub fn largest_payload(&self) -> usize {
        self.largest_piece().min(RingSize::LARGEST_PAYLOAD)
    }

    /// The longest payload that goes by this ring: a quarter of the bulk at most, so that both ends can be busy; of a
    /// small ring, which has one message at a time, all of it.
    pub fn largest_piece(&self) -> usize {
        let largest = self.bulk.len() / if self.is_small() { 1 } else { PIECES };
        largest.clamp(CELL_BYTES, RingSize::LARGEST_PIECE)
    }

    /// Messages of fewer bytes go by the ring without a thought: one more than the longest payload, if nobody has
    /// [said otherwise](Sender::be_eager_below), or 0 as long as the receiver [wants to be told](Wish) of all before
    /// they are sent. Found out with the credit, which is asked for when the ring seems full.
    #[inline]
    pub fn eager_below(&self) -> u64 {
        self.eager_below
    }

    /// Says from what length on messages are to be announced, or go by another way, though they could go by this ring.
    pub fn be_eager_below(&mut self, bytes: u64) {
        self.most_eager_below = bytes;
        self.wish();
    }

    /// What the receiver wants to have of messages at first, as it says now.
    pub fn wish(&mut self) -> Wish {
        // After the credit: who takes that sees what was asked before it was given.
        let wish = Wish::of(self.credit.wish.load(Ordering::Relaxed));
        self.note_wish(wish);
        wish
    }

    fn note_wish(&mut self, wish: Wish) {
        self.eager_below = if wish == Wish::Whole { self.most_eager_below } else { 0 };
    }

    /// Room for a message of `bytes` bytes; `None` if the ring is full.
    ///
    /// # Panics
    /// If `bytes` exceeds [`Sender::largest_piece`].
    #[inline]
    pub fn room(&mut self, bytes: usize) -> Option<Room<'_>> {
        if bytes <= CELL_BYTES { self.room_in_cell(bytes) } else { self.room_in_bulk(bytes) }
    }

    /// As [`Sender::room`], for a message whose payload fits into a cell.
    ///
    /// # Panics
    /// If `bytes` exceeds [`CELL_BYTES`].
    #[inline(always)] // so that the room is never in memory
    pub fn room_in_cell(&mut self, bytes: usize) -> Option<Room<'_>> {
        if !self.has_cell() {
            return None;
        }
        let cell = self.cell();
        Some(Room { sender: self, cell, payload: payload_of(cell).part(0, bytes), place: 0 })
    }

    #[inline(always)]
    fn has_cell(&mut self) -> bool {
        self.position - self.seen_cells < self.capacity || self.has_credit(self.capacity)
    }

    /// Room for the last message, which has no payload.
    #[cold]
    pub fn last_room(&mut self) -> Option<Room<'_>> {
        self.limit = u64::MAX;
        let has_room = self.has_credit(self.cells.len() as u64);
        let cell = self.cell();
        has_room.then_some(Room { sender: self, cell, payload: Region::EMPTY, place: 0 })
    }

    /// Whether fewer than `capacity` cells are filled, and the ring is not used up.
    #[inline(never)] // once in a ring
    fn has_credit(&mut self, capacity: u64) -> bool {
        // Pairs with the Release in `release`.
        let seen = self.credit.cells.load(Ordering::Acquire).min(self.position);
        let is_used_up = self.position >= self.limit;
        // A ring that is used up seems full, so that this is asked again.
        self.seen_cells = if is_used_up { seen.min(self.position.saturating_sub(capacity)) } else { seen };
        self.wish();
        self.position - seen < capacity && !is_used_up
    }

    /// How large the ring is.
    pub fn size(&self) -> RingSize {
        RingSize { cells: self.cells.len(), bulk_bytes: self.bulk.len() }
    }

    /// Whether it has room for one message at a time.
    pub fn is_small(&self) -> bool {
        self.capacity == 1
    }

    /// Messages sent so far.
    pub fn sent(&self) -> u64 {
        self.position
    }

    /// Goes on with a ring that was used up, and for which there is no larger one now.
    pub fn go_on(&mut self) {
        self.limit = self.position + SMALL_MESSAGES;
    }

    /// Whether a message of so many bytes can ever go by this ring.
    #[inline]
    pub fn takes(&self, bytes: usize) -> bool {
        bytes <= self.largest_piece()
    }

    /// Whether there is room now for so many bytes in pieces, each but the last [as long](Sender::largest_payload) as
    /// a message that is sent whole.
    pub fn has_room_for_pieces(&mut self, bytes: usize) -> bool {
        let cells = bytes.div_ceil(self.largest_payload()) as u64;
        // What is skipped where the bulk wraps is shorter than a piece.
        let bulk_bytes = (bytes + self.largest_payload()).next_multiple_of(BULK_ALIGN as usize) as u64;
        let behind = [self.position + cells, self.bulk_position + bulk_bytes];
        let has_room = |sender: &Self| {
            behind[0] - sender.seen_cells <= sender.capacity
                && behind[1] - sender.seen_bulk <= sender.bulk.len() as u64
        };
        has_room(self) || {
            self.see_bulk();
            self.has_credit(self.capacity) && has_room(self)
        }
    }

    /// Takes in how much of the bulk is free.
    fn see_bulk(&mut self) {
        // Pairs with the Release in `release`.
        self.seen_bulk = self.credit.bulk.load(Ordering::Acquire).min(self.bulk_position);
    }

    fn room_in_bulk(&mut self, bytes: usize) -> Option<Room<'_>> {
        if !self.has_cell() {
            return None;
        }
        assert!(bytes <= self.largest_piece(), "long messages are sent in pieces");
        let capacity = self.bulk.len() as u64;
        let needed = (bytes as u64).next_multiple_of(BULK_ALIGN);
        let mut begin = self.bulk_position;
        if begin % capacity + needed > capacity {
            begin = begin.next_multiple_of(capacity);
        }
        let bulk_end = begin + needed;
        if bulk_end - self.seen_bulk > capacity && !self.is_small() {
            self.see_bulk();
            self.wish();
            if bulk_end - self.seen_bulk > capacity {
                return None;
            }
        }
        let payload = self.bulk.part((begin % capacity) as usize, bytes);
        let cell = self.cell();
        Some(Room { sender: self, cell, payload, place: bulk_end })
    }

    fn cell(&self) -> &'static Cell {
        &self.cells[self.position as usize & (self.cells.len() - 1)]
    }
}

impl Room<'_> {
    /// Makes the message visible to the receiver.
    #[inline(always)] // as `room_in_cell`
    pub fn send(self, header: Header) {
        let (cell, bytes, place) = (self.cell, self.payload.len(), self.place);
        cell.header.store(header);
        if bytes > CELL_BYTES {
            let note = payload_of(cell);
            note.write(&place.to_ne_bytes());
            note.part(8, 8).write(&(bytes as u64).to_ne_bytes());
            if place & ON_DESK == 0 {
                self.sender.bulk_position = place;
            }
        }
        // What the mark's upper bits say: whether the payload lies elsewhere, and else how long it is.
        let length = if bytes > CELL_BYTES { ELSEWHERE } else { bytes as u64 };
        self.sender.position += 1;
        // Pairs with the Acquire in `arrival`.
        cell.mark.store(self.sender.position | length << LENGTH_SHIFT, Ordering::Release);
    }
}

/// The mark: position in the lower bits, length of the payload in the upper byte.
const LENGTH_SHIFT: u32 = 56;
const ELSEWHERE: u64 = 0xff;

impl Receiver {
    fn new(cells: &'static [Cell], credit: &'static Credit, bulk: Region, desks: Desks) -> Self {
        Self { cells, credit, bulk, position: 0, desks }
    }

    /// Whether there is a message at the head.
    #[inline]
    pub fn has_arrival(&self) -> bool {
        let mark = self.cell().mark.load(Ordering::Relaxed); // only a hint: `arrival` acquires
        mark & ((1 << LENGTH_SHIFT) - 1) == self.position + 1
    }

    /// Messages received so far.
    pub fn received(&self) -> u64 {
        self.position
    }

    /// The message at the head, if there is one.
    ///
    /// A message whose length a broken peer has made up is cut to what the ring holds.
    #[inline]
    pub fn arrival(&self) -> Option<Arrival> {
        self.arrival_at(self.position)
    }

    /// The messages that have come, from that at the head on; [released](Receiver::release) in this order, each is as
    /// if it had been at the head.
    pub fn arrivals(&self) -> impl Iterator<Item = Arrival> {
        let places = self.position..self.position + self.cells.len() as u64;
        places.map_while(|position| self.arrival_at(position))
    }

    #[inline]
    fn arrival_at(&self, position: u64) -> Option<Arrival> {
        let cell = &self.cells[position as usize & (self.cells.len() - 1)];
        let mark = cell.mark.load(Ordering::Acquire); // pairs with the Release in `send`
        if mark & ((1 << LENGTH_SHIFT) - 1) != position + 1 {
            return None;
        }
        let header = cell.header.load();
        let length = mark >> LENGTH_SHIFT;
        if length == ELSEWHERE {
            return Some(self.arrival_elsewhere(header, cell));
        }
        let payload = payload_of(cell).part(0, (length as usize).min(CELL_BYTES));
        Some(Arrival { header, payload, place: 0 })
    }

    fn arrival_elsewhere(&self, header: Header, cell: &Cell) -> Arrival {
        let mut note = [0; NOTE];
        payload_of(cell).read(&mut note);
        let (place, bytes) = note.split_at(8);
        let place = u64::from_ne_bytes(place.try_into().expect("8 of 16 bytes"));
        let bytes = u64::from_ne_bytes(bytes.try_into().expect("8 of 16 bytes"));
        if place & ON_DESK != 0 {
            return self.arrival_on_desk(header, place, bytes);
        }
        let capacity = self.bulk.len() as u64;
        let bytes = bytes.min(capacity);
        let begin = place.wrapping_sub(bytes.next_multiple_of(BULK_ALIGN)) % capacity;
        let payload = self.bulk.part(begin as usize, bytes.min(capacity - begin) as usize);
        Arrival { header, payload, place }
    }

    /// What the sender is asked for.
    pub fn wish(&self) -> Wish {
        Wish::of(self.credit.wish.load(Ordering::Relaxed)) // stored here alone
    }

    /// Asks for this from now on. The sender hears of it with the room for what is released next, so that it sends at
    /// most what the ring holds before.
    pub fn ask_for(&self, wish: Wish) {
        self.credit.wish.store(wish as u32, Ordering::Relaxed); // `release` shows it
    }

    /// Gives the place of the message at the head back to the sender.
    #[inline]
    pub fn release(&mut self, arrival: &Arrival) {
        self.position += 1;
        if arrival.place & ON_DESK != 0 {
            self.desks.put(arrival.place);
        } else if arrival.place != 0 {
            self.credit.bulk.store(arrival.place, Ordering::Release); // pairs with the Acquire in `room`
        }
        self.credit.cells.store(self.position, Ordering::Release); // pairs with the Acquire in `room`
    }

    fn cell(&self) -> &'static Cell {
        &self.cells[self.position as usize & (self.cells.len() - 1)]
    }
}

fn payload_of(cell: &Cell) -> Region {
    cell.payload.with_mut(|payload| {
        // SAFETY: cells lie in a mapping that is never undone (or, in tests, are leaked).
        unsafe { Region::claim(payload.cast(), CELL_BYTES) }
    })
}

impl SharedHeader {
    /// The cell's mark, stored after, shows it.
    #[inline]
    fn store(&self, header: Header) {
        self.kind.store(header.kind, Ordering::Relaxed);
        self.context.store(header.context, Ordering::Relaxed);
        self.source.store(header.source.cast_unsigned(), Ordering::Relaxed);
        self.tag.store(header.tag.cast_unsigned(), Ordering::Relaxed);
        self.bytes.store(header.bytes, Ordering::Relaxed);
        self.token.store(header.token, Ordering::Relaxed);
    }

    /// What was stored before the mark that was seen.
    #[inline]
    fn load(&self) -> Header {
        Header {
            kind: self.kind.load(Ordering::Relaxed),
            context: self.context.load(Ordering::Relaxed),
            source: self.source.load(Ordering::Relaxed).cast_signed(),
            tag: self.tag.load(Ordering::Relaxed).cast_signed(),
            bytes: self.bytes.load(Ordering::Relaxed),
            token: self.token.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod testing {
    use super::*;

    /// Memory that is leaked.
    pub(super) fn heap(bytes: usize) -> Region {
        let memory = Box::leak(vec![0u8; bytes].into_boxed_slice());
        // SAFETY: the bytes are leaked and used only through the region.
        unsafe { Region::claim(memory.as_mut_ptr(), bytes) }
    }

    /// A ring on the heap, leaked, whose sender has no desk.
    pub(super) fn ring(cells: usize, bulk_bytes: usize) -> (Sender, Receiver) {
        ring_with(cells, bulk_bytes, Region::EMPTY)
    }

    /// The same with memory in which desks lie.
    pub(super) fn ring_with(cells: usize, bulk_bytes: usize, desks: Region) -> (Sender, Receiver) {
        let cell = || Cell {
            mark: AtomicU64::new(0),
            header: SharedHeader {
                kind: AtomicU32::new(0),
                context: AtomicU32::new(0),
                source: AtomicU32::new(0),
                tag: AtomicU32::new(0),
                bytes: AtomicU64::new(0),
                token: AtomicU64::new(0),
            },
            payload: UnsafeCell::new([0; CELL_BYTES]),
        };
        let cells: &'static [Cell] = Box::leak((0..cells).map(|_| cell()).collect());
        let credit: &'static Credit = Box::leak(Box::new(Credit {
            cells: AtomicU64::new(0),
            bulk: AtomicU64::new(0),
            closed: AtomicU32::new(0),
            parked: Parked(AtomicU32::new(0)),
            wish: AtomicU32::new(Wish::Whole as u32),
        }));
        let bulk = heap(bulk_bytes);
        (Sender::new(cells, credit, bulk), Receiver::new(cells, credit, bulk, Desks::of_a_test(desks)))
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;

    fn header(tag: i32) -> Header {
        Header { tag, ..Header::default() }
    }

    /// Two messages through one cell: the second overwrites the first only after its credit came back.
    #[test]
    fn messages_arrive_whole_and_in_order() {
        loom::model(|| {
            let (mut sender, mut receiver) = testing::ring(1, 256);
            let writer = loom::thread::spawn(move || {
                for tag in [1, 2] {
                    loop {
                        if let Some(room) = sender.room(0) {
                            room.send(header(tag));
                            break;
                        }
                        loom::thread::yield_now();
                    }
                }
            });
            for tag in [1, 2] {
                let arrival = loop {
                    if let Some(arrival) = receiver.arrival() {
                        break arrival;
                    }
                    loom::thread::yield_now();
                };
                assert_eq!(arrival.header.tag, tag);
                receiver.release(&arrival);
            }
            writer.join().expect("the sender does not panic");
        });
    }

    /// Payloads one behind the other in a bulk that has room for four: a fifth one waits until its place was read.
    #[test]
    fn payloads_in_the_bulk_are_not_overwritten_before_they_are_read() {
        const BYTES: usize = CELL_BYTES + 1;
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let (mut sender, mut receiver) = testing::ring(8, 512);
            let writer = loom::thread::spawn(move || {
                for tag in 1..=5_u8 {
                    let room = loop {
                        if let Some(room) = sender.room(BYTES) {
                            break room;
                        }
                        loom::thread::yield_now();
                    };
                    room.payload.write(&[tag; BYTES]);
                    room.send(header(i32::from(tag)));
                }
            });
            for tag in 1..=5_u8 {
                let arrival = loop {
                    if let Some(arrival) = receiver.arrival() {
                        break arrival;
                    }
                    loom::thread::yield_now();
                };
                assert_eq!(arrival.payload.to_vec(), [tag; BYTES]);
                receiver.release(&arrival);
            }
            writer.join().expect("the sender does not panic");
        });
    }

    /// The sender cannot use the room of a message without hearing what was asked when that was taken.
    #[test]
    fn who_takes_credit_knows_whether_to_announce() {
        loom::model(|| {
            let (mut sender, mut receiver) = testing::ring(1, 256);
            sender.room(0).expect("an empty ring").send(header(1));
            let reader = loom::thread::spawn(move || {
                let arrival = receiver.arrival().expect("sent before");
                receiver.ask_for(Wish::Announced);
                receiver.release(&arrival);
            });
            while sender.room(0).is_none() {
                loom::thread::yield_now();
            }
            assert_eq!(sender.eager_below(), 0);
            reader.join().expect("the receiver does not panic");
        });
    }
}
