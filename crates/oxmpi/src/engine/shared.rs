//! The process that the C functions speak for, which are part of the program: C libraries that it is linked with find
//! them there before they look into `libmpi_abi.so.1`.

use std::ops::Deref;

use oxmpi_abi as _;
use oxmpi_base::Result;
use oxmpi_cfront::shared;
use oxmpi_core::Process;

use crate::thread::Level;

/// The process, from the beginning of the world model to its end.
pub(crate) struct Engine(&'static Process);

impl Engine {
    /// Begins the world model, for Rust and C.
    ///
    /// # Errors
    /// Those of [`shared::begin`].
    pub fn join<L: Level>() -> Result<Self> {
        shared::begin(L::LEVEL).map(Self)
    }

    /// Ends the world model.
    ///
    /// # Errors
    /// Those of [`shared::end`].
    pub fn leave(&self) -> Result<()> {
        shared::end(self.0)
    }
}

impl Deref for Engine {
    type Target = Process;

    fn deref(&self) -> &Process {
        self.0
    }
}
