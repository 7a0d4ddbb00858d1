//! What goes over a fabric: the header of a message as the rings carry it, and what its carrier needs before it.
//!
//! | bytes, in little-endian order | what |
//! |---|---|
//! | 0..12 | who has sent it: job and rank |
//! | 12..16 | length of the payload; if that is more than is here, the rest is the next frame's ([`REST`]) |
//! | 16..24 | its number among those of this pair, from 0; all ones for one that has none |
//! | 24..32 | how many numbered frames of the receiver the sender has taken |
//! | 32..64 | the message's [`Header`]: kind, context, source, tag, bytes, token |
//! | 64.. | the payload |
//!
//! A frame is no longer than what the fabric sends at once, [`LONGEST_BYTES`] at least: what is longer it announces,
//! and reads. So a payload goes in two frames where it sends no more than that.
//!
//! What comes together in a ring goes together ([`SEVERAL`]): the payload is then one message after the other, each
//! with 40 bytes before its own payload, its header and its length.
//!
//! The first frame of a pair, number 0, is a [`HELLO`], and carries the [`VERSION`] as its token.

use oxmpi_mem::Region;
use oxmpi_shm::ring::{Header, RingSize};

use crate::jobs::Whereabouts;

/// What comes before the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub from: Whereabouts,
    /// Of the payload, with what the next frame has of it.
    pub payload_bytes: u32,
    pub number: u64,
    pub taken: u64,
    pub header: Header,
}

/// Bytes before the payload.
pub(super) const PREFIX_BYTES: usize = 64;
/// The longest payload, where the fabric sends so much at once: four of the longest messages that a ring takes.
pub(super) const MOST_BYTES: usize = 4 * (RingSize::LARGEST_PAYLOAD + EACH_BYTES);
/// A frame that any fabric carries, and what it has of a payload.
pub(super) const LONGEST_BYTES: usize = 16 << 10;
pub(super) const PART_BYTES: usize = LONGEST_BYTES - PREFIX_BYTES;
/// The number of a frame that has none.
pub(super) const UNNUMBERED: u64 = u64::MAX;
/// What comes before has no more than one rest.
const _: () = assert!(RingSize::LARGEST_PAYLOAD <= 2 * PART_BYTES);
/// Of all this, and of the protocols above it.
pub(super) const VERSION: u64 = 11;

// Kinds that no ring carries.
pub(super) const HELLO: u32 = 1 << 16;
/// It tells how many frames were taken, and no more.
pub(super) const CREDIT: u32 = HELLO + 1;
/// What the receiver of messages wants to have of them: the token.
pub(super) const WISH: u32 = HELLO + 2;
/// Its sender [leaves](oxmpi_shm::Phase::Leaving): it has told all that it will ever tell, and only answers.
pub(super) const LEAVING: u32 = HELLO + 3;
/// The rest of the payload of the frame before.
pub(super) const REST: u32 = HELLO + 4;
/// Several messages of the ring, each with its [header](put_message).
pub(super) const SEVERAL: u32 = HELLO + 5;
/// Its sender goes to rest, and wants to hear that this was taken, as was all that it has sent before.
pub(super) const RESTING: u32 = HELLO + 6;

/// Bytes before the payload of each of several messages in a frame: its header and its length.
pub(super) const EACH_BYTES: usize = HEADER_BYTES + size_of::<u64>();
const HEADER_BYTES: usize = 32;

impl Frame {
    /// Writes it, to be followed by the payload.
    pub(super) fn write(&self) -> [u8; PREFIX_BYTES] {
        let mut written = Written([0; PREFIX_BYTES], 0);
        written.put(self.from.job().to_le_bytes());
        written.put(self.from.rank().to_le_bytes());
        written.put(self.payload_bytes.to_le_bytes());
        written.put(self.number.to_le_bytes());
        written.put(self.taken.to_le_bytes());
        written.put_header(&self.header);
        written.0
    }

    /// Reads what has come, and where its payload lies; nothing if it is no frame.
    pub(super) fn read(message: &Region) -> Option<(Self, Region)> {
        let bytes = message.len().checked_sub(PREFIX_BYTES)?;
        let mut prefix = [0; PREFIX_BYTES];
        message.part(0, PREFIX_BYTES).read(&mut prefix);
        let mut rest = Reader(&prefix);
        let from = Whereabouts::new(u64::from_le_bytes(rest.take()), u32::from_le_bytes(rest.take()));
        let payload_bytes = u32::from_le_bytes(rest.take());
        let [number, taken] = [(); 2].map(|()| u64::from_le_bytes(rest.take()));
        let header = rest.take_header();
        let all_bytes = payload_bytes as usize;
        let is_one = bytes == all_bytes && bytes <= MOST_BYTES;
        let is_first = bytes == PART_BYTES && (bytes..=RingSize::LARGEST_PAYLOAD).contains(&all_bytes);
        let is_sound = is_one || is_first;
        is_sound
            .then(|| (Self { from, payload_bytes, number, taken, header }, message.part(PREFIX_BYTES, bytes)))
    }
}

/// Puts one of several messages of a frame where it belongs.
pub(super) fn put_message(into: &Region, header: &Header, payload: &Region) {
    let mut written = Written([0; EACH_BYTES], 0);
    written.put_header(header);
    written.put((payload.len() as u64).to_le_bytes());
    into.part(0, EACH_BYTES).write(&written.0);
    into.part(EACH_BYTES, payload.len()).copy_from(payload);
}

/// Reads the first of several messages; nothing if it is none.
pub(super) fn first_message(messages: &Region) -> Option<(Header, Region)> {
    let left = messages.len().checked_sub(EACH_BYTES)?;
    let mut each = [0; EACH_BYTES];
    messages.part(0, EACH_BYTES).read(&mut each);
    let mut rest = Reader(&each);
    let header = rest.take_header();
    let bytes = usize::try_from(u64::from_le_bytes(rest.take())).ok()?;
    let is_sound = bytes <= left && bytes <= RingSize::LARGEST_PAYLOAD && header.kind < HELLO;
    is_sound.then(|| (header, messages.part(EACH_BYTES, bytes)))
}

/// What comes before a payload, and how much of it is there.
struct Written<const BYTES: usize>([u8; BYTES], usize);

impl<const BYTES: usize> Written<BYTES> {
    fn put_header(&mut self, header: &Header) {
        let Header { kind, context, source, tag, bytes, token } = *header;
        self.put(kind.to_le_bytes());
        self.put(context.to_le_bytes());
        self.put(source.to_le_bytes());
        self.put(tag.to_le_bytes());
        self.put(bytes.to_le_bytes());
        self.put(token.to_le_bytes());
    }

    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.0[self.1..self.1 + N].copy_from_slice(&bytes);
        self.1 += N;
    }
}

/// What is left of it.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take_header(&mut self) -> Header {
        Header {
            kind: u32::from_le_bytes(self.take()),
            context: u32::from_le_bytes(self.take()),
            source: i32::from_le_bytes(self.take()),
            tag: i32::from_le_bytes(self.take()),
            bytes: u64::from_le_bytes(self.take()),
            token: u64::from_le_bytes(self.take()),
        }
    }

    /// # Panics
    /// If nothing is left.
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_first_chunk().expect("a prefix is as long as what is read of it");
        self.0 = rest;
        *taken
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_mem::Pool;
    use proptest::prelude::*;

    use super::*;

    fn region(bytes: &[u8]) -> Region {
        let region = Pool::default().take(bytes.len());
        region.write(bytes);
        *region
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 5 } else { 500 }))]

        #[test]
        fn a_frame_is_read_as_it_was_written(
            from in any::<(u64, u32)>(),
            numbers in any::<(u64, u64)>(),
            words in any::<(u32, u32, i32, i32, u64, u64)>(),
            payload in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let (kind, context, source, tag, bytes, token) = words;
            let frame = Frame {
                from: Whereabouts::new(from.0, from.1),
                payload_bytes: payload.len() as u32,
                number: numbers.0,
                taken: numbers.1,
                header: Header { kind, context, source, tag, bytes, token },
            };
            let message = [&frame.write()[..], &payload].concat();
            let (read, rest) = Frame::read(&region(&message)).expect("a frame");
            prop_assert_eq!((read, rest.to_vec()), (frame, payload));
            for cut in [0, 1, PREFIX_BYTES - 1, message.len() - 1] {
                prop_assert!(Frame::read(&region(&message[..cut])).is_none());
            }
        }

        #[test]
        fn several_messages_are_read_as_they_were_written_and_nothing_else_is(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..90), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let bytes = payloads.iter().map(|payload| EACH_BYTES + payload.len()).sum();
            let frame = Pool::default().take(bytes);
            let header =
                |number: usize| Header { kind: 1, token: number as u64, tag: -1, ..Header::default() };
            let mut begin = 0;
            for (number, payload) in payloads.iter().enumerate() {
                let place = frame.part(begin, EACH_BYTES + payload.len());
                put_message(&place, &header(number), &region(payload));
                begin += place.len();
            }
            let mut rest = *frame;
            for (number, payload) in payloads.iter().enumerate() {
                let (read, found) = first_message(&rest).expect("a message");
                prop_assert_eq!((read, &found.to_vec()), (header(number), payload));
                let whole = EACH_BYTES + payload.len();
                rest = rest.part(whole, rest.len() - whole);
            }
            let first = EACH_BYTES + payloads[0].len();
            prop_assert!(first_message(&frame.part(0, cut.index(first))).is_none());
        }

        #[test]
        fn what_is_no_frame_is_none(message in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some((frame, payload)) = Frame::read(&region(&message)) {
                prop_assert_eq!(frame.payload_bytes as usize, payload.len());
            }
        }
    }

    #[test]
    fn the_format_is_what_the_other_node_reads() {
        let header = Header { kind: 1, context: 2, source: 3, tag: -4, bytes: 5, token: 6 };
        let from = Whereabouts::new(7, 8);
        let written = Frame { from, payload_bytes: 9, number: 10, taken: 11, header }.write();
        let mut expected = [0; PREFIX_BYTES];
        for (at, byte) in [(0, 7), (8, 8), (12, 9), (16, 10), (24, 11), (32, 1), (36, 2), (40, 3)] {
            expected[at] = byte;
        }
        expected[44..48].copy_from_slice(&[0xfc, 0xff, 0xff, 0xff]);
        (expected[48], expected[56]) = (5, 6);
        assert_eq!(written, expected);
    }
}
