//! Who sleeps: how ranks sleep without missing anything, at no cost to those who are awake.
//!
//! A rank that found nothing to do for long sleeps at its doorbell. A bit for each rank says that threads of it sleep,
//! or are about to; one word above them all, the summary, whether any bit may be set. To publish something costs a
//! writer one load more, of the summary: no fence, no system call, no locked instruction. Only where that says so it
//! looks at the bits of those for whom it has published, and rings for who sleeps.
//!
//! That is sound because of what a sleeper does when it has set its bit and the summary, before it looks once more
//! whether there is something to do:
//!
//! - Where ranks lie down seldom each makes every running rank pass a [barrier](crate::membarrier). A writer published
//!   before it, and the sleeper sees that, or loads summary and bit after it, and finds them set. So as long as the
//!   others sleep, those who are awake pay two loads for what they publish.
//! - Where many do, that would interrupt all others again and again. One of them says in the summary that writers are
//!   to pass a *fence* before they look at the bits, makes all pass a barrier, and notes that this is *known*. Who
//!   finds it known passes a fence, no more. A writer that has not seen it has loaded the summary before that barrier,
//!   so that what it has published is seen by now; one that has passes a fence, too. Of two who both write, pass a
//!   fence, and read what the other one writes, one at least sees the other.
//! - When it has become calm again who lies down takes that back. Who finds it taken back sees the bits of all who
//!   have relied on it: they have changed the summary before.
//!
//! Who gets up clears its bit; that of one who has died asleep the launcher clears. Either then clears the summary if
//! no bit is left, by an exchange that fails where anybody has set the summary since he began to look: everyone who
//! sets it changes it, be it set or not. Thus it is never clear while somebody sleeps, and it is set in vain only from
//! a death at the wrong moment until the next one gets up, which costs writers a little time.
//!
//! Where the system has no such barrier, or refuses it, sleeps are short; where a process takes no part in it, all are.

use std::ops::Range;
use std::time::Duration;

use crate::doorbell::{Doorbell, Posts};
use crate::fault::{Point, reach};
use crate::membarrier;
use crate::sync::{AtomicU64, Ordering, fence};

/// Whether anyone sleeps.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct Summary {
    /// Four bits, below two numbers: how often [`FENCED`] was taken back, and, above, how often [`SET`] was set.
    word: AtomicU64,
    /// When anybody lay down last.
    last: AtomicU64,
}

/// Somebody may sleep.
const SET: u64 = 1;
/// Who publishes something passes a fence before it looks for whom.
const FENCED: u64 = 2;
/// All who run have passed a barrier since that is so.
const KNOWN: u64 = 4;
/// There are processes that pass no barriers. This stays.
const BLIND: u64 = 8;
/// The least of each of the two numbers, and all bits of the first.
const RETREAT: u64 = 16;
const TURN: u64 = 1 << 32;
const RETREATS: u64 = TURN - RETREAT;

/// Who lies down so long after everybody else makes all others pass a barrier: a few microseconds of his, one of each
/// who runs.
#[cfg(not(loom))]
const CALM_NS: u64 = 1_000_000;

/// Ranks with bits in one word.
pub(crate) const RANKS_PER_WORD: usize = u64::BITS as usize;

/// The ranks of a job that sleep, and their doorbells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sleepers {
    pub summary: &'static Summary,
    /// A bit for each rank.
    pub bits: &'static [AtomicU64],
    /// By rank.
    pub bells: &'static [Doorbell],
}

/// Sleepers as they are seen by who has published something, after the fence that this takes if it takes one.
#[derive(Clone, Copy, Debug)]
pub struct Asleep(Sleepers);

/// Where the threads of a rank sleep, and how others know that they do.
#[derive(Clone, Copy, Debug)]
pub struct Bed {
    sleepers: Sleepers,
    rank: usize,
}

/// Longest sleep where a wake-up could be missed.
const BLIND_SLEEP: Duration = Duration::from_millis(1);

/// How often to look whether the summary is known, where somebody is about to make it so. A barrier takes some
/// microseconds; who makes one all the same costs others time, and no more.
const LOOKS_FOR_KNOWN: u32 = if cfg!(loom) { 1 } else { 1000 };

impl Summary {
    /// Whether anyone could be asleep.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.word.load(Ordering::Relaxed) & SET != 0
    }

    /// Notes that this process, which has published nothing yet, passes no barriers. Nobody relies on them from then
    /// on; who did before is seen to sleep.
    pub(crate) fn note_blind(&self) {
        self.change(|word| word | BLIND);
    }

    /// Whether all processes that publish something pass barriers.
    pub(crate) fn has_barriers(&self) -> bool {
        self.word.load(Ordering::Relaxed) & BLIND == 0
    }

    /// Whether nobody has lain down for a while, until now.
    fn is_calm(&self) -> bool {
        #[cfg(loom)]
        return self.last.load(Ordering::Relaxed) != 0; // a model says what is so
        #[cfg(not(loom))]
        {
            let now = crate::machine::now_ns();
            now.saturating_sub(self.last.swap(now, Ordering::Relaxed)) > CALM_NS
        }
    }

    /// Sets it, for one whose bit is set; what it was.
    fn set(&self) -> u64 {
        self.change(|word| word.wrapping_add(TURN) | SET)
    }

    /// Tells who publishes to pass a fence; how often that was taken back before.
    fn call_for_fences(&self) -> u64 {
        self.change(|word| word | FENCED) & RETREATS
    }

    /// Takes that back.
    fn retreat(&self) {
        self.change(|word| match word & FENCED {
            0 => word,
            _ => word & !(FENCED | KNOWN | RETREATS) | (word + RETREAT) & RETREATS,
        });
    }

    /// Notes that everyone who runs has passed a barrier since fences were called for, after so many retreats.
    fn note_known(&self, retreats: u64) {
        self.change(|word| match word & (FENCED | RETREATS) == FENCED | retreats {
            true => word | KNOWN,
            false => word, // fences are not called for any more, or again
        });
    }

    /// Changes it; what it was.
    fn change(&self, change: impl Fn(u64) -> u64) -> u64 {
        // Acquire: who sees that fences are known to be called for sees what was published before the barrier. Release:
        // who sees what has become of it, by the Acquire in `is_known`, `clear_if` and `Sleepers::asleep`, sees the
        // bits of all who have changed it.
        let before = self.word.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |word| Some(change(word)));
        before.unwrap_or_default()
    }

    fn is_known(&self) -> bool {
        self.word.load(Ordering::Acquire) & KNOWN != 0
    }

    /// Clears it if `nobody` sleeps.
    fn clear_if(&self, nobody: impl FnOnce() -> bool) {
        let seen = self.word.load(Ordering::Acquire);
        if seen & SET != 0 && nobody() {
            // If it fails, another has cleared it, or somebody sleeps, who will clear it.
            let clear = seen & !(SET | FENCED | KNOWN);
            let _ = self.word.compare_exchange(seen, clear, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

impl Sleepers {
    /// Those for whom something was published, if any could be asleep.
    #[inline]
    pub(crate) fn asleep(&self) -> Option<Asleep> {
        let word = self.summary.word.load(Ordering::Acquire); // pairs with the Release in `Summary::change`
        if word & SET == 0 {
            return None;
        }
        Some(if word & FENCED == 0 { Asleep(*self) } else { Asleep::behind_fence(*self) })
    }

    /// The word and the bit in it that stand for a rank.
    fn bit(&self, rank: usize) -> (&AtomicU64, u64) {
        (&self.bits[rank / RANKS_PER_WORD], 1 << (rank % RANKS_PER_WORD))
    }

    /// Says that a thread of `rank` is about to sleep; whether it may then rely on being rung for, once it has looked
    /// again.
    fn announce(&self, rank: usize) -> bool {
        let is_calm = self.summary.is_calm();
        let (word, bit) = self.bit(rank);
        // Pairs with that in `part`; and with the Acquire in `Summary::clear_if`, by way of the summary.
        word.fetch_or(bit, Ordering::AcqRel);
        let before = self.summary.set();
        if before & BLIND != 0 {
            return false;
        }
        if is_calm {
            if before & FENCED != 0 {
                self.summary.retreat();
            }
            return membarrier::pass_by_all();
        }
        if before & KNOWN != 0 || before & FENCED != 0 && self.soon_known() {
            // With that in `Asleep::behind_fence`: of this thread and one who has published something for it, one at
            // least sees what the other has written.
            fence(Ordering::SeqCst);
            return true;
        }
        let retreats = self.summary.call_for_fences();
        let is_passed = membarrier::pass_by_all();
        if is_passed {
            self.summary.note_known(retreats);
        }
        is_passed
    }

    /// Waits a moment for who has called for fences first.
    fn soon_known(&self) -> bool {
        (0..LOOKS_FOR_KNOWN).any(|_| {
            #[cfg(not(loom))]
            std::hint::spin_loop();
            #[cfg(loom)]
            loom::thread::yield_now();
            self.summary.is_known()
        })
    }

    /// Says that a thread of `rank` has got up.
    fn part(&self, rank: usize) {
        let bell = &self.bells[rank];
        if bell.get_up() {
            let (word, bit) = self.bit(rank);
            // Pairs with that in `announce`: if another thread has lain down and set the bit, that it lies is seen.
            word.fetch_and(!bit, Ordering::AcqRel);
            if bell.is_used() {
                bell.ring(); // the bit was its, too: it may try again
            }
            self.clear_if_nobody_sleeps();
        }
    }

    /// Nobody sleeps there any more: the process of `rank` has ended.
    pub(crate) fn forget(&self, rank: usize) {
        let (word, bit) = self.bit(rank);
        word.fetch_and(!bit, Ordering::Relaxed);
        self.clear_if_nobody_sleeps();
    }

    fn clear_if_nobody_sleeps(&self) {
        // Of the last two, who get up at the same time, one at least sees that both have.
        fence(Ordering::SeqCst);
        self.summary.clear_if(|| self.bits.iter().all(|word| word.load(Ordering::Relaxed) == 0));
    }
}

impl Asleep {
    /// Those who sleep, as who has published something sees them after a fence.
    #[cold]
    pub(crate) fn behind_fence(sleepers: Sleepers) -> Self {
        fence(Ordering::SeqCst); // with that in `Sleepers::announce`
        Self(sleepers)
    }

    /// Wakes `rank`, if it sleeps.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn wake(&self, rank: usize) {
        let (word, bit) = self.0.bit(rank);
        if word.load(Ordering::Relaxed) & bit != 0 {
            self.0.bells[rank].ring();
        }
    }

    /// Wakes `rank`, if it sleeps and waits for a post of `poster`, who has posted something.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn wake_for_post(&self, rank: usize, poster: usize) {
        let (word, bit) = self.0.bit(rank);
        let bell = &self.0.bells[rank];
        // Acquire pairs with the Release in `announce`: of a sleep that may have overlooked the post, it is seen whose
        // posts it is for. In one that begins later the post is seen.
        if word.load(Ordering::Acquire) & bit != 0 && bell.wants(poster) {
            bell.ring();
        }
    }

    /// Wakes those of `ranks` that sleep. Costs a load for 64 of them.
    ///
    /// # Panics
    /// If there are no such ranks.
    pub fn wake_all_of(&self, ranks: Range<usize>) {
        self.wake_those_of(ranks, |_| true);
    }

    /// Wakes those of `ranks` that sleep and that are `wanted`. What a rank shows before it begins to sleep is seen
    /// there, or it sees what this one has published.
    ///
    /// # Panics
    /// If there are no such ranks.
    pub fn wake_those_of(&self, ranks: Range<usize>, wanted: impl Fn(usize) -> bool) {
        let Range { start, end } = ranks;
        for word in start / RANKS_PER_WORD..end.div_ceil(RANKS_PER_WORD) {
            let mut bits = self.0.bits[word].load(Ordering::Relaxed);
            while bits != 0 {
                let rank = word * RANKS_PER_WORD + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if (start..end).contains(&rank) && wanted(rank) {
                    self.0.bells[rank].ring();
                }
            }
        }
    }
}

impl Bed {
    pub(crate) fn new(sleepers: Sleepers, rank: usize) -> Self {
        Self { sleepers, rank }
    }

    /// Sleeps until the rank is woken, `timeout` passes or a signal comes; not at all if `ready` says that there is
    /// something to do. To be called by threads of the rank. Who posts need not wake it unless it waits for his
    /// `posts`: where several threads sleep, those of anybody.
    pub fn sleep(&self, timeout: Duration, posts: Posts, ready: impl FnOnce() -> bool) {
        let Self { sleepers, rank } = *self;
        let bell = &sleepers.bells[rank];
        bell.want(posts);
        let state = bell.lie_down();
        let is_rung_for = sleepers.announce(rank);
        if !ready() {
            reach(Point::Asleep);
            bell.wait(state, if is_rung_for { timeout } else { timeout.min(BLIND_SLEEP) });
        }
        sleepers.part(rank);
    }

    /// Wakes the threads that sleep there.
    #[inline]
    pub fn ring(&self) {
        if let Some(asleep) = self.sleepers.asleep() {
            asleep.wake(self.rank);
        }
    }

    /// Whether any rank of the job sleeps.
    pub fn someone_sleeps(&self) -> bool {
        self.sleepers.summary.is_set()
    }

    /// How many ranks of the job are awake, at most.
    #[inline]
    pub fn awake(&self) -> usize {
        let asleep = |word: &AtomicU64| word.load(Ordering::Relaxed).count_ones() as usize;
        let all = self.sleepers.bells.len();
        let asleep = if self.someone_sleeps() { self.sleepers.bits.iter().map(asleep).sum() } else { 0 };
        all.saturating_sub(asleep)
    }
}

#[cfg(test)]
mod testing {
    use super::*;

    /// Those of a job whose ranks are all awake.
    pub(super) fn sleepers(ranks: usize) -> Sleepers {
        let bits: Vec<_> = (0..ranks.div_ceil(RANKS_PER_WORD)).map(|_| AtomicU64::new(0)).collect();
        let bells: Vec<_> = (0..ranks).map(|_| Doorbell::of_a_test()).collect();
        let summary = Box::leak(Box::new(Summary { word: AtomicU64::new(0), last: AtomicU64::new(0) }));
        Sleepers { summary, bits: bits.leak(), bells: bells.leak() }
    }
}

#[cfg(all(loom, test))]
mod loom_tests;

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Instant;

    use super::testing::sleepers;
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn wake(sleepers: &Sleepers, rank: usize) {
        if let Some(asleep) = sleepers.asleep() {
            asleep.wake(rank);
        }
    }

    #[test]
    fn a_ring_wakes_the_sleeper_long_before_its_timeout() {
        membarrier::register();
        let sleepers = sleepers(70);
        let begin = Instant::now();
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| Bed::new(sleepers, 69).sleep(LONG, Posts::OfAnybody, || false));
            while !sleeper.is_finished() {
                wake(&sleepers, 68);
                wake(&sleepers, 69);
                std::thread::yield_now();
            }
        });
        assert!(begin.elapsed() < LONG / 2);
        assert!(!sleepers.summary.is_set());
    }

    #[test]
    fn a_thread_that_gets_up_leaves_the_bell_to_those_who_sleep() {
        membarrier::register();
        let sleepers = sleepers(1);
        let begin = Instant::now();
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| Bed::new(sleepers, 0).sleep(LONG, Posts::OfAnybody, || false));
            while !sleepers.summary.is_set() {
                std::thread::yield_now();
            }
            while !sleeper.is_finished() {
                Bed::new(sleepers, 0).sleep(LONG, Posts::OfAnybody, || true);
                wake(&sleepers, 0);
                std::thread::yield_now();
            }
        });
        assert!(begin.elapsed() < LONG / 2);
        assert!(!sleepers.summary.is_set());
    }

    #[test]
    fn nobody_sleeps_over_something_that_is_ready() {
        let begin = Instant::now();
        let sleepers = sleepers(1);
        Bed::new(sleepers, 0).sleep(LONG, Posts::OfAnybody, || true);
        assert!(begin.elapsed() < LONG / 2);
        assert!(!sleepers.summary.is_set());
    }

    #[test]
    fn those_of_a_range_are_woken_and_nobody_else() {
        let sleepers = sleepers(200);
        let before: Vec<u32> = sleepers.bells.iter().map(Doorbell::lie_down).collect();
        for rank in 0..200 {
            sleepers.announce(rank);
        }
        let asleep = sleepers.asleep().expect("they sleep");
        asleep.wake_all_of(63..130);
        asleep.wake_all_of(150..150);
        asleep.wake_all_of(199..200);
        for (rank, (bell, before)) in sleepers.bells.iter().zip(before).enumerate() {
            let is_woken = bell.lie_down() != before;
            assert_eq!(is_woken, (63..130).contains(&rank) || rank == 199, "rank {rank}");
        }
    }

    #[test]
    fn a_post_wakes_those_alone_who_wait_for_it() {
        let sleepers = sleepers(4);
        let all = [Posts::OfAnybody, Posts::Of(7), Posts::Of(8), Posts::OfNobody];
        let before = sleepers.bells.iter().zip(all).map(|(bell, posts)| {
            bell.want(posts);
            bell.lie_down()
        });
        let before: Vec<u32> = before.collect();
        for rank in 0..3 {
            sleepers.announce(rank);
        }
        let asleep = sleepers.asleep().expect("they sleep");
        (0..4).for_each(|rank| asleep.wake_for_post(rank, 7));
        let woken = sleepers.bells.iter().zip(before).map(|(bell, before)| bell.lie_down() != before);
        assert_eq!(woken.collect::<Vec<_>>(), [true, true, false, false]);
        assert_eq!(Posts::Of(7).and(Posts::OfNobody).and(Posts::Of(7)), Posts::Of(7));
        assert_eq!(Posts::Of(7).and(Posts::Of(8)), Posts::OfAnybody);
    }

    /// However it is left: with its bit and the summary, or with one of the two.
    #[test]
    fn who_has_died_asleep_is_forgotten() {
        let sleepers = sleepers(3);
        sleepers.announce(1);
        sleepers.forget(1);
        assert!(!sleepers.summary.is_set());
        sleepers.bits[0].store(0b10, Ordering::Relaxed);
        Bed::new(sleepers, 2).sleep(LONG, Posts::OfAnybody, || true);
        assert!(sleepers.summary.is_set(), "the last one seems to sleep");
        sleepers.forget(1);
        assert!(!sleepers.summary.is_set());
        sleepers.summary.set();
        Bed::new(sleepers, 2).sleep(LONG, Posts::OfAnybody, || true);
        assert!(!sleepers.summary.is_set());
    }

    /// Makes it seem that nobody has lain down for long, or only just.
    fn pretend(sleepers: &Sleepers, is_calm: bool) {
        sleepers.summary.last.store(if is_calm { 0 } else { u64::MAX }, Ordering::Relaxed);
    }

    /// Of many who lie down, running ranks are interrupted for the first one only.
    #[test]
    fn who_follows_another_to_bed_finds_that_fences_are_known() {
        membarrier::register();
        let sleepers = sleepers(3);
        pretend(&sleepers, false);
        if !sleepers.announce(0) {
            return; // the system has no barrier
        }
        assert!(sleepers.summary.is_known());
        pretend(&sleepers, false);
        assert!(sleepers.announce(1));
        [0, 1].into_iter().for_each(|rank| sleepers.forget(rank));
        assert!(!sleepers.summary.is_known() && !sleepers.summary.is_set());
        assert_eq!(sleepers.summary.set() & (SET | FENCED | KNOWN), 0);
    }

    #[test]
    fn where_a_process_passes_no_barriers_nobody_relies_on_them() {
        membarrier::register();
        let sleepers = sleepers(3);
        sleepers.summary.note_blind();
        for is_calm in [true, false] {
            pretend(&sleepers, is_calm);
            assert!(!sleepers.announce(0));
            assert!(sleepers.asleep().is_some());
            sleepers.forget(0);
            assert!(!sleepers.summary.is_set() && !sleepers.summary.has_barriers());
        }
    }

    #[test]
    fn where_few_lie_down_nobody_else_passes_fences() {
        membarrier::register();
        let sleepers = sleepers(3);
        pretend(&sleepers, true);
        if !sleepers.announce(0) {
            return; // the system has no barrier
        }
        let flags = || sleepers.summary.word.load(Ordering::Relaxed) & (SET | FENCED | KNOWN);
        assert_eq!(flags(), SET);
        pretend(&sleepers, false);
        assert!(sleepers.announce(1));
        assert_eq!(flags(), SET | FENCED | KNOWN);
        pretend(&sleepers, true);
        assert!(sleepers.announce(2));
        assert_eq!(flags(), SET);
        sleepers.summary.note_known(0);
        assert_eq!(flags(), SET, "that was before");
        let retreats = sleepers.summary.call_for_fences();
        sleepers.summary.note_known(retreats.wrapping_sub(RETREAT));
        assert_eq!(flags(), SET | FENCED, "the barrier of one who called for them before tells nothing");
        sleepers.summary.note_known(retreats);
        assert_eq!(flags(), SET | FENCED | KNOWN);
    }
}
