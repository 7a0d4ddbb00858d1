//! A program that uses MPI in Rust too: its Rust part begins and ends the world model, in use by both, and opens
//! sessions of its own.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The World Model; The Sessions
//! Model.

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

/// Opens a session, which ends by [`Process::close_session`]; whoever has it calls from this thread alone if it
/// `is_confined`.
///
/// # Errors
/// `Other` if threads must not call at the same time, and this one is not the one that does; those of
/// [`Process::init`].
pub fn open(required: ThreadLevel, is_confined: bool) -> Result<&'static Process> {
    process::open_apart(required, is_confined)
}
