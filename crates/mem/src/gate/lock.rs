//! The lock of a gate that threads share: nearly free for a thread that comes alone, a futex for several.
//!
//! A thread that has come many times in a row becomes the *favourite*: it passes by two plain stores and a few loads.
//! Locked instructions would be a good part of what a short message costs. Everybody else takes the *word*, as of any
//! mutex. Who finds a favourite then takes the favour away, makes all threads of the process pass a
//! [barrier](super::system::barrier), and waits until the favourite is not inside:
//!
//! - The favourite says that it passes, then looks whether it is the favourite still. Of the two threads, one at least
//!   sees what the other has written: the barrier falls before the look, which then finds the favour gone, or after the
//!   store, which is then seen.
//! - A thread may be late to see that it is the favourite no longer, and say that it passes when another one has
//!   become that. So each says it at a place of its own, which becomes nobody else's as long as it lives. There are few
//!   places: when all are taken, nobody else becomes the favourite.
//!
//! To end a favour costs some microseconds, and happens seldom: if it has not lasted long, the next favourite must have
//! come twice as often. Threads that take turns at a processor last long. Where the system has no such barrier there is
//! no favourite; nor is there another one where it has refused a barrier once.

use std::num::NonZero;

use super::system::{self, barrier, has_barrier, pause, sleep_while, this_thread, wake_one};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// See the module. Only one thread at a time is inside, by either way, and it cannot come in again.
#[derive(Debug)]
pub(super) struct Lock {
    /// The place of the favourite; `NOBODY` if there is none. Stored by the holder of the word alone.
    favourite: AtomicUsize,
    places: [Place; PLACES],
    word: AtomicU32,
    /// How many threads wait, for the word or for the favourite.
    waiting: AtomicU32,
    /// The thread that holds the word; 0 is none. A thread finds its own number here only if it holds it.
    holder: AtomicUsize,
    /// The thread that held the word last, and how often in a row. For its holder.
    last: AtomicUsize,
    times: AtomicU32,
    /// The first thread that has held it for a call, and whether another one has. Stored by its holder.
    caller: AtomicUsize,
    has_had_several: AtomicBool,
    /// Who has held it so often in a row becomes the favourite. For its holder.
    patience: AtomicU32,
    /// When there was a favourite last, in nanoseconds. For its holder.
    since: AtomicU64,
}

/// Where a thread that was the favourite says whether it passes.
#[derive(Debug)]
struct Place {
    /// The thread; 0 as long as it is nobody's.
    thread: AtomicUsize,
    /// Whether it is inside as the favourite, or about to be. Stored by it alone.
    passing: AtomicBool,
}

/// How a thread has come in: with the word, or as the favourite, which has a place. It is one number, and not an enum,
/// so that guards are moved in registers: copies of larger ones wait for the stores that have made them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way(NonZero<u8>);

impl Way {
    pub(super) const WORD: Self = Self(NonZero::<u8>::MAX);

    #[inline]
    fn favoured(place: usize) -> Self {
        const { assert!(PLACES < u8::MAX as usize, "the last number is the word's") };
        Self(NonZero::<u8>::MIN.saturating_add(place as u8))
    }

    /// The place of the favourite.
    #[inline]
    fn place(self) -> Option<usize> {
        (self != Self::WORD).then(|| usize::from(self.0.get() - 1))
    }
}

const PLACES: usize = 16;
const NOBODY: usize = PLACES;

/// What the word says.
const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and somebody may sleep until it is free.
const SLEPT_FOR: u32 = 2;

/// A barrier costs as much as some hundred times the word.
const LEAST_PATIENCE: u32 = if cfg!(loom) { 1 } else { 128 };
const MOST_PATIENCE: u32 = 1 << 20;
/// A favour that has lasted so long was worth the barrier that ends it.
const LONG_NS: u64 = 200_000;
/// Looks at the word before a sleep. Who is inside looks itself whether somebody waits, and is gone in a microsecond;
/// but for long messages.
const LOOKS: u32 = if cfg!(loom) { 1 } else { 30 };
/// Looks whether somebody who waits comes in, before he is taken for one who needs the processor, or is not awake yet.
const POLITE_LOOKS: u32 = 30;

impl Lock {
    pub(super) fn new() -> Self {
        Self {
            favourite: AtomicUsize::new(NOBODY),
            places: [(); PLACES]
                .map(|()| Place { thread: AtomicUsize::new(0), passing: AtomicBool::new(false) }),
            word: AtomicU32::new(FREE),
            waiting: AtomicU32::new(0),
            holder: AtomicUsize::new(0),
            last: AtomicUsize::new(0),
            times: AtomicU32::new(0),
            caller: AtomicUsize::new(0),
            has_had_several: AtomicBool::new(false),
            patience: AtomicU32::new(LEAST_PATIENCE),
            since: AtomicU64::new(0),
        }
    }

    /// As if the system had no barrier.
    #[cfg(all(loom, test))]
    pub(super) fn never_favour(&self) {
        self.patience.store(u32::MAX, Ordering::Relaxed);
    }

    /// Waits for whoever is inside, and goes in; `None` if this thread is inside.
    #[inline]
    pub(super) fn enter(&self) -> Option<Way> {
        self.enter_as(this_thread())
    }

    #[inline]
    fn enter_as(&self, me: usize) -> Option<Way> {
        // What the favourite did before it was one it did itself: there is nothing to acquire.
        let at = self.favourite.load(Ordering::Relaxed);
        if let Some(place) = self.places.get(at)
            && place.thread.load(Ordering::Relaxed) == me
        {
            if place.passing.load(Ordering::Relaxed) {
                return None;
            }
            place.passing.store(true, Ordering::Relaxed);
            system::keep_order(); // with the barrier in `end_favour`
            if self.favourite.load(Ordering::Relaxed) == at {
                return Some(Way::favoured(at));
            }
            place.passing.store(false, Ordering::Release);
        }
        self.take_word(me)
    }

    /// Whether nobody was inside just now.
    #[inline]
    pub(super) fn seems_free(&self) -> bool {
        let favourite = self.places.get(self.favourite.load(Ordering::Relaxed));
        let is_passed = favourite.is_some_and(|place| place.passing.load(Ordering::Relaxed));
        !is_passed && self.word.load(Ordering::Relaxed) == FREE
    }

    fn take_word(&self, me: usize) -> Option<Way> {
        if self.holder.load(Ordering::Relaxed) == me {
            return None;
        }
        // Acquire pairs with the Release in `leave`.
        if self.word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_err() {
            // Who ends the favour holds the word until the favourite has gone out.
            if self.is_passing(me) {
                return None;
            }
            self.wait_for_word();
        }
        self.holder.store(me, Ordering::Relaxed);
        if let Some(place) = self.places.get(self.favourite.load(Ordering::Relaxed)) {
            self.end_favour(place);
        }
        Some(Way::WORD)
    }

    /// Goes out, having come in this way for a call.
    #[inline]
    pub(super) fn leave(&self, way: Way) {
        if way == Way::WORD {
            self.note_caller();
        }
        self.leave_as_helper(way);
    }

    /// The same of the helper, which makes no calls.
    #[inline]
    pub(super) fn leave_as_helper(&self, way: Way) {
        match way.place() {
            // Pairs with the Acquire in `end_favour`.
            Some(at) => self.places[at].passing.store(false, Ordering::Release),
            None => self.leave_word(),
        }
    }

    /// Notes who has called: a favourite has held the word before.
    fn note_caller(&self) {
        let me = self.holder.load(Ordering::Relaxed);
        match self.caller.load(Ordering::Relaxed) {
            0 => self.caller.store(me, Ordering::Relaxed),
            first if first != me => self.has_had_several.store(true, Ordering::Relaxed),
            _ => {}
        }
    }

    fn leave_word(&self) {
        self.note_turn();
        self.holder.store(0, Ordering::Relaxed);
        // Pairs with the Acquire in `take_word` and `wait_for_word`.
        if self.word.swap(FREE, Ordering::Release) == SLEPT_FOR {
            wake_one(&self.word);
        }
    }

    /// Whether more than one thread has been inside for calls.
    pub(super) fn has_had_several(&self) -> bool {
        self.has_had_several.load(Ordering::Relaxed)
    }

    /// Whether another thread waits.
    #[inline]
    pub(super) fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Gives those who wait time to go in, for one who has just left and is in no hurry.
    #[cold]
    pub(super) fn step_aside(&self) {
        for _ in 0..POLITE_LOOKS {
            if !self.is_awaited() || self.word.load(Ordering::Relaxed) != FREE {
                return;
            }
            pause();
        }
        system::yield_now();
    }

    /// Whether a thread is inside that came in as the favourite.
    fn is_passing(&self, thread: usize) -> bool {
        let is_its = |place: &Place| place.thread.load(Ordering::Relaxed) == thread;
        self.places.iter().any(|place| is_its(place) && place.passing.load(Ordering::Relaxed))
    }

    #[cold]
    fn wait_for_word(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let is_taken = (0..LOOKS).any(|_| {
            pause();
            self.word.load(Ordering::Relaxed) == FREE
                && self.word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
        });
        // Who has slept cannot know whether others do still, and wakes one when he leaves.
        while !is_taken && self.word.swap(SLEPT_FOR, Ordering::Acquire) != FREE {
            sleep_while(&self.word, SLEPT_FOR);
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Ends the favour of the thread at `place`, for the holder of the word.
    #[cold]
    fn end_favour(&self, place: &Place) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.favourite.store(NOBODY, Ordering::Relaxed);
        barrier();
        let mut looks = 0;
        // Pairs with the Release in `leave`.
        while place.passing.load(Ordering::Acquire) {
            system::pause_longer(looks);
            looks += 1;
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        let lasted = system::now_ns().saturating_sub(self.since.load(Ordering::Relaxed));
        let more = (2 * self.patience.load(Ordering::Relaxed)).min(MOST_PATIENCE);
        self.patience.store(if lasted > LONG_NS { LEAST_PATIENCE } else { more }, Ordering::Relaxed);
    }

    /// Notes that the holder of the word has been inside; if it has come often it is the favourite from now on.
    fn note_turn(&self) {
        let me = self.holder.load(Ordering::Relaxed);
        let is_again = self.last.load(Ordering::Relaxed) == me;
        let times = if is_again { self.times.load(Ordering::Relaxed) + 1 } else { 1 };
        let is_often = times >= self.patience.load(Ordering::Relaxed);
        self.last.store(me, Ordering::Relaxed);
        self.times.store(if is_often { 0 } else { times }, Ordering::Relaxed);
        if is_often && has_barrier() {
            self.favour(me);
        }
    }

    #[cold]
    fn favour(&self, thread: usize) {
        let is_its = |place: &Place| [0, thread].contains(&place.thread.load(Ordering::Relaxed));
        if let Some(at) = self.places.iter().position(is_its) {
            self.places[at].thread.store(thread, Ordering::Relaxed);
            self.since.store(system::now_ns(), Ordering::Relaxed);
            self.favourite.store(at, Ordering::Relaxed);
        }
    }
}

#[cfg(all(loom, test))]
mod loom_tests;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Comes in and goes out so often that the thread is the favourite then, if there can be one.
    fn become_favourite(lock: &Lock) -> bool {
        for _ in 0..=LEAST_PATIENCE {
            let way = lock.enter().expect("it is not inside");
            lock.leave(way);
        }
        let way = lock.enter().expect("it is not inside");
        lock.leave(way);
        way != Way::WORD
    }

    #[test]
    fn who_comes_again_and_again_needs_the_word_no_longer() {
        let lock = Lock::new();
        assert_eq!(lock.enter(), Some(Way::WORD));
        lock.leave(Way::WORD);
        assert_eq!(become_favourite(&lock), has_barrier());
    }

    #[test]
    fn another_thread_waits_for_the_favourite_and_ends_the_favour() {
        let lock = Lock::new();
        if !become_favourite(&lock) {
            return;
        }
        assert_eq!(lock.enter(), Some(Way::favoured(0)));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| lock.enter());
            while !lock.is_awaited() {
                std::thread::yield_now();
            }
            assert_eq!(lock.enter(), None, "it is inside");
            assert!(!other.is_finished());
            lock.leave(Way::favoured(0));
            assert_eq!(other.join().expect("no panic"), Some(Way::WORD));
        });
        assert!(!lock.is_awaited());
        lock.leave(Way::WORD);
        assert_eq!(lock.enter(), Some(Way::WORD));
    }

    #[test]
    fn a_short_favour_costs_patience_and_a_long_one_none() {
        let lock = Lock::new();
        if !become_favourite(&lock) {
            return;
        }
        let end_favour_of = |since: u64| {
            lock.since.store(since, Ordering::Relaxed);
            std::thread::scope(|scope| {
                scope.spawn(|| lock.leave(lock.enter().expect("it is not inside")));
            });
            lock.patience.load(Ordering::Relaxed)
        };
        assert_eq!(end_favour_of(u64::MAX), 2 * LEAST_PATIENCE);
        lock.patience.store(LEAST_PATIENCE, Ordering::Relaxed);
        assert!(become_favourite(&lock));
        lock.patience.store(2 * LEAST_PATIENCE, Ordering::Relaxed);
        assert_eq!(end_favour_of(0), LEAST_PATIENCE);
    }
}
