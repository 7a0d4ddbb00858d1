//! A process that nobody else uses.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_core::{Phase, Process};

use crate::thread::Level;

/// The process, from its initialisation to the end of the environment.
pub(crate) struct Engine(&'static Process);

impl Engine {
    /// Joins the job.
    ///
    /// # Errors
    /// Those of [`Process::init`]; `Other` if it was done before.
    pub fn join<L: Level>() -> Result<Self> {
        static INITIALISED: AtomicBool = AtomicBool::new(false);
        if INITIALISED.swap(true, Ordering::Relaxed) {
            return Err(Error::new(ErrorClass::Other, "this process has been initialised before"));
        }
        let joined = Process::init(Phase::Running, L::gate);
        INITIALISED.store(joined.is_ok(), Ordering::Relaxed);
        joined.map(Self::started)
    }

    /// A rank that is a thread of this process.
    pub fn of_thread(process: Process) -> Self {
        Self::started(process)
    }

    /// `MPI_Finalize`.
    ///
    /// # Errors
    /// Those of [`Process::finalize`].
    pub fn leave(&self) -> Result<()> {
        self.0.finalize()
    }

    fn started(process: Process) -> Self {
        // Its progress thread may outlive a value that was forgotten.
        let process: &'static Process = Box::leak(Box::new(process));
        process.may_have_progress_thread();
        Self(process)
    }
}

impl Deref for Engine {
    type Target = Process;

    fn deref(&self) -> &Process {
        self.0
    }
}
