//! Persistent sends and receives, and starting persistent requests of any kind.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use oxmpi_base::Function;
use oxmpi_core::{Process, SendMode};

use crate::buffer::{Arguments, PLAIN};
use crate::envelope::{destination, make_request, origin, pattern};
use crate::generated::types::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Request};
use crate::handle::{bad_handle, decode};
use crate::object::comm::Entry;
use crate::object::comm::indirect::on_object;
use crate::pointer::InOut;
use crate::requests::{Requests, misused};

pub use crate::buffered::bsend_init;

macro_rules! sends {
    ($($body:ident $c_name:literal $mode:ident;)*) => {$(
        #[doc = concat!("`", $c_name, "`.")]
        ///
        /// # Safety
        /// As the standard says of its arguments.
        pub unsafe fn $body(
            function: Function,
            buf: *const c_void,
            count: MPI_Count,
            datatype: MPI_Datatype,
            dest: c_int,
            tag: c_int,
            comm: MPI_Comm,
            request: *mut MPI_Request,
        ) -> c_int {
            let arguments = Arguments::new(&PLAIN, buf, count, datatype);
            let prepare = |process: &Process, comm: &Arc<Entry>, buffer| {
                process.send_init(&comm.core, buffer, destination(dest), tag, SendMode::$mode)
            };
            // SAFETY: the caller's promise.
            unsafe { make_request(function, arguments, comm, request, prepare) }
        }
    )*};
}

sends! {
    rsend_init "MPI_Rsend_init" Ready;
    send_init "MPI_Send_init" Standard;
    ssend_init "MPI_Ssend_init" Synchronous;
}

/// `MPI_Recv_init`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn recv_init(
    function: Function,
    buf: *mut c_void,
    count: MPI_Count,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> c_int {
    let arguments = Arguments::new(&PLAIN, buf, count, datatype);
    let prepare = |process: &Process, comm: &Arc<Entry>, buffer| {
        process.recv_init(&comm.core, buffer, origin(source), pattern(tag))
    };
    // SAFETY: the caller's promise.
    unsafe { make_request(function, arguments, comm, request, prepare) }
}

/// `MPI_Start`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn start(function: Function, request: *mut MPI_Request) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let handle = unsafe { InOut::new("request", request) }?.get();
        let Some(key) = decode(handle) else { return Err(bad_handle("request", handle).into()) };
        process.start(key).map_err(|error| misused(process, "request", handle, error))
    })
}

/// `MPI_Startall`: all, or none if one cannot be started.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn startall(function: Function, count: c_int, array_of_requests: *mut MPI_Request) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let requests = unsafe { Requests::new(array_of_requests, ("count", count)) }?;
        let started = process.start_all(requests.keys());
        started.map_err(|(index, error)| requests.misused(process, index, error))
    })
}
