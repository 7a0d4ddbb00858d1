//! What the lock of a gate needs of the system; and what stands for it under loom.

/// A number that no other thread has at the same time; not 0.
#[inline]
#[cfg(not(any(all(target_arch = "x86_64", target_os = "linux", not(any(miri, portable))), loom)))]
pub(super) fn this_thread() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

/// A number that no other thread has at the same time; not 0.
///
/// In a shared library an address of the thread's own data is asked for by a call. That of its control block is always
/// at hand.
#[inline]
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(any(miri, portable, loom))))]
pub(super) fn this_thread() -> usize {
    let block: usize;
    // SAFETY: by the processor's ABI for thread-local storage, the first word of the segment is its address, in every
    // thread; it is never written.
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) block, options(nostack, pure, readonly, preserves_flags))
    };
    block
}

#[cfg(not(loom))]
pub(super) use real::*;

#[cfg(not(loom))]
mod real {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, compiler_fence};
    use std::thread;
    use std::time::Duration;
    use std::{hint, io};

    use oxmpi_system::thread::{Among, Passing, register, sleep_while as sleep, wake};

    /// What stands before this is done before what stands behind it, as far as who makes others pass a [`barrier`] can
    /// tell.
    #[inline]
    pub(in super::super) fn keep_order() {
        compiler_fence(Ordering::SeqCst); // the barrier makes the processor keep it
    }

    /// Whether a barrier was refused that there had been.
    static IS_REFUSED: AtomicBool = AtomicBool::new(false);

    /// So often a barrier is asked for that lacks memory.
    const ATTEMPTS: u32 = 1000;
    /// No processor keeps a store to itself for so long: they do for less than a microsecond.
    const UNTIL_STORES_ARE_SEEN: Duration = Duration::from_millis(10);

    /// Makes all threads of the process pass a full barrier, which [there is](has_barrier).
    ///
    /// Where it is refused all the same, in a sandbox that was closed since, it waits instead until what they stored
    /// before they could see what the caller has stored must be seen. There is no barrier from then on.
    pub(in super::super) fn barrier() {
        for _ in 0..ATTEMPTS {
            match oxmpi_system::thread::barrier(Passing::ThisProcess) {
                Ok(()) => return,
                // It wants a little.
                Err(error) if error.kind() == io::ErrorKind::OutOfMemory => thread::yield_now(),
                Err(_) => break,
            }
        }
        IS_REFUSED.store(true, Ordering::Relaxed);
        thread::sleep(UNTIL_STORES_ARE_SEEN);
    }

    /// Whether there is a [`barrier`].
    pub(in super::super) fn has_barrier() -> bool {
        static HAS: OnceLock<bool> = OnceLock::new();
        let is_registered =
            HAS.get_or_init(|| !cfg!(any(miri, portable)) && register(Passing::ThisProcess).is_ok());
        *is_registered && !IS_REFUSED.load(Ordering::Relaxed)
    }

    /// Sleeps until `word` has changed from `value`, or for nothing.
    pub(in super::super) fn sleep_while(word: &AtomicU32, value: u32) {
        sleep(word, value, Among::Process, None);
    }

    /// Wakes one of those who sleep.
    pub(in super::super) fn wake_one(word: &AtomicU32) {
        wake(word, 1, Among::Process);
    }

    #[inline]
    pub(in super::super) fn pause() {
        hint::spin_loop();
    }

    /// The more often it has been looked in vain, the longer.
    pub(in super::super) fn pause_longer(looks: u32) {
        match looks {
            0..100 => hint::spin_loop(),
            100..200 => thread::yield_now(),
            _ => thread::sleep(Duration::from_micros(50)),
        }
    }

    pub(in super::super) fn yield_now() {
        thread::yield_now();
    }

    /// A clock that never goes back.
    pub(in super::super) fn now_ns() -> u64 {
        oxmpi_system::time::now_ns()
    }
}

#[cfg(loom)]
pub(super) use modelled::*;

/// Under loom a thread has the number that it gives itself, and may be interrupted by a barrier where it says so.
#[cfg(loom)]
mod modelled {
    use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};
    use loom::sync::{Condvar, Mutex};

    loom::lazy_static! {
        static ref THREADS: AtomicUsize = AtomicUsize::new(0);
        static ref QUEUE: Mutex<()> = Mutex::new(());
        static ref WOKEN: Condvar = Condvar::new();
        /// Barriers that were asked for.
        static ref ASKED: AtomicU32 = AtomicU32::new(0);
        /// Those that the favourite has passed; all, once it has ended. Locked by it in a barrier only, as nothing but
        /// that is to order what it does.
        static ref PASSED: Mutex<u32> = Mutex::new(0);
        static ref CHANGED: Condvar = Condvar::new();
        static ref FENCES: AtomicBool = AtomicBool::new(false);
    }

    /// The one that comes first.
    const FAVOURITE: usize = 1;

    loom::thread_local! {
        static NUMBER: usize = THREADS.fetch_add(1, Ordering::Relaxed) + 1;
    }

    pub(in super::super) fn this_thread() -> usize {
        NUMBER.with(|number| *number)
    }

    pub(in super::super) fn keep_order() {
        if FENCES.load(Ordering::Relaxed) { fence(Ordering::SeqCst) } else { interruptible() }
    }

    /// From now on threads are not interrupted, but pass a fence where their order is to be kept.
    #[cfg(test)]
    pub(in super::super) fn fence_instead() {
        FENCES.store(true, Ordering::Relaxed);
    }

    pub(in super::super) fn barrier() {
        fence(Ordering::SeqCst);
        if FENCES.load(Ordering::Relaxed) {
            return;
        }
        let mine = ASKED.fetch_add(1, Ordering::Release) + 1; // pairs with the Acquire in `interruptible`
        let mut passed = PASSED.lock().expect("nobody panics");
        while *passed < mine {
            passed = CHANGED.wait(passed).expect("nobody panics");
        }
    }

    pub(in super::super) fn has_barrier() -> bool {
        true
    }

    /// Here the favourite may be interrupted.
    pub(in super::super) fn interruptible() {
        let asked = ASKED.load(Ordering::Acquire);
        if asked > 0 {
            pass(asked);
        }
    }

    /// From here on it does not run.
    pub(in super::super) fn no_longer_running() {
        pass(u32::MAX);
    }

    fn pass(barriers: u32) {
        fence(Ordering::SeqCst);
        *PASSED.lock().expect("nobody panics") = barriers;
        CHANGED.notify_all();
    }

    /// Who sleeps passes barriers.
    pub(in super::super) fn sleep_while(word: &AtomicU32, value: u32) {
        if this_thread() == FAVOURITE {
            no_longer_running();
            sleep(word, value);
            pass(ASKED.load(Ordering::Acquire));
        } else {
            sleep(word, value);
        }
    }

    fn sleep(word: &AtomicU32, value: u32) {
        let mut queue = QUEUE.lock().expect("nobody panics");
        while word.load(Ordering::Relaxed) == value {
            queue = WOKEN.wait(queue).expect("nobody panics");
        }
    }

    pub(in super::super) fn wake_one(_: &AtomicU32) {
        drop(QUEUE.lock());
        WOKEN.notify_all();
    }

    pub(in super::super) fn pause() {
        loom::thread::yield_now();
    }

    pub(in super::super) fn pause_longer(_: u32) {
        loom::thread::yield_now();
    }

    pub(in super::super) fn yield_now() {
        loom::thread::yield_now();
    }

    pub(in super::super) fn now_ns() -> u64 {
        0
    }
}
