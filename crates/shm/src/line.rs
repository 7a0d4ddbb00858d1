//! A line: the place where one rank shows its peers that something is there, and what.
//!
//! The sequence number and the first 48 bytes lie in one cache line, so a small contribution reaches a peer
//! with the one transfer that the flag alone would cost. Larger ones lie elsewhere in the segment, and the
//! line carries their offset. Beside the sequence number travels a *note*, a word for which the writer and its
//! readers have a use: so who pulls learns for nothing how far the writer is, and what it believes to be doing.

use oxmpi_mem::Region;

use crate::sync::{AtomicU64, Ordering, UnsafeCell, fence};

/// Bytes that travel in the line itself.
pub const INLINE_BYTES: usize = 112;
/// Words of the payload that are written one by one.
const WORDS: usize = 5;

/// One writer's flag and what it announces. Many readers.
///
/// Sequence numbers only grow. The payload of a sequence number may be read from when [`Line::reached`] is
/// true for it until the writer posts again; to know that all readers are done is the writer's duty.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Line {
    sequence: AtomicU64,
    note: AtomicU64,
    payload: UnsafeCell<[u8; INLINE_BYTES]>,
}

// SAFETY: the payload is written by one rank between two values of `sequence`, and read by others only after
// an acquiring load has seen the second; that they have stopped before the next write is the duty of `post`'s
// caller, who cannot break memory safety by neglecting it: bytes are copied raw and never trusted.
unsafe impl Sync for Line {}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Line>() == 128);

impl Line {
    /// A line on which nothing was ever posted.
    #[cfg(all(loom, test))]
    pub(crate) fn new() -> Self {
        let (sequence, note) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { sequence, note, payload: UnsafeCell::new([0; INLINE_BYTES]) }
    }

    /// Makes the line one on which nothing was ever posted or written. No peer may know of it yet.
    pub fn clear(&self) {
        (0..WORDS).for_each(|place| self.write_word(place, 0));
        self.sequence.store(0, Ordering::Relaxed);
        self.note.store(0, Ordering::Relaxed);
    }

    /// Shows `sequence` and, before it, `note` and the bytes of `from`.
    ///
    /// # Panics
    /// If `from` is longer than [`INLINE_BYTES`].
    #[inline]
    pub fn post(&self, sequence: u64, note: u64, from: &Region) {
        self.payload().copy_from(from);
        self.publish(sequence, note);
    }

    /// Shows `sequence` and, before it, `note`, and that its bytes lie at `offset` in the segment.
    #[inline]
    pub fn post_at(&self, sequence: u64, note: u64, offset: u64) {
        self.payload().write(&offset.to_ne_bytes());
        self.publish(sequence, note);
    }

    /// Writes how far apart the bytes of the sequence numbers lie that are shown next, by [`Line::post_at`], and how
    /// many there are from the first of all to the last: they stay where they are.
    pub fn tell_extent(&self, stride: u64, bytes: u64) {
        self.write_word(1, stride);
        self.write_word(2, bytes);
    }

    /// Shows that the bytes of what has been posted by [`Line::post_at`], and stays, lie at `offset` too.
    pub fn post_again_at(&self, offset: u64) {
        fence(Ordering::Release); // pairs with the Acquire in `offset_now`
        self.write_word(0, offset);
    }

    /// Writes a word of the payload, beside what is posted.
    pub fn write_word(&self, place: usize, word: u64) {
        self.payload().part(8 * place, 8).write(&word.to_ne_bytes());
    }

    /// Whether `sequence` has been posted; if so, what was written before is visible.
    #[inline]
    pub fn reached(&self, sequence: u64) -> bool {
        self.sequence() >= sequence
    }

    /// The last sequence number posted; what was written before it is visible.
    #[inline]
    pub fn sequence(&self) -> u64 {
        self.sequence.load(Ordering::Acquire) // pairs with the Release in `publish`
    }

    /// The note of the last sequence number that was seen, or a later one. What was written before is visible.
    #[inline]
    pub fn note(&self) -> u64 {
        self.note.load(Ordering::Acquire) // pairs with the Release in `publish`
    }

    /// The bytes posted in the line.
    #[inline]
    pub fn payload(&self) -> Region {
        // SAFETY: the line lives in a mapping that is never undone (or, in tests, as long as its test).
        self.payload.with_mut(|bytes| unsafe { Region::claim(bytes.cast(), INLINE_BYTES) })
    }

    /// The offset posted by [`Line::post_at`].
    #[inline]
    pub fn offset(&self) -> u64 {
        self.word(0)
    }

    /// The same, or that of [`Line::post_again_at`]: what was written before is visible.
    pub fn offset_now(&self) -> u64 {
        let offset = self.offset();
        fence(Ordering::Acquire); // pairs with the Release in `post_again_at`
        offset
    }

    /// The distance told by [`Line::tell_extent`].
    pub fn stride(&self) -> u64 {
        self.word(1)
    }

    /// How many bytes stay, as told by [`Line::tell_extent`].
    pub fn extent(&self) -> u64 {
        self.word(2)
    }

    /// A word of the payload, as it is now.
    #[inline]
    pub fn word(&self, place: usize) -> u64 {
        let mut word = [0; 8];
        self.payload().part(8 * place, 8).read(&mut word);
        u64::from_ne_bytes(word)
    }

    #[inline]
    fn publish(&self, sequence: u64, note: u64) {
        self.note.store(note, Ordering::Release); // pairs with the Acquire in `note`
        self.sequence.store(sequence, Ordering::Release); // pairs with the Acquire in `sequence`
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;

    #[test]
    fn who_sees_the_sequence_sees_the_payload() {
        loom::model(|| {
            let line = Arc::new(Line::new());
            let writer = line.clone();
            loom::thread::spawn(move || {
                // SAFETY: no reader looks before sequence 1 is published.
                writer.payload.with_mut(|bytes| unsafe { (*bytes)[0] = 42 });
                writer.publish(1, 0);
            });
            if line.reached(1) {
                // SAFETY: sequence 1 is published, so the only write has happened.
                assert_eq!(line.payload.with(|bytes| unsafe { (*bytes)[0] }), 42);
            }
        });
    }

    #[test]
    fn who_sees_the_sequence_sees_its_note_or_a_later_one() {
        loom::model(|| {
            let line = Arc::new(Line::new());
            let writer = line.clone();
            loom::thread::spawn(move || {
                writer.publish(1, 10);
                writer.publish(2, 20);
            });
            let sequence = line.sequence();
            assert!(line.note() >= 10 * sequence, "the note of an earlier post");
        });
    }
}
