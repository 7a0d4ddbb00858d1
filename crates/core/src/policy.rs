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
mod tests {
    use super::*;

    /// Steps that take `each`, from `begin` until `end`, while nothing comes; the last one.
    fn wait(policy: &Policy, begin: u64, end: u64, each: u64) -> Step {
        let mut wait = Wait::default();
        let times = (begin..=end).step_by(each as usize);
        times.map(|now| policy.step(&mut wait, false, policy.crowded, || now)).last().expect("it begins")
    }

    #[test]
    fn who_hears_nothing_asks_more_and_more_seldom_but_again_and_again() {
        let mut silence = Silence::default();
        let begin = 77;
        let asked: Vec<u64> =
            (0..6_000).filter(|ms| silence.is_to_be_broken(begin + ms * MILLISECOND)).collect();
        assert_eq!(asked[..8], [8, 16, 32, 64, 128, 256, 512, 1024]);
        assert_eq!(asked[8..], [2024, 3024, 4024, 5024]);
    }

    #[test]
    fn what_comes_over_a_network_is_late_by_a_part_of_the_time_for_which_it_was_waited() {
        let mut silence = Silence::default();
        let naps = [0, 1, 32, 64, 256, 100_000].map(|ms| silence.nap(5 + ms * MILLISECOND).as_micros());
        assert_eq!(naps, [100, 100, 1333, 2666, 10_666, 50_000]);
        assert_eq!(Silence::default().nap(7 * MILLISECOND).as_micros(), 100, "it begins when it is noticed");
        let mut silence = Silence::default();
        silence.begin_with(&Wait { since: Some(MILLISECOND), ..Wait::default() });
        assert_eq!(silence.nap(25 * MILLISECOND).as_micros(), 1000, "or with the wait");
    }

    #[test]
    fn with_a_processor_for_each_rank_a_wait_looks_and_then_sleeps() {
        let policy = Policy::new(2, 2);
        assert_eq!(wait(&policy, 0, 200 * MICROSECOND, MICROSECOND), Step::Look);
        assert_eq!(wait(&policy, 0, 202 * MICROSECOND, MICROSECOND), Step::Sleep);
    }

    #[test]
    fn beside_a_network_a_wait_looks_for_a_time_and_not_so_often() {
        let policy = Policy::new(2, 2);
        assert_eq!((policy.looks_beside_fabric(false), policy.looks_beside_fabric(true)), (FEW_LOOKS, 2));
        let mut wait = Wait::new(true);
        let mut step = |moved, now| policy.step(&mut wait, moved, false, || now);
        (0..LEAST_STEPS).for_each(|_| assert_eq!(step(false, 0), Step::Look));
        assert_eq!(step(false, PATIENCE_BESIDE_FABRIC), Step::Look);
        assert_eq!(step(false, PATIENCE_BESIDE_FABRIC + 1), Step::Sleep);
        assert_eq!(step(true, 2 * PATIENCE_BESIDE_FABRIC), Step::Look, "something has come");
        (0..LEAST_STEPS).for_each(|_| assert_eq!(step(false, 3 * PATIENCE_BESIDE_FABRIC), Step::Look));
        assert_eq!(step(false, 4 * PATIENCE_BESIDE_FABRIC), Step::Sleep);
    }

    #[test]
    fn ranks_that_sleep_leave_their_processors_to_the_others() {
        let policy = Policy::new(256, 2);
        assert!(policy.is_crowded(|| 3) && !policy.is_crowded(|| 2));
        assert_eq!((policy.looks(true), Policy::new(2, 2).looks(false)), (2, 4000));
        assert!(!Policy::new(2, 2).is_crowded(|| unreachable!("there is a processor for each")));
    }

    #[test]
    fn ranks_of_other_nodes_on_the_same_processors_want_them_too() {
        let policy = Policy::beside(1, 2, 3);
        assert!(policy.is_crowded(|| 1) && !Policy::beside(1, 2, 1).is_crowded(|| 1));
        assert_eq!(wait(&policy, 0, 500 * MICROSECOND, 10 * MICROSECOND), Step::Offer);
    }

    /// Of three ranks one sleeps, and the others are on one processor: who only looked would keep it from the other one
    /// until it slept, too. A barrier took 145 us so.
    #[test]
    fn who_is_awake_offers_its_processor_though_there_is_another_one() {
        let policy = Policy::new(3, 2);
        assert!(!policy.is_crowded(|| 2) && policy.looks(false) < 100);
        assert_eq!(policy.step(&mut Wait::default(), false, false, || 0), Step::Offer);
    }

    #[test]
    fn with_fewer_processors_it_offers_its_own_first() {
        let policy = Policy::new(3, 2);
        assert_eq!(wait(&policy, 0, 500 * MICROSECOND, 10 * MICROSECOND), Step::Offer);
        assert_eq!(wait(&policy, 0, 650 * MICROSECOND, 10 * MICROSECOND), Step::Sleep);
        assert_eq!(wait(&policy, 0, 1500 * MICROSECOND, 100 * MICROSECOND), Step::Offer, "each takes long");
    }

    #[test]
    fn the_more_ranks_the_longer_each_sleeps_but_not_beyond_a_second() {
        let naps = [2, 64, 128, 256, 1000].map(|ranks| Policy::new(ranks, 2).nap(false).as_millis());
        assert_eq!(naps, [250, 250, 500, 1000, 1000]);
        assert_eq!(Policy::new(1000, 2).nap(true).as_millis(), 250);
    }

    #[test]
    fn what_comes_makes_patient_again_and_a_vain_sleep_does_not() {
        let policy = Policy::new(3, 2);
        let mut wait = Wait::default();
        let mut step = |moved, now| policy.step(&mut wait, moved, true, || now);
        for _ in 0..LEAST_STEPS {
            assert_eq!(step(false, MICROSECOND), Step::Offer);
        }
        assert_eq!(step(false, MILLISECOND), Step::Sleep);
        assert_eq!(step(false, 2 * MILLISECOND), Step::Sleep);
        assert_eq!(step(true, 3 * MILLISECOND), Step::Offer);
    }

    #[test]
    fn beside_a_network_a_short_wait_is_not_slept_through_for_strangers() {
        let policy = Policy::new(2, 2);
        policy.waited(MILLISECOND, 2 * ENOUGH);
        let mut wait = Wait::new(true);
        let mut step = |now| policy.step(&mut wait, false, false, || now);
        assert_eq!([MILLISECOND, MILLISECOND + YIELDS_BESIDE_FABRIC].map(&mut step), [Step::Look; 2]);
        assert_eq!(step(MILLISECOND + YIELDS_BESIDE_FABRIC + 1), Step::Sleep);
        assert_eq!(first_step(&policy, MILLISECOND), Step::Sleep, "on a node it is woken");
        let policy = Policy::beside(1, 1, 1);
        let now = lose_a_slice(&policy, lose_a_slice(&policy, 0));
        assert_eq!(
            policy.step(&mut Wait::new(true), false, true, || now),
            Step::Sleep,
            "an offer costs more"
        );
    }

    /// A thousandth of ten seconds, of which this rank is told when it has to wait for once.
    #[test]
    fn a_slice_in_a_long_time_tells_of_nobody() {
        let policy = Policy::new(2, 2);
        policy.waited(10_000 * MILLISECOND, ENOUGH + MILLISECOND);
        assert_eq!(first_step(&policy, 10_000 * MILLISECOND), Step::Look);
    }

    /// Offers the processor at `now` and is back after a slice of 3 ms; when that is.
    fn lose_a_slice(policy: &Policy, now: u64) -> u64 {
        let back = now + 3 * MILLISECOND;
        policy.offered(now, back, || false, || None);
        back
    }

    fn first_step(policy: &Policy, now: u64) -> Step {
        policy.step(&mut Wait::default(), false, policy.crowded, || now)
    }

    #[test]
    fn beside_strangers_it_sleeps_at_once_until_they_are_forgotten() {
        let policy = Policy::new(3, 2);
        let now = lose_a_slice(&policy, 0);
        assert_eq!(first_step(&policy, now), Step::Offer, "a slice now and then is no matter");
        let now = lose_a_slice(&policy, now);
        assert_eq!(first_step(&policy, now), Step::Sleep);
        assert_eq!(first_step(&policy, now + SHORT_MEMORY - 1), Step::Sleep);
        assert_eq!(first_step(&policy, now + SHORT_MEMORY), Step::Offer);
    }

    #[test]
    fn most_offers_are_free_until_strangers_are_met() {
        let policy = Policy::new(3, 2);
        let free = || (0..).find(|_| !policy.takes_free_offer()).expect("some time they are used up");
        assert_eq!(free(), 0, "the first one is timed");
        for now in 0..3 {
            policy.offered(now, now + 1, || false, || None);
            assert!(policy.has_free_offers());
            assert_eq!(free(), FREE_OFFERS);
        }
        let unread = || -> u64 { unreachable!("the clock") };
        assert_eq!(policy.direct_from_bytes(unread), u64::MAX);
        let now = lose_a_slice(&policy, 0);
        let timed = (0..).find(|_| {
            policy.offered(now, now + 1, || false, || None);
            free() != 0
        });
        assert!(
            timed.is_some_and(|timed| (WATCHED_OFFERS - 2..=WATCHED_OFFERS).contains(&timed)),
            "{timed:?}"
        );
    }

    #[test]
    fn looks_of_calls_that_do_not_wait_offer_the_processor_once_in_a_while() {
        let policy = Policy::new(3, 2);
        let mut vain = VainLooks::default();
        let mut offers = |looks| policy.offers_after(&mut vain, looks);
        let offered: Vec<bool> = (0..2 * LOOKS_PER_OFFER).map(|_| offers(1)).collect();
        assert_eq!(offered.iter().filter(|&&offered| offered).count(), 2);
        assert!(offered[LOOKS_PER_OFFER - 1] && !offers(LOOKS_PER_OFFER - 1) && offers(1));
        assert!(offers(usize::MAX), "who looks at many things has looked often");
    }

    #[test]
    fn with_a_processor_for_each_rank_such_looks_never_offer_it() {
        let policy = Policy::new(2, 2);
        let mut vain = VainLooks::default();
        assert!(!policy.offers_after(&mut vain, LOOKS_PER_OFFER));
        policy.waited(MILLISECOND, 2 * ENOUGH);
        assert_eq!(first_step(&policy, MILLISECOND), Step::Sleep, "strangers are near");
        assert!(!policy.offers_after(&mut vain, LOOKS_PER_OFFER));
    }

    #[test]
    fn many_ranks_to_a_processor_are_not_taken_for_strangers() {
        let policy = Policy::new(8, 2);
        for number in 0..10 {
            lose_a_slice(&policy, 3 * number * MILLISECOND);
        }
        assert_eq!(first_step(&policy, 30 * MILLISECOND), Step::Offer, "three others had a millisecond each");
    }

    #[test]
    fn strangers_that_take_little_change_nothing() {
        let policy = Policy::new(3, 2);
        let mut now = 0;
        for _ in 0..100 {
            now = lose_a_slice(&policy, now) + 20 * MILLISECOND;
            assert_eq!(first_step(&policy, now), Step::Offer);
        }
    }

    #[test]
    fn strangers_that_are_met_again_and_again_are_remembered_longer() {
        let policy = Policy::new(3, 2);
        let mut now = lose_a_slice(&policy, 0);
        let mut memories = Vec::new();
        for _ in 0..7 {
            while !policy.strangers.are_near(now) {
                now = lose_a_slice(&policy, now);
            }
            let memory = (1..).find(|ahead| !policy.strangers.are_near(now + ahead * MILLISECOND));
            now += memory.expect("it ends") * MILLISECOND;
            memories.extend(memory);
        }
        assert_eq!(memories, [20, 40, 80, 160, 320, 500, 500]);
        now = lose_a_slice(&policy, now + 2 * LONG_MEMORY);
        assert_eq!(first_step(&policy, now), Step::Offer, "they had been away");
    }

    #[test]
    fn ranks_of_the_node_that_compute_are_no_strangers() {
        let policy = Policy::new(3, 2);
        for number in 0..10 {
            let now = 3 * number * MILLISECOND;
            policy.offered(now, now + 3 * MILLISECOND, || true, || None);
        }
        assert_eq!(first_step(&policy, 30 * MILLISECOND), Step::Offer);
    }

    #[test]
    fn ranks_that_had_the_processors_are_no_strangers_either() {
        for (share, expected) in [(95, Step::Offer), (80, Step::Sleep)] {
            let policy = Policy::new(3, 2);
            let mut now = 0;
            for _ in 0..5 {
                let back = now + 3 * MILLISECOND;
                policy.offered(now, back, || false, || Some(2 * back * share / 100));
                now = back;
            }
            assert_eq!(first_step(&policy, now), expected, "{share} percent");
        }
    }

    #[test]
    fn with_a_processor_of_its_own_a_rank_that_waits_for_it_has_company() {
        let policy = Policy::new(2, 2);
        let mut now = 10 * MILLISECOND;
        assert!(policy.asks_for_waiting(now));
        for _ in 0..5 {
            now += 2 * MILLISECOND;
            policy.waited(now, 100 * MICROSECOND);
            assert!(!policy.asks_for_waiting(now));
        }
        assert_eq!(policy.direct_from_bytes(|| now), u64::MAX);
        for _ in 0..5 {
            now += 2 * MILLISECOND;
            policy.waited(now, 3 * MILLISECOND / 2);
        }
        assert_eq!((first_step(&policy, now), policy.direct_from_bytes(|| now)), (Step::Sleep, 8 << 20));
    }

    #[test]
    fn long_messages_are_read_directly_beside_strangers_only() {
        let policy = Policy::new(3, 2);
        assert_eq!(policy.direct_from_bytes(|| 0), u64::MAX);
        let first = lose_a_slice(&policy, 0);
        let now = lose_a_slice(&policy, first);
        assert_eq!(policy.direct_from_bytes(|| now), 256 << 10);
        assert_eq!(policy.direct_from_bytes(|| now + SHORT_MEMORY), u64::MAX);
    }
}
