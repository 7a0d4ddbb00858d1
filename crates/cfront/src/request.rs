//! Completing, testing, cancelling and freeing requests.
//!
//! A request's handle holds the core's number of it, so none of these looks into a table of the front.
//! MPI-5.0: Point-to-Point Communication, Communication Completion; Multiple Completions.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{AnyTest, Completion, Process, RequestKey};

use crate::generated::constants::{MPI_REQUEST_NULL, MPI_SUCCESS, MPI_UNDEFINED};
use crate::generated::types::{MPI_Request, MPI_Status};
use crate::handle::{bad_handle, decode};
use crate::last_error;
use crate::object::comm::indirect::{Failure, Outcome, on_object};
use crate::pointer::{Array, InOut, Out};
use crate::requests::{Requests, key_of, misused};
use crate::status::StatusOut;

pub use crate::generalized::{grequest_complete, grequest_start};
pub use crate::request_status::{
    request_get_status, request_get_status_all, request_get_status_any, request_get_status_some,
};
pub use crate::status::{
    get_count, get_elements, get_elements_x, status_get_error, status_get_source, status_get_tag,
    status_set_cancelled, status_set_elements, status_set_elements_x, status_set_error, status_set_source,
    status_set_tag, test_cancelled,
};

/// Tells the program how one operation ended.
#[inline]
fn deliver(completion: Completion, request: InOut<MPI_Request>, status: StatusOut) -> Outcome<()> {
    if completion.freed {
        request.set(MPI_REQUEST_NULL);
    }
    status.set(&completion.status);
    match completion.error {
        None => Ok(()),
        Some(error) => Err(Failure { error, comm: completion.comm }),
    }
}

/// `MPI_Wait`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn wait(function: Function, request: *mut MPI_Request, status: *mut MPI_Status) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let request = unsafe { InOut::new("request", request) }?;
        // SAFETY: the caller's promise.
        let status = unsafe { StatusOut::new(status) };
        let completion = match key_of("request", request.get())? {
            None => Completion::EMPTY,
            Some(key) => process.wait(key).map_err(|_| bad_handle("request", request.get()))?,
        };
        deliver(completion, request, status)
    })
}

/// `MPI_Test`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn test(
    function: Function,
    request: *mut MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let request = unsafe { InOut::new("request", request) }?;
        // SAFETY: the caller's promise.
        let flag = unsafe { Out::new("flag", flag) }?;
        // SAFETY: the caller's promise.
        let status = unsafe { StatusOut::new(status) };
        let completion = match key_of("request", request.get())? {
            None => Some(Completion::EMPTY),
            Some(key) => process.test(key).map_err(|_| bad_handle("request", request.get()))?,
        };
        flag.set(completion.is_some().into());
        completion.map_or(Ok(()), |completion| deliver(completion, request, status))
    })
}

/// `MPI_Waitall`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn waitall(
    function: Function,
    count: c_int,
    array_of_requests: *mut MPI_Request,
    array_of_statuses: *mut MPI_Status,
) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let requests = unsafe { Requests::new(array_of_requests, ("count", count)) }?;
        // SAFETY: the caller's promise.
        let mut several = Several::new(&requests, unsafe { StatusOut::new(array_of_statuses) });
        process
            .wait_all(requests.keys(), |index, completion| several.deliver(index, index, completion))
            .map_err(|error| requests.stale(process, error))?;
        several.result()
    })
}

/// `MPI_Testall`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn testall(
    function: Function,
    count: c_int,
    array_of_requests: *mut MPI_Request,
    flag: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let requests = unsafe { Requests::new(array_of_requests, ("count", count)) }?;
        // SAFETY: the caller's promise.
        let flag = unsafe { Out::new("flag", flag) }?;
        // SAFETY: the caller's promise.
        let mut several = Several::new(&requests, unsafe { StatusOut::new(array_of_statuses) });
        let over = process
            .test_all(requests.keys(), |index, completion| several.deliver(index, index, completion))
            .map_err(|error| requests.stale(process, error))?;
        flag.set(over.into());
        several.result()
    })
}

/// `MPI_Waitany`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn waitany(
    function: Function,
    count: c_int,
    array_of_requests: *mut MPI_Request,
    indx: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let requests = unsafe { Requests::new(array_of_requests, ("count", count)) }?;
        // SAFETY: the caller's promise.
        let indx = unsafe { Out::new("indx", indx) }?;
        // SAFETY: the caller's promise.
        let status = unsafe { StatusOut::new(status) };
        let done = process.wait_any(requests.keys()).map_err(|error| requests.stale(process, error))?;
        deliver_any(&requests, done, indx, status)
    })
}

/// `MPI_Testany`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn testany(
    function: Function,
    count: c_int,
    array_of_requests: *mut MPI_Request,
    indx: *mut c_int,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let requests = unsafe { Requests::new(array_of_requests, ("count", count)) }?;
        // SAFETY: the caller's promise.
        let indx = unsafe { Out::new("indx", indx) }?;
        // SAFETY: the caller's promise.
        let flag = unsafe { Out::new("flag", flag) }?;
        // SAFETY: the caller's promise.
        let status = unsafe { StatusOut::new(status) };
        let tested = process.test_any(requests.keys());
        let done = match tested.map_err(|error| requests.stale(process, error))? {
            AnyTest::Done(index, completion) => Some((index, completion)),
            AnyTest::Undefined => None,
            AnyTest::NotYet => {
                flag.set(0);
                indx.set(MPI_UNDEFINED);
                return Ok(());
            }
        };
        flag.set(1);
        deliver_any(&requests, done, indx, status)
    })
}

/// Tells the program which of several operations ended, and how; `None` if none was active.
fn deliver_any(
    requests: &Requests,
    done: Option<(usize, Completion)>,
    indx: Out<c_int>,
    status: StatusOut,
) -> Outcome<()> {
    let Some((index, completion)) = done else {
        indx.set(MPI_UNDEFINED);
        status.set(&Completion::EMPTY.status);
        return Ok(());
    };
    indx.set(place(index));
    deliver(completion, requests.handle(index), status)
}

/// `MPI_Waitsome`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn waitsome(
    function: Function,
    incount: c_int,
    array_of_requests: *mut MPI_Request,
    outcount: *mut c_int,
    array_of_indices: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> c_int {
    let outputs = SomeOutputs { outcount, array_of_indices, array_of_statuses };
    // SAFETY: the caller's promise.
    unsafe {
        some(function, incount, array_of_requests, outputs, |process, keys, each| {
            process.wait_some(keys, each)
        })
    }
}

/// `MPI_Testsome`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn testsome(
    function: Function,
    incount: c_int,
    array_of_requests: *mut MPI_Request,
    outcount: *mut c_int,
    array_of_indices: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> c_int {
    let outputs = SomeOutputs { outcount, array_of_indices, array_of_statuses };
    // SAFETY: the caller's promise.
    unsafe {
        some(function, incount, array_of_requests, outputs, |process, keys, each| {
            process.test_some(keys, each)
        })
    }
}

/// What `MPI_Waitsome` and `MPI_Testsome` write.
struct SomeOutputs {
    outcount: *mut c_int,
    array_of_indices: *mut c_int,
    array_of_statuses: *mut MPI_Status,
}

/// # Safety
/// The pointers are as the standard says.
unsafe fn some(
    function: Function,
    incount: c_int,
    array_of_requests: *mut MPI_Request,
    outputs: SomeOutputs,
    complete: impl FnOnce(
        &Process,
        &[Option<RequestKey>],
        &mut dyn FnMut(usize, Completion),
    ) -> Result<Option<usize>>,
) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let requests = unsafe { Requests::new(array_of_requests, ("incount", incount)) }?;
        // SAFETY: the caller's promise.
        let outcount = unsafe { Out::new("outcount", outputs.outcount) }?;
        // SAFETY: the caller's promise: there is room for as many indices as requests.
        let indices = unsafe { Array::new("array_of_indices", outputs.array_of_indices, incount) }?;
        // SAFETY: the caller's promise.
        let mut several = Several::new(&requests, unsafe { StatusOut::new(outputs.array_of_statuses) });
        let mut next = 0;
        let count = complete(process, requests.keys(), &mut |index, completion| {
            indices.set(next, place(index));
            several.deliver(next, index, completion);
            next += 1;
        })
        .map_err(|error| requests.stale(process, error))?;
        outcount.set(count.map_or(MPI_UNDEFINED, place));
        several.result()
    })
}

fn place(index: usize) -> c_int {
    c_int::try_from(index).expect("an array has an int of items")
}

/// Tells the program how several operations ended.
struct Several<'a> {
    requests: &'a Requests,
    statuses: StatusOut,
    failures: usize,
    first: Option<(usize, Failure)>,
}

impl<'a> Several<'a> {
    fn new(requests: &'a Requests, statuses: StatusOut) -> Self {
        Self { requests, statuses, failures: 0, first: None }
    }

    /// Operation `index` has ended; its status is the one at `at`.
    #[inline]
    fn deliver(&mut self, at: usize, index: usize, completion: Completion) {
        if completion.freed {
            self.requests.handle(index).set(MPI_REQUEST_NULL);
        }
        let code = completion.error.as_ref().map_or(MPI_SUCCESS, Error::code);
        self.statuses.at(at).set_with_error(&completion.status, code);
        if let Some(error) = completion.error {
            self.failures += 1;
            last_error::note(code, error.text().to_owned());
            self.first.get_or_insert((index, Failure { error, comm: completion.comm }));
        }
    }

    fn result(self) -> Outcome<()> {
        match self.first {
            None => Ok(()),
            Some((index, first)) => Err(in_status(self.failures, index, first)),
        }
    }
}

#[cold]
fn in_status(failures: usize, index: usize, first: Failure) -> Failure {
    let text = format!(
        "{failures} of the operations failed, see their statuses; array_of_requests[{index}]: {}",
        first.error.text()
    );
    Failure { error: Error::new(ErrorClass::InStatus, text), comm: first.comm }
}

/// `MPI_Request_free`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn request_free(function: Function, request: *mut MPI_Request) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let request = unsafe { InOut::new("request", request) }?;
        let handle = request.get();
        let key = decode(handle).ok_or_else(|| bad_handle("request", handle))?;
        let freed = process.request_free(key).map_err(|error| misused(process, "request", handle, error))?;
        request.set(MPI_REQUEST_NULL);
        freed.map_or(Ok(()), |error| Err(error.into()))
    })
}

/// `MPI_Cancel`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn cancel(function: Function, request: *mut MPI_Request) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let handle = unsafe { InOut::new("request", request) }?.get();
        let key = decode(handle).ok_or_else(|| bad_handle("request", handle))?;
        process.cancel(key).map_err(|error| misused(process, "request", handle, error))
    })
}
