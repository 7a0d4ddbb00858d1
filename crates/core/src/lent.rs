//! Which memory the program has of the engine.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Addresses, known without asking the engine.
#[derive(Debug, Default)]
pub(crate) struct Lent {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    all: BTreeSet<usize>,
    /// What was freed, and the engine does not know yet.
    freed: Vec<usize>,
}

impl Lent {
    pub(crate) fn note(&self, address: usize) {
        self.state().all.insert(address);
    }

    /// The program has freed what begins at an address; whether it had that from here.
    pub(crate) fn note_freed(&self, address: usize) -> bool {
        let mut state = self.state();
        let is_known = state.all.remove(&address);
        if is_known {
            state.freed.push(address);
        }
        is_known
    }

    /// What was freed since this was asked.
    pub(crate) fn take_freed(&self) -> Vec<usize> {
        std::mem::take(&mut self.state().freed)
    }

    // No code here panics, and what is poisoned is still right.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
