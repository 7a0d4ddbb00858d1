//! Arrays of requests: what the functions that complete several at a time are given.

use std::ffi::c_int;

use oxmpi_base::{Error, Result};
use oxmpi_core::RequestKey;

use crate::generated::constants::MPI_REQUEST_NULL;
use crate::generated::types::MPI_Request;
use crate::handle::{bad_handle, decode};
use crate::pointer::{Array, InOut};

/// So many requests are looked at without allocating memory.
const FEW: usize = 16;

/// An array of requests that the program gave.
pub struct Requests {
    handles: Array<MPI_Request>,
    keys: Keys,
}

enum Keys {
    Few([Option<RequestKey>; FEW]),
    Many(Vec<Option<RequestKey>>),
}

impl Requests {
    /// The argument `array_of_requests` with its length.
    ///
    /// # Errors
    /// `Arg` if the length is negative or the array null, `Request` if a handle names no request.
    ///
    /// # Safety
    /// Until the last use, an array that is not null is valid for reads, and for the writes that are made.
    #[inline]
    pub unsafe fn new(array: *mut MPI_Request, count: c_int) -> Result<Self> {
        // SAFETY: the caller's promise.
        let handles = unsafe { Array::new("array_of_requests", array, count) }?;
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

    /// The handle at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn handle(&self, index: usize) -> InOut<MPI_Request> {
        self.handles.item(index)
    }
}

#[cold]
fn no_request(index: usize, handle: MPI_Request) -> Error {
    bad_handle(&format!("array_of_requests[{index}]"), handle)
}
