//! Requests that the program names: one, or an array of them.

use oxmpi_base::{Error, Result};
use oxmpi_core::{Process, RequestKey};

use crate::argument::{Array, ArrayArgument, Both, Reads, Slot};
use crate::generated::constants::MPI_REQUEST_NULL;
use crate::generated::types::MPI_Request;
use crate::handle::{Handle, bad_handle, decode};
use crate::object::comm::indirect::Failure;

/// So many requests are looked at without allocating memory.
const FEW: usize = 16;

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

/// An array of requests that the program gave.
pub struct Requests<M = Both> {
    handles: Array<MPI_Request, M>,
    keys: Keys,
}

enum Keys {
    Few([Option<RequestKey>; FEW]),
    Many(Vec<Option<RequestKey>>),
}

impl<M: Reads> Requests<M> {
    /// The argument `array_of_requests`, whose length C calls `length`.
    ///
    /// # Errors
    /// `Arg` if the length is negative or the array null, `Request` if a handle names no request.
    #[inline]
    pub fn new(array: ArrayArgument<MPI_Request, M>, length: &str) -> Result<Self> {
        let handles = array.counted("array_of_requests", length)?;
        let mut keys =
            if handles.len() <= FEW { Keys::Few([None; FEW]) } else { Keys::Many(vec![None; handles.len()]) };
        let places: &mut [Option<RequestKey>] = match &mut keys {
            Keys::Few(keys) => keys,
            Keys::Many(keys) => keys,
        };
        for (index, place) in places.iter_mut().enumerate().take(handles.len()) {
            let handle = handles.get(index);
            if handle != MPI_REQUEST_NULL {
                *place = Some(decode(handle).ok_or_else(|| no_request(index, handle))?);
            }
        }
        Ok(Self { handles, keys })
    }

    /// The requests; `None` for `MPI_REQUEST_NULL`.
    #[inline]
    pub fn keys(&self) -> &[Option<RequestKey>] {
        match &self.keys {
            Keys::Few(keys) => &keys[..self.handles.len()],
            Keys::Many(keys) => keys,
        }
    }

    /// [`misused`], of the request at `index`.
    #[cold]
    pub fn misused(&self, process: &Process, index: usize, error: Error) -> Failure {
        misused(process, &place(index), self.handles.get(index), error)
    }

    /// The error of naming a request that is none any more, which `error` says less exactly.
    #[cold]
    pub fn stale(&self, process: &Process, error: Error) -> Error {
        let is_stale = |key: &Option<RequestKey>| key.is_some_and(|key| process.is_active(key).is_err());
        match self.keys().iter().position(is_stale) {
            Some(index) => no_request(index, self.handles.get(index)),
            None => error,
        }
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
    Failure { error, comm }
}

#[cold]
fn no_request(index: usize, handle: MPI_Request) -> Error {
    bad_handle(&place(index), handle)
}

fn place(index: usize) -> String {
    format!("array_of_requests[{index}]")
}
