//! Requests that the program names: one, or an array of them.

use std::ffi::c_int;

use oxmpi_base::{Error, Result};
use oxmpi_core::{Process, RequestArray, RequestKey};

use crate::argument::{Array, ArrayArgument, Both, Reads, Slot};
use crate::generated::constants::MPI_REQUEST_NULL;
use crate::generated::types::MPI_Request;
use crate::handle::{Handle, bad_handle, decode};
use crate::object::comm::indirect::Failure;

/// The number of what is no request.
const NO_REQUEST: RequestKey = RequestKey::from_word(u64::MAX);

/// The request that a handle names; none for `MPI_REQUEST_NULL`.
///
/// # Errors
/// `Request` if it names none.
#[inline]
pub fn key_of(argument: &str, handle: MPI_Request) -> Result<Option<RequestKey>> {
    if handle == MPI_REQUEST_NULL {
        return Ok(None);
    }
    decode(handle).map(Some).ok_or_else(|| bad_handle(argument, handle))
}

/// An array of requests that the program gave. A handle is read when it is asked for, each time.
pub struct Requests<M = Both> {
    handles: Array<MPI_Request, M>,
}

impl<M: Reads> Requests<M> {
    /// The argument `array_of_requests`, whose length C calls `length`.
    ///
    /// # Errors
    /// `Arg` if the length is negative or the array null.
    #[inline]
    pub fn new(array: ArrayArgument<MPI_Request, M>, length: &str) -> Result<Self> {
        Ok(Self { handles: array.counted("array_of_requests", length)? })
    }

    /// [`misused`], of the request at `index`.
    #[cold]
    pub fn misused(&self, process: &Process, index: usize, error: Error) -> Failure {
        misused(process, &name(index), self.handles.get(index), error)
    }

    /// The error of naming a request that is none, which `error` says less exactly.
    #[cold]
    pub fn stale(&self, process: &Process, error: Error) -> Error {
        let is_stale = |&index: &usize| self.at(index).is_some_and(|key| process.is_active(key).is_err());
        match (0..self.len()).find(is_stale) {
            Some(index) => no_request(index, self.handles.get(index)),
            None => error,
        }
    }
}

impl<M: Reads> RequestArray for Requests<M> {
    #[inline]
    fn len(&self) -> usize {
        self.handles.len()
    }

    #[inline]
    fn at(&self, index: usize) -> Option<RequestKey> {
        let handle = self.handles.get(index);
        (handle != MPI_REQUEST_NULL).then(|| decode(handle).unwrap_or(NO_REQUEST))
    }
}

impl Requests {
    /// The handle at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn handle(&self, index: usize) -> Slot<MPI_Request> {
        self.handles.item(index)
    }
}

/// The error of doing with the request that `argument` names what cannot be done with it. Its communicator's
/// handler hears of it.
#[cold]
pub fn misused(process: &Process, argument: &str, handle: MPI_Request, error: Error) -> Failure {
    let comm = decode(handle).and_then(|key| process.request_comm(key));
    let error = match comm {
        Some(_) => error.about(format_args!("{argument} is {:#x}", handle.word())),
        None => bad_handle(argument, handle),
    };
    Failure::on(comm, error)
}

#[cold]
fn no_request(index: usize, handle: MPI_Request) -> Error {
    bad_handle(&name(index), handle)
}

fn name(index: usize) -> String {
    format!("array_of_requests[{index}]")
}

/// An index of an array, or how many there are, as C says it.
pub fn place(index: usize) -> c_int {
    c_int::try_from(index).expect("an array has an int of items")
}
