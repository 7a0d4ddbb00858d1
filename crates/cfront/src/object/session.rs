//! Sessions: their handles, and what belongs to them.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The Sessions Model.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Error, Function, Result};
use oxmpi_core::{BufferOwner, Process, ThreadLevel};

use super::errhandler::ErrhandlerCell;
use crate::failure::{Hears, NoObject, tell};
use crate::generated::constants::MPI_SUCCESS;
use crate::generated::types::MPI_Session;
use crate::handle::{Handle, Sharing, Table};
use crate::process::{self, Call};

/// What belongs to a session's handle.
pub struct Entry {
    /// The error handler.
    pub errhandler: ErrhandlerCell,
    /// What threads may do with what is derived from the session.
    pub level: ThreadLevel,
    /// The kinds of memory that may be used, as the standard writes them.
    pub memory_kinds: String,
}

static SESSIONS: Table<MPI_Session, Arc<Entry>> = Table::new(Sharing::Always);

/// The session that a handle names.
///
/// # Errors
/// `Session` if it names none.
pub fn find(argument: &str, handle: MPI_Session) -> Result<Arc<Entry>> {
    SESSIONS.find(argument, handle)
}

/// Makes a handle of a session.
pub fn insert(entry: Entry) -> MPI_Session {
    SESSIONS.insert(Arc::new(entry))
}

/// Takes a session out of the table; tells whether it was there.
pub fn remove(handle: MPI_Session) -> bool {
    SESSIONS.remove(handle).is_some()
}

/// The session, as the core knows it.
pub fn number(session: MPI_Session) -> u64 {
    session.word() as u64
}

/// What a session's buffer is attached to.
pub fn owner_of(session: MPI_Session) -> BufferOwner {
    BufferOwner::Session(number(session))
}

impl Hears for MPI_Session {
    #[cold]
    fn hear(self, function: Function, error: &Error) -> c_int {
        match find("session", self) {
            Ok(entry) => tell(function, self, &entry.errhandler, error),
            Err(_) => NoObject.hear(function, error),
        }
    }
}

/// Runs the body of a function on a session; errors go to its error handler.
pub fn on_session(
    function: Function,
    session: MPI_Session,
    body: impl FnOnce(&'static Process, &Entry) -> Result<()>,
) -> c_int {
    let found = find("session", session).and_then(|entry| Ok((entry, process::current()?)));
    let (entry, process) = match found {
        Ok(found) => found,
        Err(error) => return NoObject.hear(function, &error),
    };
    let _call = Call::begin(process, function);
    match body(process, &entry) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => session.hear(function, &error),
    }
}
