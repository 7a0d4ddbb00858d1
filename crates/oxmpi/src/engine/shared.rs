//! The process that the C functions speak for, which are part of the program: C libraries that it is linked with find
//! them there before they look into `libmpi_abi.so.1`.

use std::ops::Deref;

use oxmpi_abi as _;
use oxmpi_base::Result;
use oxmpi_cfront::shared;
use oxmpi_core::Process;

use crate::thread::Level;

/// The process, from the beginning of the world model to its end.
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
        shared::begin(L::LEVEL).map(|process| Self { process, is_shared: true })
    }

    /// A rank that is a thread of this process, of which C knows nothing.
    pub fn of_thread(process: Process) -> Self {
        Self { process: Box::leak(Box::new(process)), is_shared: false }
    }

    /// Ends the world model.
    ///
    /// # Errors
    /// Those of [`shared::end`].
    pub fn leave(&self) -> Result<()> {
        if self.is_shared { shared::end(self.process) } else { self.process.finalize() }
    }
}

impl Deref for Engine {
    type Target = Process;

    fn deref(&self) -> &Process {
        self.process
    }
}
