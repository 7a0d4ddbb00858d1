//! Errors on a communicator that the function does not name: it is given a request, or a message.
//!
//! MPI-5.0: MPI Environmental Management, Error Handling.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function};
use oxmpi_core::{Communicator, Process};

use super::reserved::clear_failed;
use super::{freed, handle_of};
use crate::failure::{Hears, NoObject, tell};
use crate::generated::constants::{MPI_COMM_NULL, MPI_SUCCESS};
use crate::last_error;
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
    /// How many of several operations failed, this one at first: the caller gets `MPI_ERR_IN_STATUS`, the error
    /// handler the code of this error.
    pub of_several: Option<usize>,
}

impl Failure {
    /// An error on a communicator, if it is known.
    pub fn on(comm: Option<Arc<Communicator>>, error: Error) -> Self {
        Self { error, comm, of_several: None }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::on(None, error)
    }
}

#[cold]
fn hear(function: Function, Failure { error, comm, of_several }: &Failure) -> c_int {
    clear_failed();
    let code = match comm.as_ref().and_then(handle_of) {
        Some(handle) => handle.hear(function, error),
        None => match comm.as_ref().and_then(freed::errhandler) {
            Some(errhandler) => tell(function, MPI_COMM_NULL, &errhandler, error),
            None => NoObject.hear(function, error),
        },
    };
    let Some(failures) = of_several else { return code };
    let code = ErrorClass::InStatus.code();
    let (name, first) = (function.name(), error.text());
    last_error::note(
        code,
        format!("{name}: {failures} of the operations failed, see their statuses; {first}"),
    );
    code
}
