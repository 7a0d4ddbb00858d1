//! Sleeping without missing anything, at no cost to those who are awake.
//!
//! A rank that found nothing to do for long sleeps on the futex of its doorbell. Publishing a line costs a
//! writer one relaxed load more (of [`Sleepers`]): no fence, no system call, no locked instruction. That is
//! sound because the sleeper, after it has said that it sleeps and before it looks once more, makes every
//! running rank pass a barrier (`membarrier`): a writer either published before it, and the sleeper sees that,
//! or loads `Sleepers` after it, and rings. Where the system has no `membarrier`, sleeps are short.

#[cfg(not(loom))]
use std::ptr;
#[cfg(not(loom))]
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::fault::{Point, reach};
use crate::sync::{AtomicU32, Ordering};

/// Where one rank sleeps.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Doorbell {
    /// The futex: how often it rang, above a bit that says whether a thread may have gone to sleep since.
    state: AtomicU32,
}

/// The bit of [`Doorbell::state`].
const ASLEEP: u32 = 1;
/// One ring more in [`Doorbell::state`].
const RING: u32 = 2;

/// How many ranks of the segment sleep or are about to.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Sleepers {
    count: AtomicU32,
}

/// Wakes ranks that something was published for.
#[derive(Clone, Copy, Debug)]
pub struct Waker {
    sleepers: &'static Sleepers,
}

/// Longest sleep where a wake-up could be missed.
const BLIND_SLEEP: Duration = Duration::from_millis(1);

#[cfg(not(loom))]
static HAS_BARRIER: AtomicBool = AtomicBool::new(false);

impl Waker {
    pub(crate) fn new(sleepers: &'static Sleepers) -> Self {
        Self { sleepers }
    }

    /// Whether anyone could be asleep; if so, ring those for whom something was published.
    #[inline]
    pub fn needed(&self) -> bool {
        self.sleepers.count.load(Ordering::Relaxed) != 0
    }
}

impl Doorbell {
    /// Wakes all threads of the rank that sleep. One that has not fallen asleep yet finds another state than it
    /// left, and stays awake.
    #[cold]
    pub fn ring(&self) {
        let state = self.state.load(Ordering::Relaxed);
        let rung = state.wrapping_add(RING) & !ASLEEP;
        // If the exchange fails, somebody else has rung meanwhile.
        if state & ASLEEP != 0
            && self.state.compare_exchange(state, rung, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            futex_wake(&self.state);
        }
    }

    /// Sleeps until the bell rings, `timeout` passes or a signal comes; not at all if `ready` says that there
    /// is something to do. To be called by threads of the doorbell's own rank.
    ///
    /// The bit stays set when a thread gets up by itself: others may sleep still. At worst that costs a ring.
    pub fn sleep(&self, waker: &Waker, timeout: Duration, ready: impl FnOnce() -> bool) {
        let state = self.state.fetch_or(ASLEEP, Ordering::Relaxed) | ASLEEP;
        waker.sleepers.count.fetch_add(1, Ordering::Relaxed);
        let seen_by_all = barrier();
        if !ready() {
            reach(Point::Asleep);
            futex_wait(&self.state, state, if seen_by_all { timeout } else { timeout.min(BLIND_SLEEP) });
        }
        waker.sleepers.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Lets this process take part in the barriers of its peers. Once, before anything is published.
pub(crate) fn register_for_barriers() {
    #[cfg(not(loom))]
    HAS_BARRIER.store(membarrier(libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED), Ordering::Relaxed);
}

/// Makes every running process of the segment pass a full barrier; false if that cannot be.
pub(crate) fn barrier() -> bool {
    #[cfg(loom)]
    {
        loom::sync::atomic::fence(Ordering::SeqCst);
        true
    }
    #[cfg(not(loom))]
    {
        HAS_BARRIER.load(Ordering::Relaxed) && membarrier(libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED)
    }
}

#[cfg(not(loom))]
fn membarrier(command: libc::membarrier_cmd) -> bool {
    // SAFETY: a system call that touches no memory of ours; Miri does not know it.
    !cfg!(miri) && unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

#[cfg(not(loom))]
fn futex_wait(word: &AtomicU32, expected: u32, timeout: Duration) {
    let limit = libc::timespec {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(timeout.subsec_nanos()),
    };
    // Not the process-private kind: wakers are other processes.
    // SAFETY: `word` and `limit` are valid for the call.
    unsafe {
        libc::syscall(libc::SYS_futex, ptr::from_ref(word), libc::FUTEX_WAIT, expected, &raw const limit)
    };
}

#[cfg(not(loom))]
fn futex_wake(word: &AtomicU32) {
    // SAFETY: `word` is only an address to the system.
    unsafe { libc::syscall(libc::SYS_futex, ptr::from_ref(word), libc::FUTEX_WAKE, i32::MAX) };
}

/// Under loom a sleeper polls its futex; loom reports a sleeper that nobody will wake as an endless loop.
#[cfg(loom)]
fn futex_wait(word: &AtomicU32, expected: u32, _: Duration) {
    while word.load(Ordering::Relaxed) == expected {
        loom::thread::yield_now();
    }
}

#[cfg(loom)]
fn futex_wake(_: &AtomicU32) {}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use crate::sync::fence;

    /// The writer's fence stands for the barrier that the sleeper's `membarrier` puts into it.
    #[test]
    fn who_publishes_while_another_falls_asleep_is_noticed() {
        loom::model(|| {
            let sleepers: &'static Sleepers = Box::leak(Box::new(Sleepers { count: AtomicU32::new(0) }));
            let bell: &'static Doorbell = Box::leak(Box::new(Doorbell { state: AtomicU32::new(0) }));
            let flag: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
            let waker = Waker::new(sleepers);
            let writer = loom::thread::spawn(move || {
                flag.store(1, Ordering::Release);
                fence(Ordering::SeqCst);
                if waker.needed() {
                    bell.ring();
                }
            });
            bell.sleep(&waker, Duration::from_secs(1), || flag.load(Ordering::Acquire) == 1);
            writer.join().expect("the writer does not panic");
            assert_eq!(flag.load(Ordering::Acquire), 1);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::time::Instant;

    fn fresh() -> (&'static Doorbell, Waker) {
        let sleepers: &'static Sleepers = Box::leak(Box::new(Sleepers { count: AtomicU32::new(0) }));
        (Box::leak(Box::new(Doorbell { state: AtomicU32::new(0) })), Waker::new(sleepers))
    }

    #[test]
    fn a_ring_wakes_the_sleeper_long_before_its_timeout() {
        register_for_barriers();
        let (bell, waker) = fresh();
        let begin = Instant::now();
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| bell.sleep(&waker, Duration::from_secs(60), || false));
            while !sleeper.is_finished() {
                bell.ring();
                std::thread::yield_now();
            }
        });
        assert!(begin.elapsed() < Duration::from_secs(30));
        assert!(!waker.needed());
    }

    #[test]
    fn a_thread_that_gets_up_leaves_the_bell_to_those_who_sleep() {
        register_for_barriers();
        let (bell, waker) = fresh();
        let begin = Instant::now();
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| bell.sleep(&waker, Duration::from_secs(60), || false));
            while !waker.needed() {
                std::thread::yield_now();
            }
            while !sleeper.is_finished() {
                bell.sleep(&waker, Duration::from_secs(60), || true);
                bell.ring();
                std::thread::yield_now();
            }
        });
        assert!(begin.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn nobody_sleeps_over_something_that_is_ready() {
        let (bell, waker) = fresh();
        let begin = Instant::now();
        bell.sleep(&waker, Duration::from_secs(60), || true);
        assert!(begin.elapsed() < Duration::from_secs(30));
    }
}
