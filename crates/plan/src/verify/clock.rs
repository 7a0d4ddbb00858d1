//! Vector clocks: what a rank knows to have happened.

use std::rc::Rc;

/// For each rank, how many of its actions are known to be over.
#[derive(Clone, Debug)]
pub(super) struct Clock(Vec<u32>);

/// A clock as it was at some action.
pub(super) type Moment = Rc<[u32]>;

impl Clock {
    /// Nothing has happened yet.
    pub(super) fn new(ranks: usize) -> Self {
        Self(vec![0; ranks])
    }

    /// Counts an action of `rank`, whose clock this is; returns its number.
    pub(super) fn tick(&mut self, rank: usize) -> u32 {
        self.0[rank] += 1;
        self.0[rank]
    }

    /// The clock as it is now.
    pub(super) fn moment(&self) -> Moment {
        self.0.as_slice().into()
    }

    /// Learns what was known at `moment`.
    pub(super) fn join(&mut self, moment: &Moment) {
        for (known, &other) in self.0.iter_mut().zip(moment.iter()) {
            *known = (*known).max(other);
        }
    }

    /// Whether action `number` of `rank` is known to be over.
    pub(super) fn knows(&self, rank: usize, number: u32) -> bool {
        self.0[rank] >= number
    }
}
