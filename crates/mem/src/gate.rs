//! One door into a value: a lock that costs nothing when the program promised not to need one.
//!
//! With `MPI_THREAD_MULTIPLE` a gate is a mutex. With the lower levels the caller has promised that calls are
//! not concurrent, and a locked instruction between publishing a line and polling a peer's would serialise the
//! two cache misses that latency is made of; there a gate is a plain flag that catches re-entry.
//! MPI-5.0: External Interfaces, MPI and Threads.

use std::cell::{Cell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value that one caller at a time may use.
pub struct Gate<T> {
    lock: Option<Mutex<()>>,
    inside: Cell<bool>,
    value: UnsafeCell<T>,
}

// SAFETY: `enter` gives out one guard at a time: by the mutex, or by the promise made to `unthreaded`.
unsafe impl<T: Send> Sync for Gate<T> {}

/// The right to use a gate's value, given back on drop.
pub struct Entered<'a, T> {
    gate: &'a Gate<T>,
    _lock: Option<MutexGuard<'a, ()>>,
}

impl<T> Gate<T> {
    /// A gate that any thread may enter at any time; it lets one in at a time.
    pub fn threaded(value: T) -> Self {
        Self { lock: Some(Mutex::new(())), inside: Cell::new(false), value: UnsafeCell::new(value) }
    }

    /// A gate without a lock.
    ///
    /// # Safety
    /// Calls of [`Gate::enter`] and the lives of the guards it returns never overlap between threads, and each
    /// happens before the next, for as long as the gate exists.
    pub unsafe fn unthreaded(value: T) -> Self {
        Self { lock: None, inside: Cell::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits for the gate, if it has a lock, and goes in.
    ///
    /// # Panics
    /// If this thread is inside already: a callback called an MPI function that it may not call.
    #[inline]
    pub fn enter(&self) -> Entered<'_, T> {
        match self.try_enter() {
            Some(entered) => entered,
            None => panic!("an MPI function that may not be called from a callback was called from one"),
        }
    }

    /// As [`Gate::enter`], but `None` when an unlocked gate is entered again from inside.
    #[inline]
    pub fn try_enter(&self) -> Option<Entered<'_, T>> {
        let lock = self.lock.as_ref().map(|lock| lock.lock().unwrap_or_else(PoisonError::into_inner));
        if self.inside.replace(true) {
            return None;
        }
        Some(Entered { gate: self, _lock: lock })
    }

    /// Whether the gate has a lock.
    pub fn is_threaded(&self) -> bool {
        self.lock.is_some()
    }
}

impl<T> Drop for Entered<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.gate.inside.set(false);
    }
}

impl<T> Deref for Entered<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a guard is the only way to the value, and there is one guard at a time.
        unsafe { &*self.gate.value.get() }
    }
}

impl<T> DerefMut for Entered<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: a guard is the only way to the value, and there is one guard at a time.
        unsafe { &mut *self.gate.value.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns_at_a_threaded_gate() {
        let gate = Gate::threaded(0u32);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| *gate.enter() += 1));
            }
        });
        assert_eq!(*gate.enter(), 4000);
    }

    #[test]
    fn an_unthreaded_gate_refuses_to_be_entered_twice() {
        // SAFETY: the gate never leaves this thread.
        let gate = unsafe { Gate::unthreaded(1u32) };
        let first = gate.enter();
        assert!(gate.try_enter().is_none());
        drop(first);
        assert_eq!(*gate.enter(), 1);
    }
}
