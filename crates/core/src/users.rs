//! Who uses a process: the world model, and sessions.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The World Model; The Sessions Model.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use oxmpi_engine::machine::Phase;

/// See the module.
#[derive(Debug)]
pub(crate) struct Users {
    /// The number of the process of the system that has joined.
    joined_as: u32,
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
    /// Nobody yet, of this process.
    pub(crate) fn new() -> Self {
        Self { joined_as: process::id(), counts: Mutex::default(), are_there: AtomicBool::new(false) }
    }

    /// Whether they are those of a process that has forked this one off.
    pub(crate) fn are_of_parent(&self) -> bool {
        self.joined_as != process::id()
    }

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
