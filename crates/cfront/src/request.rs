//! Completing, testing, cancelling and freeing requests.
//!
//! A request's handle holds the core's number of it, so none of these looks into a table of the front.
//! MPI-5.0: Point-to-Point Communication, Communication Completion; Multiple Completions.

use std::ffi::c_int;

use oxmpi_base::{Function, Result};
use oxmpi_core::{AnyTest, Completion, Process, RequestArray};

use crate::argument::{ArrayInOut, ArrayOut, In, InOut, Out, Place, Slot};
use crate::generated::constants::{MPI_REQUEST_NULL, MPI_SUCCESS, MPI_UNDEFINED};
use crate::generated::types::MPI_Request;
use crate::handle::{bad_handle, decode};
use crate::last_error;
use crate::object::comm::indirect::{Failure, Outcome, on_object};
use crate::requests::{Requests, key_of, misused, place};
use crate::status::{StatusOut, Statuses};

pub use crate::generalized::{grequest_complete, grequest_start};
pub use crate::request_status::{
    request_get_status, request_get_status_all, request_get_status_any, request_get_status_some,
};
pub use crate::status::{
    get_count, get_elements, get_elements_x, status_get_error, status_get_source, status_get_tag,
    status_set_cancelled, status_set_elements, status_set_elements_x, status_set_error, status_set_source,
    status_set_tag, test_cancelled,
};

/// The status of one operation: the empty one, whose error field counts, if there was none.
#[inline(always)]
fn tell(completion: &Completion, status: StatusOut) {
    match completion.was_active {
        true => status.describe(&completion.status),
        false => status.set(&completion.status),
    }
}

/// Tells the program how one operation ended.
#[inline]
fn deliver(completion: Completion, request: Slot<MPI_Request>, status: StatusOut) -> Outcome<()> {
    if completion.freed {
        request.set(MPI_REQUEST_NULL);
    }
    tell(&completion, status);
    match completion.error {
        None => Ok(()),
        Some(error) => Err(Failure::on(completion.comm, error)),
    }
}

/// `MPI_Wait`.
pub fn wait(function: Function, request: InOut<MPI_Request>, status: StatusOut) -> c_int {
    on_object(function, |process| {
        let request = request.named("request")?;
        let completion = match key_of("request", request.get())? {
            None => Completion::EMPTY,
            Some(key) => process.wait(key).map_err(|_| bad_handle("request", request.get()))?,
        };
        deliver(completion, request, status)
    })
}

/// `MPI_Test`.
pub fn test(function: Function, request: InOut<MPI_Request>, flag: Out<c_int>, status: StatusOut) -> c_int {
    on_object(function, |process| {
        let request = request.named("request")?;
        let flag = flag.named("flag")?;
        let completion = match key_of("request", request.get())? {
            None => Some(Completion::EMPTY),
            Some(key) => process.test(key).map_err(|_| bad_handle("request", request.get()))?,
        };
        flag.set(completion.is_some().into());
        completion.map_or(Ok(()), |completion| deliver(completion, request, status))
    })
}

/// `MPI_Waitall`.
pub fn waitall(
    function: Function,
    _count: c_int,
    array_of_requests: ArrayInOut<MPI_Request>,
    array_of_statuses: Statuses,
) -> c_int {
    on_object(function, |process| {
        let requests = Requests::new(array_of_requests, "count")?;
        let mut several = Several::new(&requests, array_of_statuses);
        process
            .wait_all(&requests, |index, completion| several.deliver(index, index, completion))
            .map_err(|error| requests.stale(process, error))?;
        several.result(requests.len())
    })
}

/// `MPI_Testall`.
pub fn testall(
    function: Function,
    _count: c_int,
    array_of_requests: ArrayInOut<MPI_Request>,
    flag: Out<c_int>,
    array_of_statuses: Statuses,
) -> c_int {
    on_object(function, |process| {
        let requests = Requests::new(array_of_requests, "count")?;
        let flag = flag.named("flag")?;
        let mut several = Several::new(&requests, array_of_statuses);
        let over = process
            .test_all(&requests, |index, completion| several.deliver(index, index, completion))
            .map_err(|error| requests.stale(process, error))?;
        flag.set(over.into());
        several.result(requests.len())
    })
}

/// `MPI_Waitany`.
pub fn waitany(
    function: Function,
    _count: c_int,
    array_of_requests: ArrayInOut<MPI_Request>,
    indx: Out<c_int>,
    status: StatusOut,
) -> c_int {
    on_object(function, |process| {
        let requests = Requests::new(array_of_requests, "count")?;
        let indx = indx.named("indx")?;
        let done = process.wait_any(&requests).map_err(|error| requests.stale(process, error))?;
        deliver_any(&requests, done, indx, status)
    })
}

/// `MPI_Testany`.
pub fn testany(
    function: Function,
    _count: c_int,
    array_of_requests: ArrayInOut<MPI_Request>,
    indx: Out<c_int>,
    flag: Out<c_int>,
    status: StatusOut,
) -> c_int {
    on_object(function, |process| {
        let requests = Requests::new(array_of_requests, "count")?;
        let indx = indx.named("indx")?;
        let flag = flag.named("flag")?;
        let tested = process.test_any(&requests);
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
    indx: Place<c_int>,
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
pub fn waitsome(
    function: Function,
    _incount: c_int,
    array_of_requests: ArrayInOut<MPI_Request>,
    outcount: Out<c_int>,
    array_of_indices: ArrayOut<c_int>,
    array_of_statuses: Statuses,
) -> c_int {
    let outputs = SomeOutputs { outcount, array_of_indices, array_of_statuses };
    some(function, array_of_requests, outputs, |process, keys, each| process.wait_some(keys, each))
}

/// `MPI_Testsome`.
pub fn testsome(
    function: Function,
    _incount: c_int,
    array_of_requests: ArrayInOut<MPI_Request>,
    outcount: Out<c_int>,
    array_of_indices: ArrayOut<c_int>,
    array_of_statuses: Statuses,
) -> c_int {
    let outputs = SomeOutputs { outcount, array_of_indices, array_of_statuses };
    some(function, array_of_requests, outputs, |process, keys, each| process.test_some(keys, each))
}

/// What `MPI_Waitsome` and `MPI_Testsome` write.
struct SomeOutputs {
    outcount: Out<c_int>,
    array_of_indices: ArrayOut<c_int>,
    array_of_statuses: Statuses,
}

fn some(
    function: Function,
    array_of_requests: ArrayInOut<MPI_Request>,
    outputs: SomeOutputs,
    complete: impl FnOnce(&Process, &Requests, &mut dyn FnMut(usize, Completion)) -> Result<Option<usize>>,
) -> c_int {
    on_object(function, |process| {
        let requests = Requests::new(array_of_requests, "incount")?;
        let outcount = outputs.outcount.named("outcount")?;
        let indices = outputs.array_of_indices.named("array_of_indices")?;
        let mut several = Several::new(&requests, outputs.array_of_statuses);
        let mut next = 0;
        let count = complete(process, &requests, &mut |index, completion| {
            indices.set(next, place(index));
            several.deliver(next, index, completion);
            next += 1;
        })
        .map_err(|error| requests.stale(process, error))?;
        outcount.set(count.map_or(MPI_UNDEFINED, place));
        several.result(next)
    })
}

/// Tells the program how several operations ended.
///
/// Error fields are written only if an operation has failed, and the caller gets `MPI_ERR_IN_STATUS`; then those of
/// all that have ended are. MPI-5.0: Point-to-Point Communication, Return Status.
struct Several<'a> {
    requests: &'a Requests,
    statuses: Statuses,
    failures: usize,
    first: Option<(usize, Failure)>,
    /// So many statuses have their error field, from the first on: those up to the last failure.
    judged: usize,
}

impl<'a> Several<'a> {
    fn new(requests: &'a Requests, statuses: Statuses) -> Self {
        Self { requests, statuses, failures: 0, first: None, judged: 0 }
    }

    /// Operation `index` has ended; its status is the one at `at`.
    #[inline(always)] // so that a completion is never in memory
    fn deliver(&mut self, at: usize, index: usize, completion: Completion) {
        let status = self.statuses.at(at);
        if completion.freed {
            self.requests.handle(index).set(MPI_REQUEST_NULL);
        }
        tell(&completion, status);
        if let Some(error) = completion.error {
            self.fail(at, index, Failure::on(completion.comm, error));
        }
    }

    #[cold]
    fn fail(&mut self, at: usize, index: usize, failure: Failure) {
        let code = failure.error.code();
        self.failures += 1;
        last_error::note(code, failure.error.text().to_owned());
        self.first.get_or_insert((index, failure));
        // Of those before some may end only later, and write the field again if they fail.
        self.judge(at);
        self.statuses.at(at).set_error(code);
        self.judged = self.judged.max(at + 1);
    }

    /// Writes into the statuses before `end` that have no error field yet that nothing failed.
    #[cold]
    fn judge(&mut self, end: usize) {
        for at in self.judged..end {
            self.statuses.at(at).set_error(MPI_SUCCESS);
        }
    }

    /// What the caller hears, now that `ended` operations have ended.
    fn result(mut self, ended: usize) -> Outcome<()> {
        if self.failures != 0 {
            self.judge(ended);
        }
        match self.first {
            None => Ok(()),
            Some((index, first)) => Err(in_status(self.failures, index, first)),
        }
    }
}

/// What the caller hears if operations failed, `index` at first.
#[cold]
fn in_status(failures: usize, index: usize, first: Failure) -> Failure {
    let error = first.error.about(format_args!("array_of_requests[{index}]"));
    Failure { error, of_several: Some(failures), ..first }
}

/// `MPI_Request_free`.
pub fn request_free(function: Function, request: InOut<MPI_Request>) -> c_int {
    on_object(function, |process| {
        let request = request.named("request")?;
        let handle = request.get();
        let key = decode(handle).ok_or_else(|| bad_handle("request", handle))?;
        let freed = process.request_free(key).map_err(|error| misused(process, "request", handle, error))?;
        request.set(MPI_REQUEST_NULL);
        freed.map_or(Ok(()), |error| Err(error.into()))
    })
}

/// `MPI_Cancel`.
pub fn cancel(function: Function, request: In<MPI_Request>) -> c_int {
    on_object(function, |process| {
        let handle = request.get("request")?;
        let key = decode(handle).ok_or_else(|| bad_handle("request", handle))?;
        process.cancel(key).map_err(|error| misused(process, "request", handle, error))
    })
}
