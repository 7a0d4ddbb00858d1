//! One door into a value: a lock that costs nothing when the program promised not to need one, and nearly nothing
//! when it does not use it.
//!
//! With `MPI_THREAD_MULTIPLE` a gate has a lock that knows who is inside (`lock`): a thread that comes alone, as in
//! most programs that ask for this level, passes it by plain stores. With the lower levels the caller has promised that
//! calls are not concurrent, and a gate is a plain flag that catches re-entry: even a locked instruction between
//! publishing a line and polling a peer's would serialise the two cache misses that latency is made of.
//!
//! One thread more than the program's may come in, the gate's [`Helper`], while it is invited. A gate of a flag is
//! locked as long: who is inside takes the lock before he invites it, and finds nobody inside but himself when he
//! dismisses it. A helper that has waited for the lock meanwhile sees, once it has it, that it is not invited any more.
//! MPI-5.0: External Interfaces, MPI and Threads.

mod invitation;
mod lock;
mod system;

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;

use self::invitation::Invitation;
pub use self::invitation::{Helper, Visit};
use self::lock::{Lock, Way};

/// A value that one caller at a time may use.
pub struct Gate<T> {
    lock: Lock,
    /// Not for the helper, which always needs the lock.
    locked: Cell<Locked>,
    /// Whether somebody is inside who has come without the lock.
    inside: Cell<bool>,
    invitation: Invitation,
    value: UnsafeCell<T>,
}

/// Who comes to a [`Gate`].
#[derive(Clone, Copy, Debug)]
pub struct Callers(Locked);

/// When the lock is needed to come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Locked {
    /// Any thread may come at any time.
    Always,
    /// Callers come one after the other.
    Not,
    /// So they do, but the helper may come.
    ForHelper,
}

// SAFETY: `enter` gives out one guard at a time: by the lock, or by the promise made to `in_turn` while no helper is
// invited; and a helper that is invited comes by the lock, as all others do then (see `invitation`). The helper uses
// neither cell. All others who do come one after the other, by that promise; where they do not, `locked` is never
// written.
unsafe impl<T: Send> Sync for Gate<T> {}

/// The right to use a gate's value, given back on drop.
///
/// ```
/// # use oxmpi_mem::{Callers, Gate};
/// fn share(_: &(impl Sync + ?Sized)) {}
/// share(&Gate::new(0, Callers::ANY).enter());
/// ```
///
/// A value that threads may not use at the same time is not shared by sharing the guard:
///
/// ```compile_fail,E0277
/// # use oxmpi_mem::{Callers, Gate};
/// # fn share(_: &(impl Sync + ?Sized)) {}
/// share(&Gate::new(std::cell::Cell::new(0), Callers::ANY).enter());
/// ```
///
/// And the thread that has entered is the one that leaves, by which the lock knows it:
///
/// ```compile_fail,E0277
/// # use oxmpi_mem::{Callers, Gate};
/// # fn hand_over(_: impl Send) {}
/// hand_over(Gate::new(0, Callers::ANY).enter());
/// ```
pub struct Entered<'a, T> {
    gate: &'a Gate<T>,
    /// How the lock was entered, if it was.
    way: Option<Way>,
    /// It is as good as this: threads may share it if they may share a `T`, and none hands it to another.
    _value: PhantomData<MutexGuard<'a, T>>,
}

impl Callers {
    /// Any thread, at any time: the gate has a lock, and lets one in at a time.
    pub const ANY: Self = Self(Locked::Always);

    /// One after the other: the gate has no lock, as long as no helper is invited.
    ///
    /// # Safety
    /// For each gate that is made for them: calls of [`Gate::enter`] and its kin, and the lives of the guards they
    /// return, never overlap between threads, and each happens before the next, for as long as the gate exists. The
    /// [`Helper`] may call at any time.
    pub unsafe fn in_turn() -> Self {
        Self(Locked::Not)
    }
}

impl<T> Gate<T> {
    /// A gate for these callers.
    #[inline]
    pub fn new(value: T, callers: Callers) -> Self {
        let (lock, invitation) = (Lock::new(), Invitation::default());
        let (locked, inside) = (Cell::new(callers.0), Cell::new(false));
        Self { lock, locked, inside, invitation, value: UnsafeCell::new(value) }
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
        let way = match self.locked.get() {
            Locked::Not if self.inside.replace(true) => return None,
            Locked::Not => None,
            Locked::Always => Some(self.lock.enter()?),
            Locked::ForHelper => self.enter_beside_helper()?,
        };
        Some(Entered { gate: self, way, _value: PhantomData })
    }

    /// As [`Gate::enter`], but `None` if somebody is seen inside.
    #[inline]
    pub fn enter_if_free(&self) -> Option<Entered<'_, T>> {
        let is_free = self.locked.get() == Locked::Not || self.lock.seems_free();
        if is_free { self.try_enter() } else { None }
    }

    /// As [`Gate::try_enter`], of a gate without a lock: `None` if there is one, too.
    #[inline(always)]
    pub fn enter_unlocked(&self) -> Option<Entered<'_, T>> {
        if self.locked.get() != Locked::Not || self.inside.replace(true) {
            return None;
        }
        Some(Entered { gate: self, way: None, _value: PhantomData })
    }

    /// Whether the gate always has a lock.
    pub fn is_threaded(&self) -> bool {
        self.locked.get() == Locked::Always
    }

    /// Whether more than one thread has gone in by the lock, but for the helper.
    pub fn has_had_several(&self) -> bool {
        self.lock.has_had_several()
    }

    /// Goes in by the lock, or without it if the helper has no more to do: how.
    #[cold]
    fn enter_beside_helper(&self) -> Option<Option<Way>> {
        let way = self.lock.enter()?;
        Some(if self.invitation.stands() { Some(way) } else { self.unlock(way) })
    }

    /// Does without the lock from now on, for who is inside by it: the helper is not invited.
    fn unlock(&self, way: Way) -> Option<Way> {
        if self.is_threaded() {
            return Some(way);
        }
        self.locked.set(Locked::Not);
        self.inside.set(true);
        self.lock.leave(way);
        None
    }
}

impl<T> Entered<'_, T> {
    /// Whether another thread waits for the gate.
    #[inline]
    pub fn is_awaited(&self) -> bool {
        self.gate.locked.get() != Locked::Not && self.gate.lock.is_awaited()
    }

    /// Goes out for a moment, so that others can come in who wait.
    pub fn give_way(self) -> Self {
        let gate = self.gate;
        drop(self);
        if gate.locked.get() != Locked::Not {
            gate.lock.step_aside();
        }
        gate.enter()
    }

    /// Goes out, and lets the gate's helper, if there is one, come in from now on; wakes it if it waits for that.
    #[cold]
    pub fn invite_helper(mut self) {
        let gate = self.gate;
        if !gate.invitation.is_open() {
            return;
        }
        if self.way.is_none() {
            // Perhaps the helper has the lock, for as long as it takes to see that it is not invited yet.
            self.way = Some(gate.lock.enter().expect("who is inside without the lock does not have it"));
            gate.locked.set(Locked::ForHelper);
            gate.inside.set(false);
        }
        let is_new = gate.invitation.extend();
        drop(self); // it would wait for that
        if is_new {
            gate.invitation.tell();
        }
    }

    /// Whether the helper may come in now.
    pub fn is_helper_invited(&self) -> bool {
        self.gate.invitation.stands()
    }

    /// Lets the helper come in no longer. Where the gate has no lock of its own, it needs none from now on.
    #[inline]
    pub fn dismiss_helper(&mut self) {
        if let Some(way) = self.way {
            self.gate.invitation.withdraw();
            self.way = self.gate.unlock(way);
        }
    }
}

impl<T> Drop for Entered<'_, T> {
    #[inline]
    fn drop(&mut self) {
        match self.way {
            Some(way) => self.gate.lock.leave(way),
            None => self.gate.inside.set(false),
        }
    }
}

impl<T> Deref for Entered<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: there is one guard at a time. A helper is inside by the lock alone, while it is invited, and then
        // guards are, too.
        unsafe { &*self.gate.value.get() }
    }
}

impl<T> DerefMut for Entered<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`.
        unsafe { &mut *self.gate.value.get() }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns_at_a_threaded_gate() {
        let gate = Gate::new(0u32, Callers::ANY);
        let turns = if cfg!(miri) { 30 } else { 1000 };
        (0..turns).for_each(|_| *gate.enter() += 1);
        assert!(!gate.has_had_several());
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..turns).for_each(|_| *gate.enter() += 1));
            }
        });
        assert!(gate.has_had_several());
        assert_eq!(*gate.enter(), 4 * turns);
    }

    #[test]
    fn who_finds_somebody_inside_may_go_on() {
        let gate = Gate::new(0u32, Callers::ANY);
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
        let gate = Gate::new(0u32, Callers::ANY);
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
        assert_refuses_a_second_entry(&Gate::new(1, Callers::ANY));
        // SAFETY: the gate never leaves this thread.
        assert_refuses_a_second_entry(&Gate::new(1, unsafe { Callers::in_turn() }));
    }

    #[test]
    fn a_thread_that_panics_inside_leaves_the_gate() {
        let gate = Gate::new(1u32, Callers::ANY);
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
