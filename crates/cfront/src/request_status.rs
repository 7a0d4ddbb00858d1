//! Asking about requests without completing them.
//!
//! MPI-5.0: Point-to-Point Communication, Non-Destructive Test of status.

use std::ffi::c_int;

use oxmpi_base::{Error, Function, Result, Status};
use oxmpi_core::{Process, RequestKey};

use crate::generated::constants::{MPI_SUCCESS, MPI_UNDEFINED};
use crate::generated::types::{MPI_Request, MPI_Status};
use crate::handle::bad_handle;
use crate::object::comm::indirect::on_object;
use crate::pointer::{Array, Out};
use crate::requests::{Requests, key_of};
use crate::status::StatusOut;

/// The status of a request that is over, or null, or inactive.
fn status_of(process: &Process, key: Option<RequestKey>) -> Result<Option<Status>> {
    key.map_or(Ok(Some(Status::EMPTY)), |key| process.request_status(key))
}

/// What to say of a request whose status could not be found: it is none any more, or a generalized one.
#[cold]
fn stale(process: &Process, key: Option<RequestKey>, request: MPI_Request, error: Error) -> Error {
    if is_active(process, key).is_err() { bad_handle("request", request) } else { error }
}

fn is_active(process: &Process, key: Option<RequestKey>) -> Result<bool> {
    key.map_or(Ok(false), |key| process.is_active(key))
}

/// `MPI_Request_get_status`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn request_get_status(
    function: Function,
    request: MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    on_object(function, |process| {
        let key = key_of("request", request)?;
        // SAFETY: the caller's promise.
        let flag = unsafe { Out::new("flag", flag) }?;
        let over = status_of(process, key).map_err(|error| stale(process, key, request, error))?;
        flag.set(over.is_some().into());
        if let Some(over) = over {
            // SAFETY: the caller's promise.
            unsafe { StatusOut::new(status) }.set(&over);
        }
        Ok(())
    })
}

/// `MPI_Request_get_status_all`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn request_get_status_all(
    function: Function,
    count: c_int,
    array_of_requests: *const MPI_Request,
    flag: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let requests = unsafe { Requests::new(array_of_requests.cast_mut(), ("count", count)) }?;
        // SAFETY: the caller's promise.
        let flag = unsafe { Out::new("flag", flag) }?;
        // SAFETY: the caller's promise.
        let out = unsafe { StatusOut::new(array_of_statuses) };
        let statuses = process.request_statuses(requests.keys());
        let statuses = statuses.map_err(|error| requests.stale(process, error))?;
        let all = statuses.iter().all(Option::is_some);
        flag.set(all.into());
        if all {
            for (index, status) in statuses.iter().flatten().enumerate() {
                out.at(index).set_with_error(status, MPI_SUCCESS);
            }
        }
        Ok(())
    })
}

/// `MPI_Request_get_status_any`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn request_get_status_any(
    function: Function,
    count: c_int,
    array_of_requests: *const MPI_Request,
    indx: *mut c_int,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let requests = unsafe { Requests::new(array_of_requests.cast_mut(), ("count", count)) }?;
        // SAFETY: the caller's promise.
        let indx = unsafe { Out::new("indx", indx) }?;
        // SAFETY: the caller's promise.
        let flag = unsafe { Out::new("flag", flag) }?;
        // SAFETY: the caller's promise.
        let out = unsafe { StatusOut::new(status) };
        let some = over(process, &requests)?;
        let (index, status) = match &some {
            None => (MPI_UNDEFINED, Some(Status::EMPTY)),
            Some(found) => match found.first() {
                Some(&(index, status)) => (index, Some(status)),
                None => (MPI_UNDEFINED, None),
            },
        };
        indx.set(index);
        flag.set(status.is_some().into());
        if let Some(status) = status {
            out.set(&status);
        }
        Ok(())
    })
}

/// `MPI_Request_get_status_some`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn request_get_status_some(
    function: Function,
    incount: c_int,
    array_of_requests: *const MPI_Request,
    outcount: *mut c_int,
    array_of_indices: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let requests = unsafe { Requests::new(array_of_requests.cast_mut(), ("incount", incount)) }?;
        // SAFETY: the caller's promise.
        let outcount = unsafe { Out::new("outcount", outcount) }?;
        // SAFETY: the caller's promise: there is room for as many indices as requests.
        let indices = unsafe { Array::new("array_of_indices", array_of_indices, incount) }?;
        // SAFETY: the caller's promise.
        let out = unsafe { StatusOut::new(array_of_statuses) };
        let Some(found) = over(process, &requests)? else {
            outcount.set(MPI_UNDEFINED);
            return Ok(());
        };
        for (place, (index, status)) in found.iter().enumerate() {
            indices.set(place, *index);
            out.at(place).set_with_error(status, MPI_SUCCESS);
        }
        outcount.set(c_int::try_from(found.len()).expect("an array has an int of items"));
        Ok(())
    })
}

/// The active requests that are over, by index; `None` if none is active.
fn over(process: &Process, requests: &Requests) -> Result<Option<Vec<(c_int, Status)>>> {
    let stale = |error| requests.stale(process, error);
    let (mut places, mut active) = (Vec::new(), Vec::new());
    for (index, &key) in (0..).zip(requests.keys()) {
        if is_active(process, key).map_err(stale)? {
            places.push(index);
            active.push(key);
        }
    }
    let statuses = process.request_statuses(&active).map_err(stale)?;
    let found = places.into_iter().zip(statuses).filter_map(|(index, status)| Some((index, status?)));
    Ok((!active.is_empty()).then(|| found.collect()))
}
