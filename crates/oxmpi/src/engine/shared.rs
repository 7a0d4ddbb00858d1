//! The process that the C functions speak for, which are part of the program: C libraries that it is linked with find
//! them there before they look into `libmpi_abi.so.1`.

use std::ops::Deref;
use std::sync::Arc;

use oxmpi_abi as _;
use oxmpi_base::Result;
use oxmpi_cfront::shared;
use oxmpi_core::{Communicator, Process};

use crate::thread::Level;

/// The process, on behalf of the world model or of a session.
pub(crate) struct Engine {
    process: &'static Process,
    /// Whether it is the one of C, not a thread.
    is_shared: bool,
}

impl Engine {
    /// Begins the world model, for Rust and C.
    ///
    /// # Errors
    /// Those of [`shared::begin`].
    pub fn join<L: Level>() -> Result<Self> {
        shared::begin(L::LEVEL, L::is_confined()).map(|process| Self { process, is_shared: true })
    }

    /// Opens a session, one of those that C code may have, too.
    ///
    /// # Errors
    /// Those of [`shared::open`].
    pub fn open<L: Level>() -> Result<Self> {
        shared::open(L::LEVEL, L::is_confined()).map(|process| Self { process, is_shared: true })
    }

    /// A rank that is a thread of this process, of which C knows nothing.
    pub fn of_thread(process: &'static Process) -> Self {
        process.begin_world();
        Self { process, is_shared: false }
    }

    /// Ends the world model.
    ///
    /// # Errors
    /// Those of [`shared::end`].
    pub fn leave(&self) -> Result<()> {
        if self.is_shared { shared::end(self.process) } else { self.process.finalize() }
    }

    /// Closes the session.
    pub fn close(&self) {
        self.process.close_session();
    }
}

impl Deref for Engine {
    type Target = Process;

    fn deref(&self) -> &Process {
        self.process
    }
}

/// A communicator is about to be freed, whose handle C code may have.
///
/// # Errors
/// Those of the callbacks that delete what C code has attached to it.
pub(crate) fn before_free(process: &Process, comm: &Arc<Communicator>) -> Result<()> {
    shared::take_back(process, comm)
}
