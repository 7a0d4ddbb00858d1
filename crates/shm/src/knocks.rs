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

    /// Lets the owner look at what `rank` has done before. It may sleep: see [`Job::waker`](crate::Job::waker).
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
