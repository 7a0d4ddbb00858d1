//! How results are written that are long: through the caches, or past them.
//!
//! What a call gives its caller may be more than the caches hold, with all that the call reads. Then the beginning of
//! it is out of them before its end is there, and has taken from them what is read again and again: past the caches
//! such calls may take half the time, and others twice. How much the caches hold is not to be known: they are shared
//! with others, on a virtual machine with those of other machines too. So it is looked at, when a result is there: by
//! how long it takes to read a little of its beginning.

use oxmpi_mem::copy::Next;
use oxmpi_mem::{Pool, Region};
use oxmpi_shm::now_ns;

use crate::p2p::OpKey;

/// From here on it is worth knowing: what a core has of the last cache, on many processors.
pub(crate) const LONG_BYTES: u64 = 1 << LONG_BITS;
const LONG_BITS: u32 = 22;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// By the logarithm of the length: from 4 MiB to 32 MiB and more.
    lengths: [Seen; 4],
    /// The message that is being received.
    message: Option<(OpKey, Writing)>,
}

/// What was seen of results of a length.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Above 0 if the caches do not hold them, below if they do; up to [`SURE`] either way.
    beyond: i8,
    /// Results since it was looked at.
    calls: u32,
}

/// The result of one call, while it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writing {
    place: usize,
    next: Next,
    /// Whether it is to be looked at when it is there.
    is_sample: bool,
}

/// Who has been told the same so often is sure, until somebody looks again.
const SURE: i8 = 2;
const CALLS_TO_A_LOOK: u32 = 64;
/// So much of the beginning is read.
const SAMPLE_BYTES: usize = 8 * PAGE;
const PAGE: usize = 4096;
/// Of what comes from memory, and not from a cache, no more comes in a nanosecond; where it does, memory is as good.
const MEMORY_BYTES_PER_NS: u64 = 14;

impl Results {
    /// A result of so many bytes is to be written.
    pub(crate) fn begin(&mut self, length: u64) -> Writing {
        let doublings = length.max(1).ilog2().saturating_sub(LONG_BITS) as usize;
        let place = doublings.min(self.lengths.len() - 1);
        let (next, is_sample) = self.lengths[place].begin();
        Writing { place, next, is_sample }
    }

    /// All of it was written.
    pub(crate) fn end(&mut self, writing: Writing, result: &Region, pool: &mut Pool) {
        if writing.is_sample && result.len() >= SAMPLE_BYTES {
            let scratch = pool.take(SAMPLE_BYTES);
            let took_ns = read_ns(&result.part(0, SAMPLE_BYTES), &scratch);
            pool.give(scratch);
            self.lengths[writing.place].note(took_ns > SAMPLE_BYTES as u64 / MEMORY_BYTES_PER_NS);
        }
    }

    /// How a message is written that is being received, of so many bytes.
    pub(crate) fn of_message(&mut self, receive: OpKey, length: u64) -> Writing {
        if let Some((_, writing)) = self.message.filter(|(key, _)| *key == receive) {
            return writing;
        }
        let writing = self.begin(length);
        self.message = Some((receive, writing));
        writing
    }

    /// All of it was received.
    pub(crate) fn end_message(&mut self, receive: OpKey, result: &Region, pool: &mut Pool) {
        if let Some((_, writing)) = self.message.take_if(|(key, _)| *key == receive) {
            self.end(writing, result, pool);
        }
    }
}

impl Writing {
    /// Writes a piece.
    pub(crate) fn copy(self, from: &Region, into: &Region) {
        into.copy_hinted(from, self.next);
    }
}

impl Seen {
    /// How the next one is written, and whether it is looked at: then it is written as if the caches held it.
    fn begin(&mut self) -> (Next, bool) {
        self.calls += 1;
        let is_sample = self.beyond.abs() < SURE || self.calls >= CALLS_TO_A_LOOK;
        (if self.beyond > 0 && !is_sample { Next::Late } else { Next::Soon }, is_sample)
    }

    fn note(&mut self, is_beyond: bool) {
        self.beyond = (self.beyond + if is_beyond { 1 } else { -1 }).clamp(-SURE, SURE);
        self.calls = 0;
    }
}

/// How long it takes to read the pages of `from`, once it is known where they are.
fn read_ns(from: &Region, scratch: &Region) -> u64 {
    (0..from.len()).step_by(PAGE).for_each(|page| scratch.part(page, 8).copy_from(&from.part(page, 8)));
    let begun_ns = now_ns();
    scratch.copy_from(from);
    now_ns().saturating_sub(begun_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_arrive_whichever_way_they_are_written() {
        const BYTES: usize = 60_000;
        let mut pool = Pool::default();
        let [from, into] = [BYTES; 2].map(|bytes| pool.take(bytes));
        for (round, beyond) in [0, 1, SURE, -SURE].into_iter().enumerate() {
            let mut results = Results { lengths: [Seen { beyond, calls: 0 }; 4], message: None };
            let sent: Vec<u8> = (0..BYTES).map(|at| (at as u8).wrapping_mul(7) ^ round as u8).collect();
            from.write(&sent);
            let writing = results.begin(LONG_BYTES);
            for (offset, bytes) in [(0, 4999), (4999, BYTES - 4999)] {
                writing.copy(&from.part(offset, bytes), &into.part(offset, bytes));
            }
            results.end(writing, &into.part(0, BYTES), &mut pool);
            assert_eq!(into.part(0, BYTES).to_vec(), sent);
        }
    }

    #[test]
    fn what_the_caches_do_not_hold_goes_past_them_until_they_do() {
        let mut seen = Seen::default();
        let mut went = |is_beyond: bool, calls: usize| -> Vec<Next> {
            let one = |_| {
                let (next, is_sample) = seen.begin();
                if is_sample {
                    seen.note(is_beyond);
                }
                next
            };
            (0..calls).map(one).collect()
        };
        let first = went(true, 1000);
        assert_eq!(first[..2], [Next::Soon; 2]);
        assert_eq!(first[2..].iter().filter(|next| **next == Next::Soon).count(), 998 / 64);
        let then = went(false, 1000);
        let until = then.iter().rposition(|next| *next == Next::Late).expect("it takes a while");
        assert!(until < 64, "{until}");
        let mut disturbed = went(true, 1);
        disturbed.extend(went(false, 100));
        assert_eq!(disturbed, [Next::Soon; 101], "one look may have been disturbed");
    }
}
