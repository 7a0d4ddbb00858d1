//! One door into a value: a lock that costs nothing when the program promised not to need one.
//!
//! With `MPI_THREAD_MULTIPLE` a gate is a mutex that knows who is inside. With the lower levels the caller has
//! promised that calls are not concurrent, and a locked instruction between publishing a line and polling a
//! peer's would serialise the two cache misses that latency is made of; there a gate is a plain flag that
//! catches re-entry.
//! MPI-5.0: External Interfaces, MPI and Threads.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A value that one caller at a time may use.
pub struct Gate<T> {
    lock: Option<Lock>,
    inside: Cell<bool>,
    value: UnsafeCell<T>,
}

/// A mutex that its holder can recognise as held.
struct Lock {
    mutex: Mutex<()>,
    /// The thread inside; 0 is none. A thread finds its own number here only if it is inside.
    holder: AtomicUsize,
    /// How many threads wait for the mutex.
    waiting: AtomicUsize,
}

// SAFETY: `enter` gives out one guard at a time: by the mutex, or by the promise made to `unthreaded`.
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
    _lock: Option<MutexGuard<'a, ()>>,
    /// It is as good as this: threads may share it if they may share a `T`.
    _value: PhantomData<&'a mut T>,
}

impl<T> Gate<T> {
    /// A gate that any thread may enter at any time; it lets one in at a time.
    pub fn threaded(value: T) -> Self {
        let lock = Lock { mutex: Mutex::new(()), holder: AtomicUsize::new(0), waiting: AtomicUsize::new(0) };
        Self { lock: Some(lock), inside: Cell::new(false), value: UnsafeCell::new(value) }
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
        let lock = match &self.lock {
            Some(lock) => Some(lock.take()?),
            None => None,
        };
        if self.inside.replace(true) {
            return None;
        }
        Some(Entered { gate: self, _lock: lock, _value: PhantomData })
    }

    /// Whether the gate has a lock.
    pub fn is_threaded(&self) -> bool {
        self.lock.is_some()
    }
}

impl Lock {
    /// Waits for the mutex; `None` if this thread holds it.
    fn take(&self) -> Option<MutexGuard<'_, ()>> {
        let me = this_thread();
        if self.holder.load(Ordering::Relaxed) == me {
            return None;
        }
        let guard = match self.mutex.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => self.wait(),
        };
        self.holder.store(me, Ordering::Relaxed);
        Some(guard)
    }

    #[cold]
    fn wait(&self) -> MutexGuard<'_, ()> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let guard = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        guard
    }
}

/// A number that no other thread has at the same time; not 0.
fn this_thread() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| ptr::from_ref(place).addr())
}

impl<T> Entered<'_, T> {
    /// Whether another thread waits for the gate.
    pub fn is_awaited(&self) -> bool {
        self.gate.lock.as_ref().is_some_and(|lock| lock.waiting.load(Ordering::Relaxed) > 0)
    }
}

impl<T> Drop for Entered<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.gate.inside.set(false);
        if let Some(lock) = &self.gate.lock {
            lock.holder.store(0, Ordering::Relaxed);
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
