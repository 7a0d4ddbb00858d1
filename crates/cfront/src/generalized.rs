//! Generalized requests: the program's functions, and starting and completing their operations.
//!
//! When the functions are called is the core's affair. What they return goes to the caller of the function of MPI
//! that called them.
//!
//! MPI-5.0: External Interfaces, Generalized Requests.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use oxmpi_base::{Function, Result, Status};
use oxmpi_core::GeneralizedCallbacks;

use crate::argument::{Callback, Out, Word, null};
use crate::error_codes;
use crate::failure::in_process;
use crate::generated::constants::MPI_SUCCESS;
use crate::generated::types::{
    MPI_Grequest_cancel_function, MPI_Grequest_free_function, MPI_Grequest_query_function, MPI_Request,
    MPI_Status,
};
use crate::handle::{bad_handle, decode, encode};
use crate::object::comm::indirect::on_object;
use crate::requests::misused;
use crate::status;

/// What the program gave to start a request with.
#[derive(Debug)]
struct Functions {
    query: unsafe extern "C" fn(*mut c_void, *mut MPI_Status) -> c_int,
    free: unsafe extern "C" fn(*mut c_void) -> c_int,
    cancel: unsafe extern "C" fn(*mut c_void, c_int) -> c_int,
    extra_state: Word,
}

impl GeneralizedCallbacks for Functions {
    fn query(&self) -> (Status, Result<()>) {
        let (status, code) = status::filled(|status| {
            // SAFETY: the program made a request with this function, and promised that it takes these.
            unsafe { (self.query)(self.extra_state.pointer(), status) }
        });
        (status, returned("query_fn", code))
    }

    fn free(&self) -> Result<()> {
        // SAFETY: as for `query`.
        returned("free_fn", unsafe { (self.free)(self.extra_state.pointer()) })
    }

    fn cancel(&self, complete: bool) -> Result<()> {
        // SAFETY: as for `query`.
        returned("cancel_fn", unsafe { (self.cancel)(self.extra_state.pointer(), complete.into()) })
    }
}

fn returned(which: &str, code: c_int) -> Result<()> {
    if code == MPI_SUCCESS {
        return Ok(());
    }
    Err(error_codes::returned(code, format!("{which} of a generalized request returned {code}")))
}

/// `MPI_Grequest_start`.
pub fn grequest_start(
    function: Function,
    query_fn: Callback<MPI_Grequest_query_function>,
    free_fn: Callback<MPI_Grequest_free_function>,
    cancel_fn: Callback<MPI_Grequest_cancel_function>,
    extra_state: *mut c_void,
    request: Out<MPI_Request>,
) -> c_int {
    in_process(function, |process| {
        let functions = Functions {
            query: query_fn.get().ok_or_else(|| null("query_fn"))?,
            free: free_fn.get().ok_or_else(|| null("free_fn"))?,
            cancel: cancel_fn.get().ok_or_else(|| null("cancel_fn"))?,
            extra_state: Word::of(extra_state),
        };
        let request = request.named("request")?;
        request.set(encode(process.start_generalized(Arc::new(functions))?));
        Ok(())
    })
}

/// `MPI_Grequest_complete`.
pub fn grequest_complete(function: Function, request: MPI_Request) -> c_int {
    on_object(function, |process| {
        let key = decode(request).ok_or_else(|| bad_handle("request", request))?;
        let completed = process.complete_generalized(key);
        let ended = completed.map_err(|error| misused(process, "request", request, error))?;
        ended.map_or(Ok(()), |error| Err(error.into()))
    })
}
