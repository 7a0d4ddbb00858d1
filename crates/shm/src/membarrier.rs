//! A barrier that one process lets all others of the machine pass.
//!
//! Whoever has registered, and runs, is interrupted: so it costs the others a microsecond or so each, and its caller
//! some microseconds. Who does not run passes a barrier anyway.

#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(not(loom))]
use oxmpi_system::thread::{self, Passing};

#[cfg(not(loom))]
static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

/// Lets this process take part in the barriers of its peers; whether it does. Before anything is published: where it
/// does not, they cannot rely on any.
#[cfg(not(loom))]
pub(crate) fn register() -> bool {
    // Miri does not know the call.
    let is_registered = !cfg!(miri) && thread::register(Passing::Registered).is_ok();
    // Once it does it always does, whatever is refused later.
    IS_REGISTERED.fetch_or(is_registered, Ordering::Relaxed) || is_registered
}

#[cfg(loom)]
pub(crate) fn register() -> bool {
    true
}

/// Makes every running process that has registered pass a full barrier, and the caller; false if that cannot be.
#[cfg(not(loom))]
pub(crate) fn pass_by_all() -> bool {
    IS_REGISTERED.load(Ordering::Relaxed) && thread::barrier(Passing::Registered).is_ok()
}

#[cfg(all(loom, not(test)))]
pub(crate) fn pass_by_all() -> bool {
    false
}

#[cfg(all(loom, test))]
pub(crate) use modelled::pass_by_all;

/// Under loom one thread is the process that runs and is interrupted: wherever it says that it may be.
#[cfg(all(loom, test))]
pub(crate) mod modelled {
    use loom::sync::{Condvar, Mutex};

    use crate::sync::{AtomicU32, Ordering, fence};

    loom::lazy_static! {
        /// Barriers that were asked for.
        static ref ASKED: AtomicU32 = AtomicU32::new(0);
        /// Those that the thread has passed; all, once it has ended. Locked by it in a barrier only, as nothing but
        /// that is to order what it does.
        static ref PASSED: Mutex<u32> = Mutex::new(0);
        static ref CHANGED: Condvar = Condvar::new();
    }

    pub(crate) fn pass_by_all() -> bool {
        fence(Ordering::SeqCst);
        let mine = ASKED.fetch_add(1, Ordering::Release) + 1; // pairs with the Acquire in `interruptible`
        let mut passed = PASSED.lock().expect("nobody panics");
        while *passed < mine {
            passed = CHANGED.wait(passed).expect("nobody panics");
        }
        true
    }

    /// Here the thread may be interrupted.
    pub(crate) fn interruptible() {
        let asked = ASKED.load(Ordering::Acquire);
        if asked > 0 {
            pass(asked);
        }
    }

    /// From here on it does not run.
    pub(crate) fn no_longer_running() {
        pass(u32::MAX);
    }

    fn pass(barriers: u32) {
        fence(Ordering::SeqCst);
        *PASSED.lock().expect("nobody panics") = barriers;
        CHANGED.notify_all();
    }
}
