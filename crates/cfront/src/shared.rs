//! The world model of a program that uses MPI in Rust too: begun and ended by its Rust part, in use by both.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The World Model.

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_core::{Process, ThreadLevel};

use crate::{env, process};

/// Begins the world model, as `MPI_Init_thread` does.
///
/// # Errors
/// `Other` if it was begun before, if a session has fixed a lower level of thread support, and those of
/// [`Process::init`].
pub fn begin(required: ThreadLevel) -> Result<&'static Process> {
    if process::fixes_less_than(required) {
        let text = format!("C code has begun a session that rules out the thread level {required:?}");
        return Err(Error::new(ErrorClass::Other, text));
    }
    env::begin(required).map(|(process, _)| process)
}

/// Ends the world model, as `MPI_Finalize` does.
///
/// # Errors
/// `Other` if C code has ended it, or a callback of an attribute has failed; those of a barrier.
pub fn end(process: &'static Process) -> Result<()> {
    env::end(process)
}
