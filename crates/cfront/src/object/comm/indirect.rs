//! Errors on a communicator that the function does not name: it is given a request, or a message.
//!
//! MPI-5.0: MPI Environmental Management, Error Handling.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Error, Function};
use oxmpi_core::{Communicator, Process};

use super::reserved::clear_failed;
use super::{freed, handle_of};
use crate::failure::{Hears, NoObject, tell};
use crate::generated::constants::{MPI_COMM_NULL, MPI_SUCCESS};
use crate::process::{self, Call};

/// Runs the body of a function on an object that has a communicator, to whose handler errors go.
#[inline]
pub fn on_object(function: Function, body: impl FnOnce(&'static Process) -> Outcome<()>) -> c_int {
    let process = match process::current() {
        Ok(process) => process,
        Err(error) => return NoObject.hear(function, &error),
    };
    let _call = Call::begin(process, function);
    match body(process) {
        Ok(()) => MPI_SUCCESS,
        Err(failure) => hear(function, &failure),
    }
}

/// What bodies return that know on which communicator they failed.
pub type Outcome<T> = std::result::Result<T, Failure>;

/// An error, and whose handler hears of it.
pub struct Failure {
    /// What went wrong.
    pub error: Error,
    /// The communicator that it happened on, if it is known.
    pub comm: Option<Arc<Communicator>>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, comm: None }
    }
}

#[cold]
fn hear(function: Function, Failure { error, comm }: &Failure) -> c_int {
    clear_failed();
    if let Some(handle) = comm.as_ref().and_then(handle_of) {
        return handle.hear(function, error);
    }
    match comm.as_ref().and_then(freed::errhandler) {
        Some(errhandler) => tell(function, MPI_COMM_NULL, &errhandler, error),
        None => NoObject.hear(function, error),
    }
}
