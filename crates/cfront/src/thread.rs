//! Which thread calls.
//!
//! The standard library cannot be asked once the thread's local data are gone, and programs call MPI after that: from
//! functions that they gave to `atexit`.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// A thread; no other has ever been the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread(u64);

impl Thread {
    /// The one that asks.
    pub fn current() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        // Needs no destructor, and so lives as long as the thread.
        thread_local!(static NUMBER: Cell<u64> = const { Cell::new(0) });
        NUMBER.with(|number| {
            if number.get() == 0 {
                number.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
            }
            Self(number.get())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn no_thread_is_taken_for_another_one_before_it() {
        let other = || thread::spawn(Thread::current).join().expect("it does not panic");
        let threads = [Thread::current(), other(), other(), Thread::current()];
        assert_eq!(threads[0], threads[3]);
        assert!(threads[0] != threads[1] && threads[1] != threads[2] && threads[0] != threads[2]);
    }
}
