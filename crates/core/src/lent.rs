//! Which memory the program has of the engine.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use oxmpi_base::Ordered;

/// Addresses, known without asking the engine.
#[derive(Debug, Default)]
pub(crate) struct Lent {
    state: Mutex<State>,
}

/// What becomes of memory that the program frees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freed {
    /// It was the engine's, and is again.
    Done,
    /// It lies where the engine's does, but nothing that the program still has begins there.
    Nothing,
    /// It is not the engine's.
    Strange,
}

#[derive(Debug, Default)]
struct State {
    all: Ordered<usize, ()>,
    /// Where the first that the program has had begins, and the last one ends. All lie in one range, in which nothing
    /// else is.
    extent: Range<usize>,
    /// What was freed, and the engine does not know yet.
    freed: Vec<usize>,
}

impl Lent {
    pub(crate) fn note(&self, address: usize, bytes: usize) {
        let mut state = self.state();
        state.all.insert(address, ());
        let Range { start, end } = state.extent;
        let first = if state.extent.is_empty() { address } else { start.min(address) };
        state.extent = first..end.max(address + bytes);
    }

    /// The program has freed what begins at an address.
    pub(crate) fn note_freed(&self, address: usize) -> Freed {
        let mut state = self.state();
        if state.all.remove(address).is_some() {
            state.freed.push(address);
            return Freed::Done;
        }
        if state.extent.contains(&address) { Freed::Nothing } else { Freed::Strange }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_freed_once() {
        let lent = Lent::default();
        assert_eq!(lent.note_freed(5), Freed::Strange);
        [10, 30, 20].into_iter().for_each(|address| lent.note(address, 5));
        let freed = [20, 20, 25, 35, 9, 10, 10].map(|address| lent.note_freed(address));
        use Freed::{Done, Nothing, Strange};
        assert_eq!(freed, [Done, Nothing, Nothing, Strange, Strange, Done, Nothing]);
        assert_eq!(lent.take_freed(), [20, 10]);
    }
}
