//! A program that uses MPI in Rust too: its Rust part begins and ends the world model, in use by both, opens sessions
//! of its own, and exchanges communicators with C code.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The World Model; The Sessions
//! Model.

use std::ptr;
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_core::{Communicator, Process, ThreadLevel};

use crate::generated::types::MPI_Comm;
use crate::object::comm;
use crate::{env, process};

/// Begins the world model, as `MPI_Init_thread` does; whoever has it calls from this thread alone if it `is_confined`.
///
/// # Errors
/// `Other` if it was begun before, or if threads must not call at the same time, and this one is not the one that does;
/// those of [`Process::init`].
pub fn begin(required: ThreadLevel, is_confined: bool) -> Result<&'static Process> {
    env::begin(|| process::begin_world_apart(required, is_confined)).map(|(process, _)| process)
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

/// The handle by which C code knows a communicator of this crate's caller: the same each time, until [`take_back`].
///
/// # Errors
/// `Comm` if C code knows nothing of `process`, which is a rank that is a thread.
pub fn lend(process: &Process, comm: &Arc<Communicator>) -> Result<MPI_Comm> {
    only_of_c(process)?;
    Ok(comm::lend(comm))
}

/// Lets the handle of a communicator that is about to be freed name nothing any more, if it has one, and deletes the
/// attributes that C code has given it.
///
/// # Errors
/// What a delete callback has returned; no attribute stays all the same.
pub fn take_back(process: &Process, comm: &Arc<Communicator>) -> Result<()> {
    if only_of_c(process).is_ok() { comm::take_back(comm) } else { Ok(()) }
}

/// The communicator that a handle names.
///
/// # Errors
/// `Comm` if it names none, or one between two groups, or if C code knows nothing of `process`.
pub fn find(process: &Process, handle: MPI_Comm) -> Result<Arc<Communicator>> {
    only_of_c(process)?;
    let core = Arc::clone(&comm::find("comm", handle)?.core);
    if core.is_inter() {
        return Err(Error::new(ErrorClass::Comm, "comm is an intercommunicator"));
    }
    Ok(core)
}

fn only_of_c(process: &Process) -> Result<()> {
    if process::running().is_some_and(|ours| ptr::eq(ours, process)) {
        return Ok(());
    }
    let text = "this rank is a thread of `oxmpi::run`, of which C code knows nothing";
    Err(Error::new(ErrorClass::Comm, text))
}
