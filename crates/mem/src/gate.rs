//! One door into a value: a lock that costs nothing when the program promised not to need one, and nearly nothing
//! when it does not use it.
//!
//! With `MPI_THREAD_MULTIPLE` a gate has a lock that knows who is inside (`lock`): a thread that comes alone, as in
//! most programs that ask for this level, passes it by plain stores. With the lower levels the caller has promised that
//! calls are not concurrent, and a gate is a plain flag that catches re-entry: even a locked instruction between
//! publishing a line and polling a peer's would serialise the two cache misses that latency is made of.
//! MPI-5.0: External Interfaces, MPI and Threads.

mod lock;
mod system;

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use self::lock::{Lock, Way};

/// A value that one caller at a time may use.
pub struct Gate<T> {
    lock: Option<Lock>,
    /// Whether somebody is inside, where there is no lock.
    inside: Cell<bool>,
    value: UnsafeCell<T>,
}

// SAFETY: `enter` gives out one guard at a time: by the lock, or by the promise made to `unthreaded`. The flag is used
// by the latter alone.
unsafe impl<T: Send> Sync for Gate<T> {}

/// The right to use a gate's value, given back on drop.
///
/// ```
/// # use oxmpi_mem::Gate;
/// fn share(_: &(impl Sync + ?Sized)) {}
/// share(&Gate::threaded(0).enter());
/// ```
///
/// A value that threads may not use at the same time is not shared by sharing the guard:
///
/// ```compile_fail,E0277
/// # use oxmpi_mem::Gate;
/// # fn share(_: &(impl Sync + ?Sized)) {}
/// share(&Gate::threaded(std::cell::Cell::new(0)).enter());
/// ```
pub struct Entered<'a, T> {
    gate: &'a Gate<T>,
    /// How the lock was entered, if there is one.
    way: Option<Way>,
    /// It is as good as this: threads may share it if they may share a `T`.
    _value: PhantomData<&'a mut T>,
}

impl<T> Gate<T> {
    /// A gate that any thread may enter at any time; it lets one in at a time.
    pub fn threaded(value: T) -> Self {
        Self { lock: Some(Lock::new()), inside: Cell::new(false), value: UnsafeCell::new(value) }
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

    /// As [`Gate::enter`], but `None` if this thread is inside already.
    #[inline]
    pub fn try_enter(&self) -> Option<Entered<'_, T>> {
        let way = match &self.lock {
            Some(lock) => Some(lock.enter()?),
            None if self.inside.replace(true) => return None,
            None => None,
        };
        Some(Entered { gate: self, way, _value: PhantomData })
    }

    /// As [`Gate::enter`], but `None` if somebody is seen inside.
    #[inline]
    pub fn enter_if_free(&self) -> Option<Entered<'_, T>> {
        let is_free = self.lock.as_ref().is_none_or(Lock::seems_free);
        if is_free { self.try_enter() } else { None }
    }

    /// As [`Gate::try_enter`], of a gate without a lock: `None` if there is one, too.
    #[inline(always)]
    pub fn enter_unlocked(&self) -> Option<Entered<'_, T>> {
        if self.lock.is_some() || self.inside.replace(true) {
            return None;
        }
        Some(Entered { gate: self, way: None, _value: PhantomData })
    }

    /// Whether the gate has a lock.
    pub fn is_threaded(&self) -> bool {
        self.lock.is_some()
    }
}

impl<T> Entered<'_, T> {
    /// Whether another thread waits for the gate.
    #[inline]
    pub fn is_awaited(&self) -> bool {
        self.gate.lock.as_ref().is_some_and(Lock::is_awaited)
    }

    /// Goes out for a moment, so that others can come in who wait.
    pub fn give_way(self) -> Self {
        let gate = self.gate;
        drop(self);
        if let Some(lock) = &gate.lock {
            lock.step_aside();
        }
        gate.enter()
    }
}

impl<T> Drop for Entered<'_, T> {
    #[inline]
    fn drop(&mut self) {
        match (&self.gate.lock, self.way) {
            (Some(lock), Some(way)) => lock.leave(way),
            _ => self.gate.inside.set(false),
        }
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

#[cfg(all(test, not(loom)))]
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
    fn who_finds_somebody_inside_may_go_on() {
        let gate = Gate::threaded(0u32);
        *gate.enter_if_free().expect("nobody is inside") += 1;
        let inside = gate.enter();
        assert!(gate.enter_if_free().is_none());
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(gate.enter_if_free().is_none()));
        });
        drop(inside);
        assert_eq!(*gate.enter_if_free().expect("nobody is inside"), 1);
    }

    #[test]
    fn who_is_inside_knows_whether_another_thread_waits() {
        let gate = Gate::threaded(0u32);
        let inside = gate.enter();
        assert!(!inside.is_awaited());
        std::thread::scope(|scope| {
            scope.spawn(|| *gate.enter() += 1);
            while !inside.is_awaited() {
                std::thread::yield_now();
            }
            drop(inside);
        });
        let inside = gate.enter();
        assert!(!inside.is_awaited());
        assert_eq!(*inside, 1);
    }

    fn assert_refuses_a_second_entry(gate: &Gate<u32>) {
        let first = gate.enter();
        assert!(gate.try_enter().is_none());
        drop(first);
        assert_eq!(*gate.enter(), 1);
    }

    #[test]
    fn no_gate_is_entered_twice_by_one_thread() {
        assert_refuses_a_second_entry(&Gate::threaded(1));
        // SAFETY: the gate never leaves this thread.
        assert_refuses_a_second_entry(&unsafe { Gate::unthreaded(1) });
    }

    #[test]
    fn a_thread_that_panics_inside_leaves_the_gate() {
        let gate = Gate::threaded(1u32);
        let inside = std::thread::scope(|scope| {
            let panics = || {
                let _entered = gate.enter();
                panic!("inside");
            };
            scope.spawn(panics).join().map(drop)
        });
        assert!(inside.is_err());
        assert_refuses_a_second_entry(&gate);
    }
}
