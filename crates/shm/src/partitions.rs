//! The partitions of a message: what threads say and ask of them without taking turns at a lock.
//!
//! At the sender, [`Marks`]: a bit for each partition that is ready. To mark one is an or of a word and an addition.
//! Somebody has to send what is marked: when the marks are worth a message ([`Marks::mark`] says so), and when the
//! last partition is marked. Of the threads that are told so at the same time, one does it for all
//! ([`Marks::serve`]), and the others go on. At the receiver, [`Arrivals`]: how much of each partition has not arrived
//! yet.
//!
//! None of this is shared between processes: it is here because loom explores it.
//!
//! MPI-5.0: Partitioned Point-to-Point Communication.

use std::ops::Range;

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Which partitions of a send are ready. See the module.
#[derive(Debug)]
pub struct Marks {
    stage: Stage,
    partitions: u32,
    /// So many marks are worth a message.
    step: u32,
    /// A bit per partition.
    words: Box<[AtomicU64]>,
    /// How many partitions are marked; counted after their bits are set.
    marked: AtomicU32,
    /// Threads that have called for the marks to be served and are not served yet.
    calls: AtomicU32,
}

/// What came of marking partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marked {
    /// What is marked is to be served.
    pub is_due: bool,
    /// The first one that was ready before.
    pub twice: Option<u32>,
}

/// The partitions of a send that were taken to be sent, by whoever sends.
#[derive(Debug)]
pub struct Taken {
    words: Box<[u64]>,
    count: u32,
    /// The word in which the last one was found.
    at: usize,
}

/// What is missing of each partition of a receive. One thread at a time notes what arrives, any may look.
#[derive(Debug)]
pub struct Arrivals {
    stage: Stage,
    /// Bytes of a partition.
    bytes: u64,
    /// Bytes that have not arrived, of each; of a partition of no bytes, 1 until all of the message has arrived.
    missing: Box<[AtomicU64]>,
}

/// Whether an operation is active.
#[derive(Debug)]
struct Stage(AtomicU32);

const INACTIVE: u32 = 0;
const ACTIVE: u32 = 1;
/// Its request was freed.
const FREED: u32 = 2;

/// A message of many partitions is sent in about so many parts, or in more if it is asked for.
const PARTS: u32 = 64;
const BITS: u32 = u64::BITS;

impl Stage {
    fn new() -> Self {
        Self(AtomicU32::new(INACTIVE))
    }

    /// All that is stored before is seen by those who find that the operation is active.
    fn set(&self, stage: u32) {
        self.0.store(stage, Ordering::Release); // pairs with the Acquire in `is`
    }

    #[inline]
    fn is(&self, stage: u32) -> bool {
        self.0.load(Ordering::Acquire) == stage // pairs with the Release in `set`
    }
}

impl Marks {
    /// Those of an inactive send of so many partitions.
    pub fn new(partitions: u32) -> Self {
        let words = (0..partitions.div_ceil(BITS)).map(|_| AtomicU64::new(0)).collect();
        let step = partitions.div_ceil(PARTS).max(1);
        let (marked, calls) = (AtomicU32::new(0), AtomicU32::new(0));
        Self { stage: Stage::new(), partitions, step, words, marked, calls }
    }

    /// How many partitions there are.
    #[inline]
    pub fn partitions(&self) -> u32 {
        self.partitions
    }

    /// Begins another round, in which nothing is marked. The one before is complete.
    pub fn open(&self, taken: &mut Taken) {
        self.words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        self.marked.store(0, Ordering::Relaxed);
        *taken = Taken { count: 0, at: 0, words: std::mem::take(&mut taken.words) };
        taken.words.fill(0);
        self.stage.set(ACTIVE);
    }

    /// Ends the round.
    pub fn close(&self) {
        self.stage.set(INACTIVE);
    }

    /// The request is freed.
    pub fn retire(&self) {
        self.stage.set(FREED);
    }

    /// Whether the send is active.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.stage.is(ACTIVE)
    }

    /// Whether the request was freed.
    #[inline]
    pub fn is_retired(&self) -> bool {
        self.stage.is(FREED)
    }

    /// Marks partitions of an active send: what their threads have written before will be sent.
    ///
    /// # Panics
    /// If there are no such partitions.
    #[inline]
    pub fn mark(&self, first: u32, last: u32) -> Marked {
        assert!(first <= last && last < self.partitions, "there are such partitions");
        let (mut newly, mut twice) = (0, None);
        for place in first / BITS..=last / BITS {
            let begin = place * BITS;
            let mask = ones(first.max(begin) - begin, (last - begin).min(BITS - 1));
            // Pairs with the Acquire in `Taken::take`.
            let before = self.words[place as usize].fetch_or(mask, Ordering::Release) & mask;
            newly += (mask & !before).count_ones();
            if before != 0 && twice.is_none() {
                twice = Some(begin + before.trailing_zeros());
            }
        }
        // Release and Acquire: who completes the count has seen the bits of all.
        let before = self.marked.fetch_add(newly, Ordering::AcqRel);
        let after = before + newly;
        let is_due = newly != 0 && (after == self.partitions || before / self.step != after / self.step);
        Marked { is_due, twice }
    }

    /// How many partitions are marked: at least as many bits are seen.
    #[inline]
    pub fn marked(&self) -> u32 {
        self.marked.load(Ordering::Acquire) // pairs with the Release in `mark`
    }

    /// Whether all are, and no thread is about to mark one.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.marked() == self.partitions
    }

    /// Sees to it that `serve` is called after this call began: here, or by another thread that is in this function.
    #[inline]
    pub fn serve(&self, mut serve: impl FnMut()) {
        if self.calls.fetch_add(1, Ordering::AcqRel) != 0 {
            return; // who serves will find that there was one more call
        }
        loop {
            // Pairs with the Release above: those who have called have marked before.
            let seen = self.calls.load(Ordering::Acquire);
            serve();
            if self.calls.fetch_sub(seen, Ordering::AcqRel) == seen {
                return;
            }
        }
    }
}

impl Taken {
    /// Nothing of what `marks` may mark.
    pub fn new(marks: &Marks) -> Self {
        Self { words: vec![0; marks.words.len()].into(), count: 0, at: 0 }
    }

    /// How many were taken.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Takes partitions that are marked and were not taken, one after the other.
    pub fn take(&mut self, marks: &Marks) -> Option<Range<u32>> {
        if self.count == marks.marked() {
            return None;
        }
        let words = self.words.len();
        let place = (self.at..words).chain(0..self.at).find(|&place| self.ready(marks, place) != 0)?;
        self.at = place;
        let begin = place as u32 * BITS;
        let first = begin + self.ready(marks, place).trailing_zeros();
        let mut end = first;
        loop {
            let (place, bit) = ((end / BITS) as usize, end % BITS);
            let run = match self.words.get(place) {
                Some(_) => (self.ready(marks, place) >> bit).trailing_ones(),
                None => 0,
            };
            if run == 0 {
                break;
            }
            self.words[place] |= ones(bit, bit + run - 1);
            end += run;
            if !end.is_multiple_of(BITS) {
                break;
            }
        }
        self.count += end - first;
        Some(first..end)
    }

    /// Those of a word that are marked and not taken.
    #[inline]
    fn ready(&self, marks: &Marks, place: usize) -> u64 {
        // Pairs with the Release in `mark`.
        marks.words[place].load(Ordering::Acquire) & !self.words[place]
    }
}

/// The bits from `first` to `last`.
#[inline]
fn ones(first: u32, last: u32) -> u64 {
    u64::MAX >> (BITS - 1 - (last - first)) << first
}

impl Arrivals {
    /// Those of an inactive receive of so many partitions, each of so many bytes.
    pub fn new(partitions: u32, bytes: u64) -> Self {
        let missing = (0..partitions).map(|_| AtomicU64::new(0)).collect();
        Self { stage: Stage::new(), bytes, missing }
    }

    /// How many partitions there are.
    #[inline]
    pub fn partitions(&self) -> u32 {
        self.missing.len() as u32
    }

    /// Begins another round, in which nothing has arrived.
    pub fn open(&self) {
        self.missing.iter().for_each(|missing| missing.store(self.bytes.max(1), Ordering::Relaxed));
        self.stage.set(ACTIVE);
    }

    /// Ends the round.
    pub fn close(&self) {
        self.stage.set(INACTIVE);
    }

    /// The request is freed.
    pub fn retire(&self) {
        self.stage.set(FREED);
    }

    /// Whether the request was freed.
    #[inline]
    pub fn is_retired(&self) -> bool {
        self.stage.is(FREED)
    }

    /// Notes that so many bytes have been written at `offset` of the message, or that a message of no bytes has come.
    ///
    /// # Panics
    /// If they do not lie in the message.
    pub fn note(&self, offset: u64, bytes: u64) {
        if self.bytes == 0 {
            self.missing.iter().for_each(|missing| missing.store(0, Ordering::Release));
            return;
        }
        for (missing, bytes) in self.pieces(offset, bytes) {
            let rest = missing.load(Ordering::Relaxed).saturating_sub(bytes); // nobody else stores
            missing.store(rest, Ordering::Release); // pairs with the Acquire in `has_arrived`
        }
    }

    /// Whether none of so many bytes at `offset` has arrived, as far as their partitions tell.
    ///
    /// # Panics
    /// If they do not lie in the message.
    pub fn expects(&self, offset: u64, bytes: u64) -> bool {
        self.pieces(offset, bytes).all(|(missing, bytes)| missing.load(Ordering::Relaxed) >= bytes)
    }

    /// What of so many bytes at `offset` is in each partition, of a message of any bytes.
    fn pieces(&self, offset: u64, bytes: u64) -> impl Iterator<Item = (&AtomicU64, u64)> {
        let (end, mut from) = (offset + bytes, offset);
        std::iter::from_fn(move || {
            (from < end).then(|| {
                let partition = from / self.bytes;
                let to = end.min((partition + 1) * self.bytes);
                let bytes = to - std::mem::replace(&mut from, to);
                (&self.missing[partition as usize], bytes)
            })
        })
    }

    /// Whether all of a partition has arrived, or the receive is not active.
    ///
    /// # Panics
    /// If there is no such partition.
    #[inline]
    pub fn has_arrived(&self, partition: u32) -> bool {
        // Pairs with the Release in `note`.
        !self.stage.is(ACTIVE) || self.missing[partition as usize].load(Ordering::Acquire) == 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use crate::sync::UnsafeCell;
    use loom::sync::{Arc, Mutex};

    /// A message of two partitions, and what was sent of it.
    struct Message {
        marks: Marks,
        data: [UnsafeCell<u32>; 2],
        sent: Mutex<(Taken, u32)>,
    }

    impl Message {
        fn new() -> Arc<Self> {
            let marks = Marks::new(2);
            let mut taken = Taken::new(&marks);
            marks.open(&mut taken);
            let data = [UnsafeCell::new(0), UnsafeCell::new(0)];
            Arc::new(Self { marks, data, sent: Mutex::new((taken, 0)) })
        }

        fn fill_and_mark(&self, partition: u32) {
            // SAFETY: nobody reads a partition before it is marked: loom checks it.
            self.data[partition as usize].with_mut(|data| unsafe { *data = 1 });
            if self.marks.mark(partition, partition).is_due {
                self.marks.serve(|| self.send());
            }
        }

        fn send(&self) {
            let mut sent = self.sent.lock().expect("nobody panics");
            let (taken, sum) = &mut *sent;
            while let Some(run) = taken.take(&self.marks) {
                for partition in run {
                    // SAFETY: as above, and nobody writes to one after it was marked.
                    *sum += self.data[partition as usize].with(|data| unsafe { *data });
                }
            }
        }
    }

    #[test]
    fn what_two_threads_mark_is_sent_when_both_have_returned() {
        loom::model(|| {
            let message = Message::new();
            let other = message.clone();
            let thread = loom::thread::spawn(move || other.fill_and_mark(1));
            message.fill_and_mark(0);
            thread.join().expect("the other thread does not panic");
            let sent = message.sent.lock().expect("nobody panics");
            assert_eq!((sent.0.count(), sent.1), (2, 2));
            assert!(message.marks.is_complete());
        });
    }

    #[test]
    fn who_finds_all_partitions_marked_may_begin_another_round() {
        loom::model(|| {
            let message = Message::new();
            let other = message.clone();
            let thread = loom::thread::spawn(move || other.fill_and_mark(1));
            message.fill_and_mark(0);
            {
                let mut sent = message.sent.lock().expect("nobody panics");
                let (taken, _) = &mut *sent;
                if taken.count() == 2 && message.marks.is_complete() {
                    message.marks.open(taken);
                }
            }
            thread.join().expect("the other thread does not panic");
            let sent = message.sent.lock().expect("nobody panics");
            assert_eq!(message.marks.marked(), sent.0.count(), "no mark of the first round is left");
        });
    }

    #[test]
    fn who_sees_that_a_partition_has_arrived_sees_its_data() {
        loom::model(|| {
            let arrivals = Arc::new((Arrivals::new(1, 4), UnsafeCell::new(0)));
            arrivals.0.open();
            let receiver = arrivals.clone();
            loom::thread::spawn(move || {
                // SAFETY: nobody reads before all four bytes are noted: loom checks it.
                receiver.1.with_mut(|data| unsafe { *data = 7 });
                receiver.0.note(0, 4);
            });
            if arrivals.0.has_arrived(0) {
                // SAFETY: it is noted, so it has been written.
                assert_eq!(arrivals.1.with(|data| unsafe { *data }), 7);
            }
        });
    }
}
