//! A doorway: where processes of other jobs tell a rank that they have made a ring to it.
//!
//! Of a ring that another job's process has made ([`Sender::make`](crate::ring::Sender::make)) the receiver learns
//! here: the sender fills one of a few slots of the receiver's doorway, in the receiver's segment, and then sets a word
//! that the receiver looks at in every poll. That word has a cache line of its own, so as long as nobody comes a poll
//! costs one load. Ranks of the own job [knock](crate::Knocks) behind the same word.
//!
//! Whoever dies in the middle of an announcement leaves one slot unusable, and nothing else to repair: slots are
//! claimed in the name of a job, and the owner clears them when it knows that no process of that job is left
//! ([`Doorway::forget`]). The summary says nothing about a slot, so it is set after every announcement, however it
//! stands: who has set it for another slot may have died before that one was filled.

use crate::ring::RingSize;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// See the module. Many writers, of other jobs; one reader, the rank that owns it.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Doorway {
    summary: Summary,
    slots: [Slot; SLOTS],
}

/// A ring that a process of another job has made to the owner of a doorway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The sender's job: [`Job::id`](crate::Job::id).
    pub job: u64,
    /// The sender's rank in its job.
    pub rank: u32,
    /// Where the ring lies in the segment of the sender's job.
    pub offset: u64,
    /// How large it is. This, too, the sender says.
    pub size: RingSize,
}

#[repr(C, align(128))]
#[derive(Debug)]
struct Summary(AtomicU32);

#[repr(C, align(64))]
#[derive(Debug)]
struct Slot {
    /// 0 if the slot is free; else the job that has claimed it, above a bit that says whether the rest is written.
    state: AtomicU64,
    offset: AtomicU64,
    rank: AtomicU32,
    cells: AtomicU32,
    bulk_bytes: AtomicU32,
}

/// Few: the owner takes what it finds at its next poll.
const SLOTS: usize = if cfg!(loom) { 2 } else { 32 };
/// The bit of [`Slot::state`].
const PUBLISHED: u64 = 1;

impl Doorway {
    /// Tells the owner of a ring; false if that cannot be just now, because all slots are in use. The owner may sleep:
    /// see [`Job::wake`](crate::Job::wake).
    pub fn announce(&self, announcement: &Announcement) -> bool {
        let first = announcement.rank as usize;
        let told = (0..SLOTS).any(|step| self.slots[first.wrapping_add(step) % SLOTS].fill(announcement));
        if told {
            self.remind();
        }
        told
    }

    /// Whether there may be something to take.
    #[inline]
    pub fn is_waiting(&self) -> bool {
        self.summary.0.load(Ordering::Relaxed) != 0 // only a hint: `take` acquires
    }

    /// Begins to look, before anything is taken: what is announced from now on is waiting again. Only for the owner.
    pub fn look(&self) {
        // Pairs with the Release in `announce` and `remind`: what was told before is seen by what follows.
        self.summary.0.swap(0, Ordering::Acquire);
    }

    /// An announcement that the owner wants, after [`Doorway::look`]; nobody else may call this. The others stay where
    /// they are, and are not looked at again before a new one comes or [`Doorway::remind`] is called.
    pub fn take(&self, mut wants: impl FnMut(&Announcement) -> bool) -> Option<Announcement> {
        let (slot, found) =
            self.slots.iter().find_map(|slot| Some((slot, slot.read().filter(&mut wants)?)))?;
        slot.free();
        Some(found)
    }

    /// Lets [`Doorway::is_waiting`] be true: there is something to look for.
    pub fn remind(&self) {
        // No store: that could hide another one's exchange from the next `look`, and with it what that one has told.
        // Pairs with the Acquire in `look`.
        self.summary.0.swap(1, Ordering::Release);
    }

    /// Frees what a job's processes have claimed and not been able to fill. Only the owner may call this, and only when
    /// no process of the job is left.
    pub fn forget(&self, job: u64) {
        let is_theirs = |slot: &&Slot| slot.state.load(Ordering::Relaxed) & !PUBLISHED == claim(job);
        self.slots.iter().filter(is_theirs).for_each(Slot::free);
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.slots.iter().for_each(Slot::free);
        self.summary.0.store(0, Ordering::Relaxed);
    }
}

impl Slot {
    /// False if somebody has the slot.
    fn fill(&self, announcement: &Announcement) -> bool {
        let Announcement { job, rank, offset, size } = *announcement;
        let claim = claim(job);
        let is_free = self.state.load(Ordering::Relaxed) == 0
            // Pairs with the Release in `free`: the owner has read what was here before it is overwritten.
            && self.state.compare_exchange(0, claim, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if is_free {
            self.offset.store(offset, Ordering::Relaxed);
            self.rank.store(rank, Ordering::Relaxed);
            self.cells.store(word(size.cells), Ordering::Relaxed);
            self.bulk_bytes.store(word(size.bulk_bytes), Ordering::Relaxed);
            self.state.store(claim | PUBLISHED, Ordering::Release); // pairs with the Acquire in `read`
        }
        is_free
    }

    /// What was announced here, if that is complete.
    fn read(&self) -> Option<Announcement> {
        let state = self.state.load(Ordering::Acquire); // pairs with the Release in `fill`
        (state & PUBLISHED != 0).then(|| Announcement {
            job: state >> 1,
            rank: self.rank.load(Ordering::Relaxed),
            offset: self.offset.load(Ordering::Relaxed),
            size: RingSize {
                cells: self.cells.load(Ordering::Relaxed) as usize,
                bulk_bytes: self.bulk_bytes.load(Ordering::Relaxed) as usize,
            },
        })
    }

    fn free(&self) {
        self.state.store(0, Ordering::Release); // pairs with the Acquire in `fill`
    }
}

/// What a slot's state is while a process of `job` fills it. Jobs have positive signed numbers.
fn claim(job: u64) -> u64 {
    (job << 1).max(2)
}

/// A size as it is announced; one that no ring has is announced as one that no ring has.
fn word(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(0)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    pub(crate) fn doorway() -> Doorway {
        let slot = || Slot {
            state: AtomicU64::new(0),
            offset: AtomicU64::new(0),
            rank: AtomicU32::new(0),
            cells: AtomicU32::new(0),
            bulk_bytes: AtomicU32::new(0),
        };
        Doorway { summary: Summary(AtomicU32::new(0)), slots: std::array::from_fn(|_| slot()) }
    }

    pub(super) fn announcement(rank: u32) -> Announcement {
        Announcement { job: 1 << 62, rank, offset: u64::from(rank) << 7, size: RingSize::FULL }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::testing::{announcement, doorway};
    use super::*;

    fn take_all(doorway: &Doorway) -> Vec<u32> {
        let mut ranks: Vec<u32> =
            std::iter::from_fn(|| doorway.take(|_| true)).map(|announcement| announcement.rank).collect();
        ranks.sort_unstable();
        ranks
    }

    #[test]
    fn what_is_announced_is_taken_once() {
        let doorway = doorway();
        assert!(!doorway.is_waiting() && doorway.take(|_| true).is_none());
        assert!(doorway.announce(&announcement(40)) && doorway.is_waiting());
        doorway.look();
        assert_eq!(doorway.take(|_| true), Some(announcement(40)));
        assert_eq!(doorway.take(|_| true), None);
        assert!(!doorway.is_waiting());
    }

    #[test]
    fn a_full_doorway_says_so_until_something_is_taken() {
        let doorway = doorway();
        assert!((0..SLOTS as u32).all(|rank| doorway.announce(&announcement(rank))));
        assert!(!doorway.announce(&announcement(77)));
        doorway.take(|_| true).expect("it is full");
        assert!(doorway.announce(&announcement(77)));
        assert_eq!(take_all(&doorway).len(), SLOTS);
    }

    #[test]
    fn what_the_owner_does_not_want_yet_stays_and_does_not_wait() {
        let doorway = doorway();
        assert!((0..3).all(|rank| doorway.announce(&announcement(rank))));
        doorway.look();
        assert_eq!(doorway.take(|announcement| announcement.rank == 1), Some(announcement(1)));
        assert_eq!(doorway.take(|_| false), None);
        assert!(!doorway.is_waiting());
        doorway.remind();
        assert!(doorway.is_waiting());
        assert_eq!(take_all(&doorway), [0, 2]);
    }

    #[test]
    fn who_dies_in_an_announcement_costs_a_slot_until_its_job_is_forgotten() {
        let doorway = doorway();
        doorway.slots[0].state.store(claim(5), Ordering::Relaxed);
        assert!((1..SLOTS as u32).all(|rank| doorway.announce(&announcement(rank))));
        assert!(!doorway.announce(&announcement(77)));
        doorway.forget(4);
        assert!(!doorway.announce(&announcement(77)));
        doorway.forget(5);
        assert!(doorway.announce(&announcement(77)));
        assert!(take_all(&doorway).into_iter().eq((1..SLOTS as u32).chain([77])));
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use loom::sync::Arc;

    use super::testing::{announcement, doorway};
    use super::*;

    fn take(doorway: &Doorway) -> u32 {
        let mut count = 0;
        while doorway.is_waiting() {
            doorway.look();
            while let Some(found) = doorway.take(|_| true) {
                assert_eq!(found, announcement(found.rank), "it is whole");
                count += 1;
            }
        }
        count
    }

    /// The owner looks meanwhile, and once more in the end.
    #[test]
    fn no_announcement_is_missed() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let doorway = Arc::new(doorway());
            let writers = [2, 4].map(|rank| {
                let doorway = doorway.clone();
                loom::thread::spawn(move || assert!(doorway.announce(&announcement(rank))))
            });
            let early = take(&doorway);
            writers.into_iter().for_each(|writer| writer.join().expect("an announcer does not panic"));
            assert_eq!(early + take(&doorway), 2);
        });
    }

    #[test]
    fn a_slot_is_written_again_when_it_was_read() {
        loom::model(|| {
            let doorway = Arc::new(doorway());
            doorway.slots[0].state.store(claim(9), Ordering::Relaxed); // its claimer is dead
            let announcer = doorway.clone();
            let writer = loom::thread::spawn(move || {
                assert!(announcer.announce(&announcement(1)));
                1 + u32::from(announcer.announce(&announcement(2)))
            });
            let early = take(&doorway);
            let announced = writer.join().expect("an announcer does not panic");
            assert_eq!(early + take(&doorway), announced);
        });
    }
}
