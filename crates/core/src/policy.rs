//! How to wait: what to do between two looks at what has not come yet.
//!
//! Which is right depends on who else wants the processor:
//!
//! | wanted by | do | because |
//! |---|---|---|
//! | nobody: there is a processor for each rank that is awake | look on, then sleep | waking a sleeper costs more than a long look |
//! | ranks of the node | offer it | whoever is waited for may have it at once, also where others sleep |
//! | strangers that compute | sleep | who offers it gives a whole time slice away; who is woken comes before them |
//!
//! The first two are known from the start. Strangers show by the time that they take. Where ranks take turns, that is
//! an offer of the processor from which this rank does not come back for long (nor does it while another rank of the
//! node computes, but that one says so, or works on a long message, but then the ranks have had nearly all the time);
//! where each rank has a processor of its own, the system counts how long it has waited for it. What adds up to a good
//! part of the time tells of strangers: they are remembered for a while, and the longer the more often they are met
//! again; then it is tried whether they are gone. A network rings nobody: beside one a rank with a processor of its own
//! keeps that from strangers for as long as a sleep costs.
//!
//! Where ranks take turns a turn begins with cold caches, and whatever it asks for is paid dearly, the clock most of
//! all. So as long as no stranger has been met an offer that was timed is followed by some that are *free*: nothing is
//! asked before them, and a wait that ends soon does not know how long it has taken.
//!
//! Who only looks and returns, as `MPI_Test` does, never sleeps; but looks in a row that find nothing offer the
//! processor once in a while where ranks take turns.
//!
//! A policy is a value without a clock: times are nanoseconds that the caller has read, or reads if asked. What was
//! tried, and figures: `docs/decisions/19-waiting.md`.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// How the threads of a process wait.
#[derive(Debug)]
pub(crate) struct Policy {
    /// There are fewer processors than ranks.
    crowded: bool,
    /// Processors that the ranks can use at the same time.
    cpus: u64,
    /// Ranks of other nodes that use the same ones; whether they are awake nobody knows.
    elsewhere: u64,
    /// From what time on an offer of the processor was taken by a stranger.
    late: u64,
    /// How long to sleep at most.
    nap: Duration,
    /// Offers of the processor that are still to be made without a thought.
    free: AtomicU32,
    strangers: Strangers,
    /// When it was asked last for how long the ranks have had processors, and what the answer was.
    asked: AtomicU64,
    had: AtomicU64,
}

/// What to do before the next look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing.
    Look,
    /// Offer the processor to others.
    Offer,
    /// Sleep until somebody rings.
    Sleep,
}

/// A wait that the first fast looks did not end.
#[derive(Debug, Default)]
pub(crate) struct Wait {
    /// When the clock was read for the first time since something has come.
    since: Option<u64>,
    /// Steps since something has come.
    steps: u32,
    /// Nothing has come since the last sleep.
    slept: bool,
    /// There is a network, which rings for nobody.
    is_beside_fabric: bool,
}

/// Looks in a row that have found nothing, of calls that do not wait, since the processor was offered last.
#[derive(Debug, Default)]
pub(crate) struct VainLooks(usize);

/// A time in which nothing comes, of one that waits.
#[derive(Debug)]
pub(crate) struct Silence {
    /// When that was noticed first.
    since: Option<u64>,
    /// How long it lasts until those on other nodes are asked.
    patience: Duration,
}

/// What strangers have taken, and until when they are expected.
#[derive(Debug, Default)]
struct Strangers {
    /// Time taken, less a part of the time that has passed.
    taken: AtomicU64,
    /// When that was counted last.
    counted: AtomicU64,
    until: AtomicU64,
    /// For how long they were remembered when they were met last.
    memory: AtomicU64,
    /// How many more offers of the processor are all timed.
    watched: AtomicU32,
}

const MICROSECOND: u64 = 1000;
const MILLISECOND: u64 = 1000 * MICROSECOND;

/// The longest sleep: who is not rung for all the same gets up some time, and so do those who wait for processes of
/// other jobs, since nobody tells of their end. With more ranks than so many each gets up more seldom.
const NAP: Duration = Duration::from_millis(250);
const NAPPERS: usize = 64;
const NAPS: usize = 4;

/// A program that looks again and again offers the processor once in so many looks: the first ones cost nothing, and
/// an offer that nobody takes costs as much as they all.
const LOOKS_PER_OFFER: usize = 16;

/// So many offers are free after one that was timed, while no stranger has been met for so many that were all timed.
const FREE_OFFERS: u32 = 7;
const WATCHED_OFFERS: u32 = 1000;

/// Looks that are over before it is known what they cost.
const FEW_LOOKS: u32 = 64;

/// Where ranks work on long messages an offer may take most of the patience; they are about to tell something.
const LEAST_STEPS: u32 = 16;

/// An offer takes a microsecond where nobody wants the processor, and some tens or hundreds for each rank of the node
/// that works on a piece of a message meanwhile. Time slices have a millisecond and more.
const SLICE: u64 = MILLISECOND;

/// What is taken, beyond this part of the time that passes, is enough to tell of strangers: two slices in short time,
/// not one now and then.
const ENOUGH: u64 = 4 * MILLISECOND;
const FORGIVEN_PART: u64 = 4;

/// The processors are the ranks' own if they have had them for more than this part of the time: 9 of 10.
const OURS: u64 = 9;
const OURS_OF: u64 = 10;

/// How long strangers are remembered at first, and at most.
const SHORT_MEMORY: u64 = 20 * MILLISECOND;
const LONG_MEMORY: u64 = 500 * MILLISECOND;

/// Sleeps beside a network take no less than to get up again, and no more than what nobody notices who has waited for
/// as long as that takes: a part of the silence.
const NAPS_BESIDE_FABRIC: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(50));
const PART_OF_SILENCE: u32 = 24;
/// For as long as the shortest of these is more than that part of the silence, a wait looks on.
const PATIENCE_BESIDE_FABRIC: u64 = NAPS_BESIDE_FABRIC.0.as_nanos() as u64 * PART_OF_SILENCE as u64;
/// Before this a wait keeps its processor from strangers: most is over sooner than who sleeps gets up.
const YIELDS_BESIDE_FABRIC: u64 = 2 * NAPS_BESIDE_FABRIC.0.as_nanos() as u64;
/// How long nothing comes before those who are waited for are asked whether they are there. It doubles each time, until
/// it takes so much longer than the time before.
const FIRST_PATIENCE: Duration = Duration::from_millis(8);
const MOST_PATIENCE: Duration = Duration::from_secs(1);
/// From when on also those with whom nothing was exchanged are asked: that makes a connection, some ten milliseconds of
/// a processor.
const LONG_SILENCE: Duration = Duration::from_secs(2);

impl Default for Silence {
    fn default() -> Self {
        Self { since: None, patience: FIRST_PATIENCE }
    }
}

impl Wait {
    /// One for what may come over a network, or one where there is none.
    pub fn new(is_beside_fabric: bool) -> Self {
        Self { is_beside_fabric, ..Self::default() }
    }

    /// Whether it has slept before, since something has come.
    pub fn has_slept(&self) -> bool {
        self.slept
    }
}

impl Silence {
    /// It has lasted for as long as a wait in which nothing has come.
    pub fn begin_with(&mut self, wait: &Wait) {
        self.since = self.since.or(wait.since);
    }

    /// How long to sleep beside a network, which rings for nobody.
    pub fn nap(&mut self, now: u64) -> Duration {
        let (shortest, longest) = NAPS_BESIDE_FABRIC;
        (self.so_far(now) / PART_OF_SILENCE).clamp(shortest, longest)
    }

    /// Whether those on other nodes are to be asked, once more.
    pub fn is_to_be_broken(&mut self, now: u64) -> bool {
        let so_far = self.so_far(now);
        let is_due = so_far >= self.patience;
        if is_due {
            self.patience = so_far + so_far.min(MOST_PATIENCE);
        }
        is_due
    }

    /// Whether it is worth a connection to find out who is there.
    pub fn is_long(&mut self, now: u64) -> bool {
        self.so_far(now) >= LONG_SILENCE
    }

    fn so_far(&mut self, now: u64) -> Duration {
        Duration::from_nanos(now.saturating_sub(*self.since.get_or_insert(now)))
    }
}

impl Policy {
    /// For a node with `ranks` ranks, which together may use `cpus` processors.
    pub fn new(ranks: usize, cpus: usize) -> Self {
        Self::beside(ranks, cpus, 0)
    }

    /// The same, where `elsewhere` ranks of other nodes use these processors, too: nodes may be containers.
    pub fn beside(ranks: usize, cpus: usize, elsewhere: usize) -> Self {
        // All others that share the processor may have had their turn.
        let all = ranks + elsewhere;
        let others = all.div_ceil(cpus.max(1)).saturating_sub(1).max(1);
        Self {
            crowded: all > cpus,
            cpus: cpus.min(all) as u64,
            elsewhere: elsewhere as u64,
            late: others as u64 * SLICE,
            nap: NAP * (ranks / NAPPERS).clamp(1, NAPS) as u32,
            free: AtomicU32::new(0),
            strangers: Strangers::default(),
            asked: AtomicU64::new(0),
            had: AtomicU64::new(0),
        }
    }

    /// Looks as fast as possible with which a wait begins.
    #[inline]
    pub fn looks(&self, is_crowded: bool) -> u32 {
        match is_crowded {
            true => 2,
            // Those who are awake need not be on different processors: the system moves them when it likes.
            false if self.crowded => FEW_LOOKS,
            false => 4000,
        }
    }

    /// The same for who has asked a network meanwhile: a look takes a system call there, and the time says when it is
    /// enough, not their number.
    #[inline]
    pub fn looks_beside_fabric(&self, is_crowded: bool) -> u32 {
        self.looks(is_crowded).min(FEW_LOOKS)
    }

    /// Whether ranks take turns: where there are fewer processors than ranks, if more are awake than can run.
    #[inline]
    pub fn is_crowded(&self, awake: impl FnOnce() -> usize) -> bool {
        self.crowded && awake() as u64 + self.elsewhere > self.cpus
    }

    /// What to do next. `moved` says whether anything has come, if not what is waited for.
    pub fn step(&self, wait: &mut Wait, moved: bool, is_crowded: bool, clock: impl FnOnce() -> u64) -> Step {
        if moved {
            *wait = Wait::new(wait.is_beside_fabric);
        }
        wait.steps += 1;
        if wait.slept {
            return Step::Sleep;
        }
        let now = clock();
        let patience = match is_crowded {
            true => 500 * MICROSECOND,
            false if wait.is_beside_fabric => PATIENCE_BESIDE_FABRIC,
            false => 200 * MICROSECOND,
        };
        let lasted = now - *wait.since.get_or_insert(now);
        let is_long = lasted > patience && wait.steps > LEAST_STEPS;
        // A network rings nobody: a sleep lasts as long as it may, though what is waited for comes at once. But who
        // would offer its processor, among ranks that take turns, would lose a slice of it.
        let yields = self.crowded || !wait.is_beside_fabric || lasted > YIELDS_BESIDE_FABRIC;
        if is_long || yields && self.strangers.are_near(now) {
            wait.slept = true;
            Step::Sleep
        } else if self.crowded {
            Step::Offer
        } else {
            Step::Look
        }
    }

    /// How long to sleep at most, where there are peers of `other_jobs` or none.
    pub fn nap(&self, other_jobs: bool) -> Duration {
        if other_jobs { NAP } else { self.nap }
    }

    /// Whether to offer the processor, now that a call that does not wait has looked at `looks` things and found
    /// nothing. Strangers alone are no reason: unlike who sleeps, who offers it does not come before them again.
    #[inline]
    pub fn offers_after(&self, vain: &mut VainLooks, looks: usize) -> bool {
        if !self.crowded {
            return false;
        }
        vain.0 = vain.0.saturating_add(looks);
        let is_often = vain.0 >= LOOKS_PER_OFFER;
        if is_often {
            *vain = VainLooks::default();
        }
        is_often
    }

    /// Whether there are offers to be made without a thought.
    #[inline]
    pub fn has_free_offers(&self) -> bool {
        self.free.load(Ordering::Relaxed) != 0
    }

    /// Whether the offer that follows is one of those: [`Policy::offered`] need not be told of it.
    #[inline]
    pub fn takes_free_offer(&self) -> bool {
        // Several threads may do this at the same time, and take one together.
        let left = self.free.load(Ordering::Relaxed);
        if left != 0 {
            self.free.store(left - 1, Ordering::Relaxed);
        }
        left != 0
    }

    /// Takes in that the processor was offered from `begin` to `end`; `is_peer` says whether a rank of the node may
    /// have used it for its own computations, and `had` how long all ranks together have had processors, if known.
    pub fn offered(
        &self,
        begin: u64,
        end: u64,
        is_peer: impl FnOnce() -> bool,
        had: impl FnOnce() -> Option<u64>,
    ) {
        let away = end.saturating_sub(begin);
        if away > self.late && !is_peer() && !had().is_some_and(|had| self.was_ours(end, had)) {
            self.strangers.took(end, away);
        }
        if !self.strangers.watch() {
            self.free.store(FREE_OFFERS, Ordering::Relaxed);
        }
    }

    /// Whether ranks had the processors nearly all of the time since this was asked last: then they have worked on
    /// long messages, or what strangers took does not matter.
    fn was_ours(&self, now: u64, had: u64) -> bool {
        let before = self.asked.swap(now, Ordering::Relaxed);
        let used = had.saturating_sub(self.had.swap(had, Ordering::Relaxed));
        before == 0 || used * OURS_OF > now.saturating_sub(before) * self.cpus * OURS
    }

    /// Whether [`Policy::waited`] is to be told before the next sleep. It need not be told often.
    pub fn asks_for_waiting(&self, now: u64) -> bool {
        !self.crowded && now.saturating_sub(self.strangers.counted.load(Ordering::Relaxed)) > MILLISECOND
    }

    /// Takes in how long this rank has waited for its processor since this was told last.
    pub fn waited(&self, now: u64, time: u64) {
        self.strangers.took_since(now, time);
    }

    /// Messages of so many bytes are read out of the sender's memory where that is possible, though it may be slower:
    /// every piece of a message that goes through a ring must wait for both ranks to have a processor.
    pub fn direct_from_bytes(&self, clock: impl FnOnce() -> u64) -> u64 {
        match self.crowded {
            _ if !self.strangers.have_been_met() || !self.strangers.are_near(clock()) => u64::MAX,
            true => 256 << 10,
            false => 8 << 20,
        }
    }
}

impl Strangers {
    fn are_near(&self, now: u64) -> bool {
        now < self.until.load(Ordering::Relaxed)
    }

    fn have_been_met(&self) -> bool {
        self.until.load(Ordering::Relaxed) != 0
    }

    /// Whether to look for them in the next offer too, since they have been met.
    fn watch(&self) -> bool {
        let left = self.watched.load(Ordering::Relaxed);
        self.watched.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    /// Notes that they have taken some time just now.
    fn took(&self, now: u64, time: u64) {
        self.count(now, |taken, forgiven| taken.saturating_sub(forgiven) + time);
    }

    /// Notes that they have taken some time since anything was noted.
    fn took_since(&self, now: u64, time: u64) {
        self.count(now, |taken, forgiven| (taken + time).saturating_sub(forgiven));
    }

    /// Notes what `sum` makes of what they have taken, and of how much is forgiven since that was noted.
    ///
    /// Several threads may do this at the same time: each of the results will do.
    fn count(&self, now: u64, sum: impl FnOnce(u64, u64) -> u64) {
        let passed = now.saturating_sub(self.counted.swap(now, Ordering::Relaxed));
        let taken = sum(self.taken.load(Ordering::Relaxed), passed / FORGIVEN_PART).min(2 * ENOUGH);
        self.taken.store(taken, Ordering::Relaxed);
        self.watched.store(WATCHED_OFFERS, Ordering::Relaxed);
        if taken > ENOUGH {
            let memory = self.memory.load(Ordering::Relaxed);
            let is_again = now < self.until.load(Ordering::Relaxed).saturating_add(memory);
            let memory = if is_again { (2 * memory).clamp(SHORT_MEMORY, LONG_MEMORY) } else { SHORT_MEMORY };
            self.memory.store(memory, Ordering::Relaxed);
            self.until.store(now + memory, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
