//! How rings begin and end.
//!
//! The sender makes a ring in a block of its own arena, and tells the receiver where it is: see
//! [`Rings`](crate::Rings), and between jobs [`Doorway`](crate::Doorway). Its last message says what follows. Then the
//! receiver closes the ring, and from then on touches nothing of it. When the sender sees that, it gives the block
//! back.

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_mem::Region;

use super::desk::Desks;
use super::{Cell, Credit, Receiver, RingSize, Sender, Wish};
use crate::arena::PAGE;
use crate::machine::round_bytes;
use crate::sync::Ordering;
use crate::{Block, Segment};

/// The most that a ring may have of either, so that nothing overflows.
const MOST: usize = 1 << 30;

impl RingSize {
    /// That of rings by which much goes.
    pub const FULL: Self = Self { cells: 64, bulk_bytes: 64 << 10 };
    /// That of rings by which long messages go.
    pub const WIDE: Self = Self { cells: 64, bulk_bytes: 256 << 10 };
    /// That of rings by which messages go whose payloads fit into cells.
    pub const SHORT: Self = Self { cells: 64, bulk_bytes: 64 };
    /// That of rings by which one short message goes, and the last one.
    pub const SMALL: Self = Self { cells: 2, bulk_bytes: 64 };
    /// The longest payload of a message that is sent whole, by whatever ring.
    pub const LARGEST_PAYLOAD: usize = 16 << 10;
    /// The longest piece of one that is sent in pieces.
    pub const LARGEST_PIECE: usize = 32 << 10;

    /// That of rings by which many of them go, between two of so many ranks.
    pub fn widest(ranks: usize) -> Self {
        Self { bulk_bytes: round_bytes(ranks), ..Self::FULL }
    }

    /// A small one for payloads of so many bytes.
    pub fn for_payload(bytes: usize) -> Self {
        let bulk_bytes = bytes.next_power_of_two().max(Self::SMALL.bulk_bytes);
        Self { bulk_bytes, ..Self::SMALL }
    }

    fn is_possible(self) -> bool {
        [self.cells, self.bulk_bytes].iter().all(|&size| size.is_power_of_two() && size <= MOST)
    }

    /// The pieces of a ring at `offset`, perhaps named by a peer.
    fn pieces(
        self,
        segment: &'static Segment,
        offset: u64,
    ) -> Result<(&'static [Cell], &'static Credit, Region)> {
        if !self.is_possible() {
            let text = format!("no ring has {} cells and {} bytes of bulk", self.cells, self.bulk_bytes);
            return Err(Error::new(ErrorClass::Intern, text));
        }
        let behind = |bytes: usize| offset.saturating_add(bytes as u64);
        // SAFETY: a credit is atomics.
        let credit = unsafe { segment.array::<Credit>(offset, 1) }?;
        // SAFETY: a cell is atomics and cells.
        let cells = unsafe { segment.array::<Cell>(behind(size_of::<Credit>()), self.cells) }?;
        let bulk = segment.region(behind(self.bulk()), self.bulk_bytes)?;
        Ok((cells, &credit[0], bulk))
    }
}

impl Sender {
    /// Makes a ring in `block`, which is this process's own, whatever was there before. At least [`RingSize::bytes`]
    /// are needed.
    ///
    /// # Errors
    /// `Intern` if the block is too short or misaligned, does not lie in the segment, or no ring has this size.
    pub fn make(segment: &'static Segment, block: Block, size: RingSize) -> Result<Self> {
        let (cells, credit, bulk) = size.pieces(segment, block.offset)?;
        if block.bytes < size.bytes() {
            let text = format!("a ring of {} bytes does not fit into {block:?}", size.bytes());
            return Err(Error::new(ErrorClass::Intern, text));
        }
        let mut sender = Self::begin(cells, credit, bulk);
        if size.cells == RingSize::SMALL.cells {
            sender.capacity -= 1;
            sender.note_wish(Wish::Whole);
            sender.go_on();
        }
        Ok(sender)
    }

    /// The sending end of a ring in memory that may have been another before. The receiver hears of it later.
    pub(super) fn begin(cells: &'static [Cell], credit: &'static Credit, bulk: Region) -> Self {
        credit.cells.store(0, Ordering::Relaxed);
        credit.bulk.store(0, Ordering::Relaxed);
        credit.closed.store(0, Ordering::Relaxed);
        credit.wish.store(Wish::Whole as u32, Ordering::Relaxed);
        credit.parked.0.store(0, Ordering::Relaxed);
        cells.iter().for_each(|cell| cell.mark.store(0, Ordering::Relaxed));
        Self::new(cells, credit, bulk)
    }

    /// Uses each page of the bulk once, before anything is sent: the times that the first messages take are not to be
    /// those of memory that was never used.
    ///
    /// # Panics
    /// If something was sent.
    pub fn touch(&self) {
        assert_eq!(self.sent(), 0, "a ring is touched as it is made");
        pages(&self.bulk).for_each(|page| page.write(&[0]));
    }

    /// Whether the receiver reads no more and has left the ring, whose memory is the sender's alone again.
    pub fn is_closed(&self) -> bool {
        self.credit.closed.load(Ordering::Acquire) != 0 // pairs with the Release in `close`
    }
}

impl Receiver {
    /// The receiving end of the ring that a peer says it has made, of which nothing was read yet.
    ///
    /// # Errors
    /// `Intern` if no ring of this size can lie there; `NoMem` if there is no address space for it.
    pub fn at(segment: &'static Segment, offset: u64, size: RingSize) -> Result<Self> {
        let (cells, credit, bulk) = size.pieces(segment, offset)?;
        Ok(Self::new(cells, credit, bulk, Desks::of(segment)))
    }

    /// As [`Sender::touch`], here: a page that was not read before is to be found first.
    pub fn touch(&self) {
        pages(&self.bulk).for_each(|page| page.read(&mut [0]));
    }

    /// Tells the sender that nothing more is read here. What has arrived, payloads included, is the sender's again.
    pub fn close(self) {
        self.credit.closed.store(1, Ordering::Release); // pairs with the Acquire in `is_closed`
    }
}

/// A byte of each page of a bulk, which need not begin with one.
fn pages(bulk: &Region) -> impl Iterator<Item = Region> {
    let last = bulk.len() - 1;
    (0..last).step_by(PAGE).chain([last]).map(|place| bulk.part(place, 1))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::Header;
    use super::*;
    use crate::layout::Layout;

    const OTHER: RingSize = RingSize { cells: 4, bulk_bytes: 1024 };

    fn segment() -> (&'static Segment, u64) {
        let layout = Layout::with_arenas(1, 20).expect("a possible size");
        let segment = Segment::of_a_test(&layout);
        segment.reserve(layout.arena(0), layout.arena_bytes()).expect("memory");
        (segment, layout.arena(0) as u64)
    }

    #[test]
    fn a_ring_works_in_memory_that_another_one_has_left() {
        let (left, messages) = if cfg!(miri) { (1 << 14, 10) } else { (1 << 17, 100) };
        let (segment, offset) = segment();
        let block = Block { offset, bytes: 1 << 17 };
        for (round, size) in [RingSize::FULL, OTHER, RingSize::FULL].into_iter().enumerate() {
            segment.region(offset, left).expect("inside").write(&vec![round as u8 ^ 0x55; left]);
            let mut sender = Sender::make(segment, block, size).expect("room for it");
            let mut receiver = Receiver::at(segment, offset, size).expect("just made");
            assert!(receiver.arrival().is_none() && !sender.is_closed());
            for token in 0..messages {
                let room = sender.room(200).expect("the receiver keeps up");
                room.payload.write(&[token as u8; 200]);
                room.send(Header { token, ..Header::default() });
                let arrival = receiver.arrival().expect("just sent");
                assert_eq!((arrival.header.token, arrival.payload.to_vec()), (token, vec![token as u8; 200]));
                receiver.release(&arrival);
            }
            receiver.close();
            assert!(sender.is_closed());
        }
    }

    #[test]
    fn a_small_ring_has_room_for_one_message_and_the_last_one_and_is_used_up_some_time() {
        let (segment, offset) = segment();
        let size = RingSize::SMALL;
        let mut sender = Sender::make(segment, Block { offset, bytes: 512 }, size).expect("room for it");
        let mut receiver = Receiver::at(segment, offset, size).expect("just made");
        while let Some(room) = sender.room(80) {
            room.send(Header::default());
            assert!(sender.room(0).is_none(), "one at a time");
            let arrival = receiver.arrival().expect("just sent");
            receiver.release(&arrival);
        }
        assert_eq!(sender.sent(), super::super::SMALL_MESSAGES);
        assert!(sender.room(0).is_none(), "and remains so");
        sender.go_on();
        sender.room(0).expect("it goes on").send(Header::default());
        assert!(sender.room(0).is_none());
        sender.last_room().expect("that is kept").send(Header { kind: 7, ..Header::default() });
        assert!(sender.last_room().is_none());
        let first = receiver.arrival().expect("two are there");
        receiver.release(&first);
        assert_eq!(receiver.arrival().map(|last| last.header.kind), Some(7));
    }

    #[test]
    fn a_small_ring_takes_payloads_as_long_as_its_bulk() {
        let (segment, offset) = segment();
        let size = RingSize::for_payload(3000);
        assert_eq!(size, RingSize { cells: 2, bulk_bytes: 4096 });
        let mut sender = Sender::make(segment, Block { offset, bytes: 8192 }, size).expect("room for it");
        let mut receiver = Receiver::at(segment, offset, size).expect("just made");
        for (round, bytes) in [3000, 81, 4096, 4095, 80, 4096, 100, 4000].into_iter().enumerate() {
            let data = vec![round as u8; bytes];
            let room = sender.room(bytes).expect("it is empty");
            room.payload.write(&data);
            room.send(Header::default());
            let arrival = receiver.arrival().expect("just sent");
            assert_eq!(arrival.payload.to_vec(), data);
            receiver.release(&arrival);
        }
        assert!(sender.takes(4096) && !sender.takes(4097));
    }

    #[test]
    fn wide_rings_are_the_narrower_the_more_ranks_share_a_cache() {
        let bulk = [2, 3, 5, 9, 100].map(|ranks| RingSize::widest(ranks).bulk_bytes);
        assert!(bulk.is_sorted_by(|few, many| few >= many), "{bulk:?}");
        assert!(bulk.iter().all(|&bytes| bytes >= RingSize::WIDE.bulk_bytes && bytes.is_power_of_two()));
    }

    #[test]
    fn no_ring_is_made_or_found_where_none_can_be() {
        let (segment, offset) = segment();
        let made = RingSize::FULL;
        let impossible = [
            RingSize { cells: 0, ..made },
            RingSize { cells: 3, ..made },
            RingSize { cells: usize::MAX, ..made },
            RingSize { bulk_bytes: 0, ..made },
            RingSize { bulk_bytes: 1 << 63, ..made },
            RingSize { bulk_bytes: 1 << 20, ..made },
        ];
        let misplaced = [offset + 8, offset + (1 << 20) - 4096, u64::MAX, u64::MAX - 127];
        let cases = impossible.map(|size| (offset, size)).into_iter();
        for (offset, size) in cases.chain(misplaced.map(|offset| (offset, made))) {
            let error = Receiver::at(segment, offset, size).expect_err("no ring lies there");
            assert_eq!(error.class(), ErrorClass::Intern, "{size:?} at {offset}");
            Sender::make(segment, Block { offset, bytes: usize::MAX }, size).expect_err("nor can be made");
        }
        let block = Block { offset, bytes: made.bytes() - 1 };
        Sender::make(segment, block, made).expect_err("the block is too short");
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use std::sync::Arc;

    use loom::sync::atomic::AtomicU32;

    use super::super::{Header, testing};
    use super::*;
    use crate::knocks::testing::knocks;
    use crate::rings::testing::table;

    fn receive_one(mut receiver: Receiver, tag: i32) {
        let arrival = loop {
            if let Some(arrival) = receiver.arrival() {
                break arrival;
            }
            loom::thread::yield_now();
        };
        assert_eq!(arrival.header.tag, tag);
        receiver.release(&arrival);
        receiver.close();
    }

    /// The second ring lies where the first one did: its receiver sees nothing of that, and the first receiver, which
    /// gives credit before it closes, takes none from it.
    #[test]
    fn a_ring_is_made_anew_when_it_is_closed() {
        loom::model(|| {
            let (mut sender, first) = testing::ring(1, 256);
            let (cells, credit, bulk) = (first.cells, first.credit, first.bulk);
            let announced = Arc::new(AtomicU32::new(0));
            let seen = announced.clone();
            let reader = loom::thread::spawn(move || {
                receive_one(first, 1);
                while seen.load(Ordering::Acquire) == 0 {
                    loom::thread::yield_now();
                }
                receive_one(Receiver::new(cells, credit, bulk, Desks::of_a_test(Region::EMPTY)), 2);
            });
            for tag in [1, 2] {
                sender.room(0).expect("an empty ring").send(Header { tag, ..Header::default() });
                while !sender.is_closed() {
                    loom::thread::yield_now();
                }
                if tag == 1 {
                    sender = Sender::begin(cells, credit, bulk);
                    announced.store(1, Ordering::Release);
                }
            }
            reader.join().expect("the receiver does not panic");
        });
    }

    /// The receiver hears of the ring by a knock, or sees its place before: where another ring was, of which nothing is
    /// seen, and whose message is not taken for one of this ring.
    #[test]
    fn a_first_ring_is_found_once_it_is_shown_and_is_whole() {
        loom::model(|| {
            let (mut before, receiver) = testing::ring(2, 256);
            let (cells, credit, bulk) = (receiver.cells, receiver.credit, receiver.bulk);
            before.room(0).expect("an empty ring").send(Header { tag: 1, ..Header::default() });
            let (table, knocks) = (table(1), knocks(2));
            let block = Block { offset: 0, bytes: 0 };
            let place = table.place(block, RingSize::SMALL, 0);
            let maker = loom::thread::spawn(move || {
                let mut sender = Sender::begin(cells, credit, bulk);
                table.show(0, place);
                knocks.knock(1);
                sender.room(0).expect("an empty ring").send(Header { tag: 2, ..Header::default() });
            });
            let look = |receiver: &mut Option<Receiver>| {
                let is_called = !crate::knocks::testing::look(&knocks).is_empty();
                let is_shown = table.first(0) == Some(place);
                assert!(is_shown || !is_called, "who knocks has shown it");
                if is_shown && receiver.is_none() {
                    *receiver = Some(Receiver::new(cells, credit, bulk, Desks::of_a_test(Region::EMPTY)));
                }
                receiver.as_ref().and_then(Receiver::arrival).map(|arrival| arrival.header.tag)
            };
            let mut receiver = None;
            let early = look(&mut receiver);
            assert!(early.is_none_or(|tag| tag == 2), "a message of the ring before");
            maker.join().expect("who makes a ring does not panic");
            assert_eq!(look(&mut receiver), Some(2));
        });
    }
}
