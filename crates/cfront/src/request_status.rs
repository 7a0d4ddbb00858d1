//! Asking about requests without completing them.
//!
//! MPI-5.0: Point-to-Point Communication, Non-Destructive Test of status.

use std::ffi::c_int;

use oxmpi_base::{Error, Function, Result, Status};
use oxmpi_core::{Process, RequestArray as _, RequestKey};

use crate::argument::{ArrayIn, ArrayOut, Out, Reading};
use crate::generated::constants::MPI_UNDEFINED;
use crate::generated::types::MPI_Request;
use crate::handle::bad_handle;
use crate::object::comm::indirect::on_object;
use crate::requests::{Requests, key_of, place};
use crate::status::{StatusOut, Statuses};

/// The status of a request that is over, or null, or inactive.
fn status_of(process: &Process, key: Option<RequestKey>) -> Result<Option<Status>> {
    key.map_or(Ok(Some(Status::EMPTY)), |key| process.request_status(key))
}

/// Writes such a status: of one that is not active it is the empty one, whose error field counts.
fn tell(process: &Process, key: Option<RequestKey>, status: &Status, out: StatusOut) -> Result<()> {
    match is_active(process, key)? {
        true => out.describe(status),
        false => out.set(status),
    }
    Ok(())
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
pub fn request_get_status(
    function: Function,
    request: MPI_Request,
    flag: Out<c_int>,
    status: StatusOut,
) -> c_int {
    on_object(function, |process| {
        let key = key_of("request", request)?;
        let flag = flag.named("flag")?;
        let over = status_of(process, key).map_err(|error| stale(process, key, request, error))?;
        flag.set(over.is_some().into());
        if let Some(over) = over {
            tell(process, key, &over, status)?;
        }
        Ok(())
    })
}

/// `MPI_Request_get_status_all`.
pub fn request_get_status_all(
    function: Function,
    _count: c_int,
    array_of_requests: ArrayIn<MPI_Request>,
    flag: Out<c_int>,
    array_of_statuses: Statuses,
) -> c_int {
    on_object(function, |process| {
        let requests = Requests::new(array_of_requests, "count")?;
        let flag = flag.named("flag")?;
        let statuses = process.request_statuses(&requests);
        let statuses = statuses.map_err(|error| requests.stale(process, error))?;
        let all = statuses.iter().all(Option::is_some);
        flag.set(all.into());
        if all {
            for (index, status) in statuses.iter().flatten().enumerate() {
                tell(process, requests.at(index), status, array_of_statuses.at(index))?;
            }
        }
        Ok(())
    })
}

/// `MPI_Request_get_status_any`.
pub fn request_get_status_any(
    function: Function,
    _count: c_int,
    array_of_requests: ArrayIn<MPI_Request>,
    indx: Out<c_int>,
    flag: Out<c_int>,
    status: StatusOut,
) -> c_int {
    on_object(function, |process| {
        let requests = Requests::new(array_of_requests, "count")?;
        let indx = indx.named("indx")?;
        let flag = flag.named("flag")?;
        let some = over(process, &requests, 1)?;
        let (index, is_over) = match &some {
            None => {
                status.set(&Status::EMPTY);
                (MPI_UNDEFINED, true)
            }
            Some(found) => match found.first() {
                Some((index, found)) => {
                    status.describe(found);
                    (*index, true)
                }
                None => (MPI_UNDEFINED, false),
            },
        };
        indx.set(index);
        flag.set(is_over.into());
        Ok(())
    })
}

/// `MPI_Request_get_status_some`.
pub fn request_get_status_some(
    function: Function,
    _incount: c_int,
    array_of_requests: ArrayIn<MPI_Request>,
    outcount: Out<c_int>,
    array_of_indices: ArrayOut<c_int>,
    array_of_statuses: Statuses,
) -> c_int {
    on_object(function, |process| {
        let requests = Requests::new(array_of_requests, "incount")?;
        let outcount = outcount.named("outcount")?;
        let indices = array_of_indices.named("array_of_indices")?;
        let Some(found) = over(process, &requests, usize::MAX)? else {
            outcount.set(MPI_UNDEFINED);
            return Ok(());
        };
        for (place, (index, status)) in found.iter().enumerate() {
            indices.set(place, *index);
            array_of_statuses.at(place).describe(status);
        }
        outcount.set(place(found.len()));
        Ok(())
    })
}

/// Active requests that are over, by index, at `most` so many; `None` if none is active.
fn over(
    process: &Process,
    requests: &Requests<Reading>,
    most: usize,
) -> Result<Option<Vec<(c_int, Status)>>> {
    let statuses = process.active_statuses(requests, most).map_err(|error| requests.stale(process, error))?;
    Ok(statuses.map(|found| found.into_iter().map(|(index, status)| (place(index), status)).collect()))
}
