//! The one thread that comes into a gate beside those that the gate was made for, when it is invited.
//!
//! It always comes by the lock, and stays only if the invitation stands then. That is extended and withdrawn by who is
//! inside by the lock, too; so nobody is inside without the lock while it stands, and who comes without the lock after
//! it was withdrawn meets no helper. It is ended for ever from outside: who unlocks the gate then has read so before it
//! leaves the lock, and the helper, which takes the lock after, reads it, too.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;

use super::Gate;
use super::lock::Way;
use super::system::{sleep_while, wake_one};
use crate::sync::{AtomicU32, Ordering};

/// The right of one thread more to come in. A gate has one helper at a time.
pub struct Helper<'a, T> {
    gate: &'a Gate<T>,
}

/// The helper is inside, until this is dropped, by the thread that has entered.
///
/// ```compile_fail,E0277
/// # use oxmpi_mem::{Callers, Gate};
/// # fn hand_over(_: impl Send) {}
/// hand_over(Gate::new(0, Callers::ANY).helper().expect("the first").enter());
/// ```
pub struct Visit<'a, T> {
    gate: &'a Gate<T>,
    way: Way,
    /// As of [`Entered`](super::Entered).
    _value: PhantomData<MutexGuard<'a, T>>,
}

/// Whether the helper may come in: a word that it sleeps on. What else it is to see, the lock orders.
#[derive(Debug)]
pub(super) struct Invitation(AtomicU32);

/// There is no helper.
const NOBODY: u32 = 0;
/// There is one, which is to stay out.
const OUT: u32 = 1;
/// It may come in.
const IN: u32 = 2;
/// It is to come in no more, and to end.
const END: u32 = 3;

impl Default for Invitation {
    fn default() -> Self {
        Self(AtomicU32::new(NOBODY))
    }
}

impl Invitation {
    /// Whether there is a helper that may be invited, or is.
    pub(super) fn is_open(&self) -> bool {
        [OUT, IN].contains(&self.0.load(Ordering::Relaxed))
    }

    /// Whether the helper may come in.
    pub(super) fn stands(&self) -> bool {
        self.0.load(Ordering::Relaxed) == IN
    }

    /// Whether that is new to the helper, which is to be told.
    pub(super) fn extend(&self) -> bool {
        self.change(OUT, IN)
    }

    /// Wakes the helper, if it waits.
    pub(super) fn tell(&self) {
        wake_one(&self.0);
    }

    pub(super) fn withdraw(&self) {
        self.change(IN, OUT);
    }

    /// False if it was something else.
    fn change(&self, from: u32, into: u32) -> bool {
        self.0.compare_exchange(from, into, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Asks the helper to end, if there is one.
    fn end(&self) {
        let end = |word| (word != NOBODY).then_some(END);
        if self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end).is_ok() {
            self.tell();
        }
    }

    /// Sleeps until it stands; false if the helper is to end.
    fn wait(&self) -> bool {
        loop {
            match self.0.load(Ordering::Relaxed) {
                OUT => sleep_while(&self.0, OUT),
                word => return word == IN,
            }
        }
    }
}

impl<T> Gate<T> {
    /// The gate's helper, which is not invited yet; `None` if there is one already.
    pub fn helper(&self) -> Option<Helper<'_, T>> {
        self.invitation.change(NOBODY, OUT).then(|| Helper { gate: self })
    }

    /// Asks the helper, if there is one, to end. It may be inside still, or asleep elsewhere.
    pub fn end_helper(&self) {
        self.invitation.end();
    }
}

impl<'a, T> Helper<'a, T> {
    /// Sleeps until it is invited; false if it is to end instead.
    pub fn wait(&self) -> bool {
        self.gate.invitation.wait()
    }

    /// Waits for the gate and goes in, if it is invited then. Others who wait come first.
    ///
    /// # Panics
    /// If this thread is inside already.
    pub fn enter(&self) -> Option<Visit<'_, T>> {
        let gate = self.gate;
        if !gate.invitation.stands() {
            return None;
        }
        if gate.lock.is_awaited() {
            gate.lock.step_aside();
        }
        let way = gate.lock.enter().expect("a helper is not inside twice");
        let visit = Visit { gate, way, _value: PhantomData };
        gate.invitation.stands().then_some(visit)
    }
}

impl<T> Drop for Helper<'_, T> {
    fn drop(&mut self) {
        self.gate.invitation.0.store(NOBODY, Ordering::Relaxed);
    }
}

impl<T> Visit<'_, T> {
    /// Goes out, not to come again before it is invited again.
    pub fn end(self) {
        self.gate.invitation.withdraw();
    }
}

impl<T> Drop for Visit<'_, T> {
    fn drop(&mut self) {
        self.gate.lock.leave_as_helper(self.way);
    }
}

impl<T> Deref for Visit<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: this is inside by the lock, and was invited then: so nobody is inside without it until the invitation
        // is withdrawn, which is done by who has the lock.
        unsafe { &*self.gate.value.get() }
    }
}

impl<T> DerefMut for Visit<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.gate.value.get() }
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::Callers;

    /// A gate without a lock, and what it guards: loom looks whether two are inside.
    struct Guarded {
        gate: Gate<()>,
        count: UnsafeCell<u32>,
    }

    impl Guarded {
        fn count_one_more(&self) {
            // SAFETY: whoever counts is inside.
            self.count.with_mut(|count| unsafe { *count += 1 });
        }
    }

    fn check(model: impl Fn(&Guarded) + Send + Sync + Copy + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            // SAFETY: beside the helper one thread uses it.
            let gate = Gate::new((), unsafe { Callers::in_turn() });
            gate.lock.never_favour();
            let guarded = Arc::new(Guarded { gate, count: UnsafeCell::new(0) });
            let helped = Arc::clone(&guarded);
            let helper = thread::spawn(move || {
                let Some(helper) = helped.gate.helper() else { return };
                while helper.wait() {
                    if let Some(visit) = helper.enter() {
                        helped.count_one_more();
                        visit.end();
                    }
                }
            });
            while !guarded.gate.invitation.is_open() {
                thread::yield_now();
            }
            model(&guarded);
            guarded.gate.end_helper();
            helper.join().expect("no panic");
        });
    }

    #[test]
    fn the_helper_is_inside_alone() {
        check(|guarded| {
            let inside = guarded.gate.enter();
            guarded.count_one_more();
            inside.invite_helper();
            let inside = guarded.gate.enter();
            guarded.count_one_more();
            drop(inside);
        });
    }

    #[test]
    fn a_helper_that_is_dismissed_meets_nobody() {
        check(|guarded| {
            guarded.gate.enter().invite_helper();
            let mut inside = guarded.gate.enter();
            inside.dismiss_helper();
            guarded.count_one_more();
            drop(inside);
            let inside = guarded.gate.enter();
            guarded.count_one_more();
            inside.invite_helper();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::*;
    use crate::Callers;

    #[test]
    fn a_helper_comes_when_it_is_invited_and_the_gate_is_unlocked_again() {
        // SAFETY: beside the helper one thread uses it.
        let gate = Gate::new(0u32, unsafe { Callers::in_turn() });
        gate.enter().invite_helper();
        assert!(gate.enter_unlocked().is_some(), "nobody is there to be invited");
        let helper = gate.helper().expect("there is none yet");
        assert!(gate.helper().is_none() && helper.enter().is_none());
        thread::scope(|scope| {
            scope.spawn(|| {
                while helper.wait() {
                    if let Some(mut visit) = helper.enter() {
                        *visit += 1;
                        visit.end();
                    }
                }
                drop(helper);
            });
            for turn in 1..=100 {
                gate.enter().invite_helper();
                while *gate.enter() < turn {
                    thread::yield_now();
                }
                assert!(gate.enter_unlocked().is_some(), "it has no more to do");
            }
            gate.end_helper();
        });
        assert!(gate.helper().is_some());
        assert!(!gate.is_threaded());
    }

    #[test]
    fn the_helper_is_nobody_who_calls() {
        let gate = Gate::new(0u32, Callers::ANY);
        let helper = gate.helper().expect("there is none yet");
        gate.enter().invite_helper();
        thread::scope(|scope| {
            scope.spawn(move || *helper.enter().expect("it is invited") += 1);
        });
        *gate.enter() += 1;
        assert!(!gate.has_had_several());
        assert_eq!(*gate.enter(), 2);
    }

    #[test]
    fn who_is_inside_stays_so_whether_the_helper_is_invited_or_not() {
        for gate in [
            Gate::new(1, Callers::ANY),
            // SAFETY: the gate never leaves this thread.
            Gate::new(1, unsafe { Callers::in_turn() }),
        ] {
            let helper = gate.helper().expect("there is none yet");
            gate.enter().invite_helper();
            let mut inside = gate.enter();
            assert!(gate.try_enter().is_none());
            inside.dismiss_helper();
            assert!(gate.try_enter().is_none() && helper.enter().is_none());
            inside.invite_helper();
            gate.enter().invite_helper();
            assert_eq!(helper.enter().as_deref(), Some(&1));
            gate.enter().dismiss_helper();
            assert!(helper.enter().is_none());
            assert_eq!(gate.enter_unlocked().is_none(), gate.is_threaded());
            assert!(gate.try_enter().is_some());
        }
    }
}
