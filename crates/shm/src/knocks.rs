//! Knocks: which ranks of the job want to be looked at.
//!
//! A rank looks only at the rings that it knows of and that something has come by lately. Who has made a first ring to
//! it, or sends by one that is not looked at any more, knocks: a bit for each rank of the job, behind the summary of
//! the [`Doorway`]. So many ranks that never talk to this one cost it nothing in a poll.
//!
//! Whoever dies between its bit and the summary leaves nothing to repair: the bit is found when the next one knocks.
//! For the same reason the summary is set after every bit, however it stands.

use crate::sync::{AtomicU64, Ordering};
use crate::{Doorway, Segment};

/// The knocks at one rank's doorway. Many writers, the ranks of its job; one reader, the rank that owns it.
#[derive(Clone, Copy, Debug)]
pub struct Knocks {
    words: &'static [AtomicU64],
    doorway: &'static Doorway,
}

impl Knocks {
    /// Bytes in the segment of a job of `ranks` ranks: whole lines.
    pub(crate) fn bytes(ranks: usize) -> usize {
        (words(ranks) * size_of::<AtomicU64>()).next_multiple_of(128)
    }

    /// Those of the owner of `doorway`, at `offset` of the segment of a job of `ranks` ranks.
    ///
    /// # Panics
    /// If they do not lie there.
    pub(crate) fn view(
        segment: &'static Segment,
        offset: usize,
        ranks: usize,
        doorway: &'static Doorway,
    ) -> Self {
        // SAFETY: they are atomics, and every process of this version has them here.
        let words = unsafe { segment.view_all(offset, words(ranks)) };
        Self { words, doorway }
    }

    /// Lets the owner look at what `rank` has done before. It may sleep: see [`Job::wake`](crate::Job::wake).
    #[cold]
    pub fn knock(&self, rank: usize) {
        // Pairs with the Acquire in `take`: what was done before is seen by whoever sees the bit.
        self.words[rank / BITS].fetch_or(1 << (rank % BITS), Ordering::Release);
        self.doorway.remind();
    }

    /// Who has knocked since this was asked last, to be asked after [`Doorway::look`]; only by the owner.
    pub fn take(&self, mut found: impl FnMut(usize)) {
        for (place, word) in self.words.iter().enumerate() {
            if word.load(Ordering::Relaxed) == 0 {
                continue;
            }
            let mut bits = word.swap(0, Ordering::Acquire); // pairs with the Release in `knock`
            while bits != 0 {
                found(place * BITS + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }
}

const BITS: usize = u64::BITS as usize;

fn words(ranks: usize) -> usize {
    ranks.div_ceil(BITS)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::doorway::testing::doorway;

    /// Those of `ranks` ranks, on the heap, leaked.
    pub(crate) fn knocks(ranks: usize) -> Knocks {
        let words = (0..words(ranks)).map(|_| AtomicU64::new(0)).collect();
        Knocks { words: Box::leak(words), doorway: Box::leak(Box::new(doorway())) }
    }

    /// Who is found if the owner looks as often as it is asked to.
    pub(crate) fn look(knocks: &Knocks) -> Vec<usize> {
        let mut found = Vec::new();
        while knocks.doorway.is_waiting() {
            knocks.doorway.look();
            knocks.take(|rank| found.push(rank));
        }
        found
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::testing::{knocks, look};

    #[test]
    fn who_has_knocked_is_found_once_whatever_the_rank() {
        let knocks = knocks(130);
        assert_eq!(look(&knocks), []);
        for rank in [129, 0, 63, 64, 0] {
            knocks.knock(rank);
        }
        assert_eq!(look(&knocks), [0, 63, 64, 129]);
        assert_eq!(look(&knocks), []);
        knocks.knock(64);
        knocks.clear();
        knocks.doorway.look();
        knocks.take(|rank| panic!("rank {rank} is forgotten"));
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::testing::{knocks, look};
    use super::*;
    use crate::sync::AtomicU32;

    /// The owner looks meanwhile, and once more in the end; what a rank had done before its knock is seen.
    #[test]
    fn no_knock_is_missed() {
        loom::model(|| {
            let knocks = knocks(2);
            let done: &'static [AtomicU32; 2] = Box::leak(Box::new([AtomicU32::new(0), AtomicU32::new(0)]));
            let knockers = [0, 1].map(|rank| {
                loom::thread::spawn(move || {
                    done[rank].store(1, Ordering::Relaxed);
                    knocks.knock(rank);
                })
            });
            let see = |found: Vec<usize>| {
                found.iter().for_each(|&rank| assert_eq!(done[rank].load(Ordering::Relaxed), 1));
                found.len()
            };
            let early = see(look(&knocks));
            knockers.into_iter().for_each(|knocker| knocker.join().expect("who knocks does not panic"));
            assert_eq!(early + see(look(&knocks)), 2);
        });
    }
}
