//! Requests that a program does not wait for, but is woken for when they are over.
//!
//! A waker is kept on the engine's board, and is due when its request is struck out, by whichever call moved it on.
//! Who takes those that are due from here wakes them outside of the gate: nobody knows what a waker does. The
//! progress thread runs nothing of the program's, so that is a call of the program, too.
//!
//! MPI-5.0: Point-to-Point Communication, Communication Completion.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use oxmpi_engine::machine::{Bed, Posts};
use oxmpi_engine::{Absent, PeerId, Standing};

use super::completion::Completion;
use super::{Request, RequestKey};
use crate::process::{Process, State};
use crate::wait::Awaited;

/// What wakes a thread that waits for wakers which are due, as a waker of its own.
#[derive(Debug)]
pub struct Signal {
    is_given: AtomicBool,
    bed: Bed,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_given.swap(true, Ordering::Release) {
            self.bed.ring();
        }
    }
}

impl Signal {
    /// Whether it was given since the last time that this was asked.
    fn take(&self) -> bool {
        // Acquire pairs with the Release in `wake_by_ref`.
        self.is_given.load(Ordering::Relaxed) && self.is_given.swap(false, Ordering::Acquire)
    }
}

impl Process {
    /// Completes a request that is over; one that is not wakes `waker` when it is, and no waker that it was given
    /// before. Moves nothing on.
    ///
    /// # Panics
    /// If the request stands for the flush of a buffer, whose end nobody is told.
    pub fn complete_or_wake(&self, key: RequestKey, waker: &Waker) -> Option<Completion> {
        let waker = waker.clone();
        let mut state = self.enter();
        if let Some(Standing::UnderWay(_)) = state.engine.p2p.board.standing(key) {
            let replaced = state.engine.p2p.board.watch(key, waker);
            drop(state);
            drop(replaced);
            return None;
        }
        let completion = state.complete(key).expect("what is over can be completed");
        drop(state);
        Some(self.concluded(key, completion))
    }

    /// The end of a request wakes nobody any more.
    pub fn forget_waker(&self, key: RequestKey) {
        let mut state = self.enter();
        let waker = state.engine.p2p.board.unwatch(key);
        drop(state);
        drop(waker);
    }

    /// Moves everything on that can be: the wakers that are due, for the caller to wake.
    pub fn due_wakers(&self) -> Vec<Waker> {
        let mut state = self.enter();
        state.engine.poll();
        let due = state.engine.p2p.board.take_due();
        self.end_look(state, due.is_empty().into());
        due
    }

    /// A signal for [`Process::wait_for_wakers`].
    pub fn signal(&self) -> Arc<Signal> {
        Arc::new(Signal { is_given: AtomicBool::new(false), bed: self.bed })
    }

    /// Waits until wakers are due, which are for the caller to wake, or until the signal has been given: then there are
    /// none.
    pub fn wait_for_wakers(&self, signal: &Arc<Signal>) -> Vec<Waker> {
        self.wait_for(Due { signal })
    }
}

/// Wakers that are due, or a signal.
struct Due<'a> {
    signal: &'a Arc<Signal>,
}

impl Awaited for Due<'_> {
    type Outcome = Vec<Waker>;

    #[inline]
    fn look(&mut self, state: &mut State) -> Option<Vec<Waker>> {
        if self.signal.take() {
            return Some(Vec::new());
        }
        state.engine.poll();
        let due = state.engine.p2p.board.take_due();
        (!due.is_empty()).then_some(due)
    }

    fn posts(&self, _: &State) -> Posts {
        Posts::OfNobody // the engine keeps what has wakers
    }

    /// If nothing but requests can give the signal: who would have to for the first of them, and none comes for others.
    fn misses(&self, state: &State, absent: &mut Absent) -> Option<PeerId> {
        let signal = Arc::as_ptr(self.signal).cast::<()>();
        let wakers = state.engine.p2p.board.wakers::<Request>();
        // That of an `Arc` has its address; `will_wake` may deny what another crate has made of the same one.
        let keys: Vec<_> = wakers.filter(|(_, waker)| waker.data() == signal).map(|(key, _)| key).collect();
        if Arc::strong_count(self.signal) > keys.len() + OWN {
            return None;
        }
        let mut missed = keys.into_iter().map(|key| state.misses_for(key, absent));
        let first = missed.next()??;
        missed.all(|peer| peer.is_some()).then_some(first)
    }
}

/// References to a signal that its owner has: the signal, and the waker that it gives its future.
const OWN: usize = 2;
