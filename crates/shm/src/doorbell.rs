//! The futex that the threads of a rank sleep on.

use std::time::Duration;

#[cfg(not(loom))]
use oxmpi_system::thread::{Among, sleep_while, wake};

use crate::sync::{AtomicU32, Ordering};

/// Where one rank sleeps.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct Doorbell {
    /// The futex: how often it rang, above a bit that says whether a thread may have gone to sleep since.
    state: AtomicU32,
    /// Threads of the rank that sleep, or are about to.
    threads: AtomicU32,
    /// Whose posts they wait for: [`Posts::word`].
    posts: AtomicU32,
}

/// Whose posts a rank waits for while it sleeps: a word to each of a thousand who sleep, for every post of every other,
/// would be a million system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posts {
    /// All, as far as is known.
    OfAnybody,
    /// Those of this rank of its job, and no others.
    Of(usize),
    /// None.
    OfNobody,
}

impl Posts {
    /// Those that either waits for.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::OfNobody, other) => other,
            (this, Self::OfNobody) => this,
            (this, other) if this == other => this,
            _ => Self::OfAnybody,
        }
    }

    fn word(self) -> u32 {
        match self {
            Self::OfAnybody => 0,
            Self::Of(rank) => u32::try_from(rank + 1).expect("ranks are counted in an i32"),
            Self::OfNobody => u32::MAX,
        }
    }
}

/// The bit of [`Doorbell::state`].
const ASLEEP: u32 = 1;
/// One ring more in [`Doorbell::state`].
const RING: u32 = 2;

impl Doorbell {
    /// Wakes all threads of the rank that sleep. One that has not fallen asleep yet finds another state than it
    /// left, and stays awake.
    #[cold]
    pub(crate) fn ring(&self) {
        let state = self.state.load(Ordering::Relaxed);
        let rung = state.wrapping_add(RING) & !ASLEEP;
        // If the exchange fails, somebody else has rung meanwhile.
        if state & ASLEEP != 0
            && self.state.compare_exchange(state, rung, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            futex_wake(&self.state);
        }
    }

    /// One thread more is about to sleep; what [`Doorbell::wait`] is to be told.
    ///
    /// The bit stays set when a thread gets up by itself: others may sleep still. At worst that costs a ring.
    pub(crate) fn lie_down(&self) -> u32 {
        self.threads.fetch_add(1, Ordering::Relaxed);
        self.state.fetch_or(ASLEEP, Ordering::Relaxed) | ASLEEP
    }

    /// Sleeps until the bell rings, `timeout` passes or a signal comes; not at all if it has rung since the thread lay
    /// down.
    pub(crate) fn wait(&self, state: u32, timeout: Duration) {
        futex_wait(&self.state, state, timeout);
    }

    /// Says whose posts those who lie there wait for.
    pub(crate) fn want(&self, posts: Posts) {
        self.posts.store(posts.word(), Ordering::Relaxed);
    }

    /// Whether they wait for a post of `rank`.
    pub(crate) fn wants(&self, rank: usize) -> bool {
        let word = self.posts.load(Ordering::Relaxed);
        word == Posts::OfAnybody.word() || word == Posts::Of(rank).word()
    }

    /// A thread has got up; whether no other sleeps.
    pub(crate) fn get_up(&self) -> bool {
        self.threads.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// Whether any thread sleeps, or is about to.
    pub(crate) fn is_used(&self) -> bool {
        self.threads.load(Ordering::Relaxed) != 0
    }

    /// Forgets the threads of a process that has ended.
    pub(crate) fn clear(&self) {
        self.threads.store(0, Ordering::Relaxed);
    }
}

#[cfg(not(loom))]
fn futex_wait(word: &AtomicU32, expected: u32, timeout: Duration) {
    sleep_while(word, expected, Among::Processes, Some(timeout));
}

#[cfg(not(loom))]
fn futex_wake(word: &AtomicU32) {
    wake(word, u32::MAX, Among::Processes);
}

/// Under loom all sleep at the same place; loom reports a sleeper that nobody will wake.
#[cfg(loom)]
mod modelled {
    use loom::sync::{Condvar, Mutex};

    loom::lazy_static! {
        pub(super) static ref QUEUE: Mutex<()> = Mutex::new(());
        pub(super) static ref RUNG: Condvar = Condvar::new();
    }
}

#[cfg(loom)]
fn futex_wait(word: &AtomicU32, expected: u32, _: Duration) {
    let mut queue = modelled::QUEUE.lock().expect("nobody panics");
    while word.load(Ordering::Relaxed) == expected {
        queue = modelled::RUNG.wait(queue).expect("nobody panics");
    }
}

#[cfg(loom)]
fn futex_wake(_: &AtomicU32) {
    drop(modelled::QUEUE.lock());
    modelled::RUNG.notify_all();
}

#[cfg(test)]
impl Doorbell {
    pub(crate) fn of_a_test() -> Self {
        Self { state: AtomicU32::new(0), threads: AtomicU32::new(0), posts: AtomicU32::new(0) }
    }
}
