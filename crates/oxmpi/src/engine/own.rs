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
        // There is one in the life of a program, and its progress thread may outlive a value that was forgotten.
        let process: &'static Process = Box::leak(Box::new(joined?));
        process.may_have_progress_thread();
        Ok(Self(process))
    }

    /// `MPI_Finalize`.
    ///
    /// # Errors
    /// Those of [`Process::finalize`].
    pub fn leave(&self) -> Result<()> {
        self.0.finalize()
    }
}

impl Deref for Engine {
    type Target = Process;

    fn deref(&self) -> &Process {
        self.0
    }
}
