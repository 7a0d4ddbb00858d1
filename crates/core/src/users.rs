//! Who uses a process: the world model, and sessions.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The World Model; The Sessions Model.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use oxmpi_engine::machine::Phase;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Users {
    counts: Mutex<Counts>,
    /// Whether there are any.
    are_there: AtomicBool,
}

/// How many there are.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) world: bool,
    pub(crate) sessions: usize,
    /// The process leaves, or has left, with all that it has: no session was opened since.
    pub(crate) has_left: bool,
    /// It leaves now, and shows that: a session that another thread opens meanwhile shows afterwards.
    pub(crate) is_leaving: bool,
}

impl Users {
    /// How many there are, to change that.
    pub(crate) fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there were any when that was last told.
    #[inline]
    pub(crate) fn are_there(&self) -> bool {
        self.are_there.load(Ordering::Relaxed)
    }

    /// Tells whether there are any.
    pub(crate) fn tell(&self, counts: &Counts) {
        self.are_there.store(counts.phase() != Phase::Finalized, Ordering::Relaxed);
    }
}

impl Counts {
    /// What the process shows of itself.
    pub(crate) fn phase(&self) -> Phase {
        match (self.world, self.sessions) {
            (true, _) => Phase::Running,
            (false, 0) => Phase::Finalized,
            (false, _) => Phase::InSession,
        }
    }
}
