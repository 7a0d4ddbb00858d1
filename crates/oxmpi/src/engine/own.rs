//! A process that nobody else uses.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_core::{Communicator, Phase, Process};
use oxmpi_mem::Callers;

use crate::thread::Level;

/// The process, on behalf of the world model or of a session.
pub(crate) struct Engine(&'static Process);

/// What has become of the process of this program.
#[derive(Clone, Copy)]
struct Joined {
    process: &'static Process,
    /// The one thread that calls, where the first to join has said that there is one.
    confined_to: Option<ThreadId>,
    has_begun_world: bool,
}

static JOINED: Mutex<Option<Joined>> = Mutex::new(None);

impl Engine {
    /// Begins the world model.
    ///
    /// # Errors
    /// Those of [`Process::init`]; `Other` if it was done before.
    pub fn join<L: Level>() -> Result<Self> {
        let mut joined = joined();
        let before = *joined;
        if before.is_some_and(|joined| joined.has_begun_world) {
            return Err(Error::new(ErrorClass::Other, "this process has been initialised before"));
        }
        // Only the world speaks for the whole program: sessions know nothing of each other.
        let now = match before {
            Some(before) => before,
            None => Joined {
                // SAFETY: whatever else uses the process is of this level, or is refused (`Engine::open`).
                process: started(Process::init_for_good(Phase::Running, unsafe { L::callers() })?),
                confined_to: L::is_confined().then(|| thread::current().id()),
                has_begun_world: true,
            },
        };
        *joined = Some(Joined { has_begun_world: true, ..now });
        now.process.begin_world();
        Ok(Self(now.process))
    }

    /// Opens a session.
    ///
    /// # Errors
    /// Those of [`Process::init`]; `Other` if the world model is confined to a thread, and the session would not be
    /// to the same.
    pub fn open<L: Level>() -> Result<Self> {
        let mut joined = joined();
        let now = match *joined {
            Some(before) => before,
            None => Joined {
                process: started(Process::init_for_good(Phase::InSession, Callers::ANY)?),
                confined_to: None,
                has_begun_world: false,
            },
        };
        *joined = Some(now);
        let is_apart = |only| !L::is_confined() || thread::current().id() != only;
        if now.confined_to.is_some_and(is_apart) {
            let text =
                "this process has been initialised for one thread: only that one opens sessions, for itself";
            return Err(Error::new(ErrorClass::Other, text));
        }
        now.process.open_session();
        Ok(Self(now.process))
    }

    /// A rank that is a thread of this process.
    pub fn of_thread(process: &'static Process) -> Self {
        let process = started(process);
        process.begin_world();
        Self(process)
    }

    /// `MPI_Finalize`.
    ///
    /// # Errors
    /// Those of [`Process::finalize`].
    pub fn leave(&self) -> Result<()> {
        self.0.finalize()
    }

    /// `MPI_Session_finalize`.
    pub fn close(&self) {
        self.0.close_session();
    }
}

fn joined() -> MutexGuard<'static, Option<Joined>> {
    JOINED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn started(process: &'static Process) -> &'static Process {
    process.may_have_progress_thread();
    process.tell_launcher_at_exit();
    process
}

impl Deref for Engine {
    type Target = Process;

    fn deref(&self) -> &Process {
        self.0
    }
}

/// A communicator is about to be freed, which nobody else knows.
///
/// # Errors
/// None.
pub(crate) fn before_free(_process: &Process, _comm: &Arc<Communicator>) -> Result<()> {
    Ok(())
}
