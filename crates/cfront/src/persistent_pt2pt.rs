//! Persistent sends and receives, and starting persistent requests of any kind.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::Function;
use oxmpi_core::{Process, SendMode};

use crate::argument::{ArrayInOut, InOut, Out};
use crate::buffer::Message;
use crate::envelope::{destination, make_request, origin, pattern};
use crate::generated::types::{MPI_Comm, MPI_Request};
use crate::handle::{bad_handle, decode};
use crate::object::comm::Entry;
use crate::object::comm::indirect::on_object;
use crate::requests::{Requests, misused};

pub use crate::buffered::bsend_init;

macro_rules! sends {
    ($($body:ident $c_name:literal $mode:ident;)*) => {$(
        #[doc = concat!("`", $c_name, "`.")]
        pub fn $body(
            function: Function,
            message: Message,
            dest: c_int,
            tag: c_int,
            comm: MPI_Comm,
            request: Out<MPI_Request>,
        ) -> c_int {
            let prepare = |process: &Process, comm: &Arc<Entry>, buffer| {
                process.send_init(&comm.core, buffer, destination(dest), tag, SendMode::$mode)
            };
            make_request(function, message, comm, request, prepare)
        }
    )*};
}

sends! {
    rsend_init "MPI_Rsend_init" Ready;
    send_init "MPI_Send_init" Standard;
    ssend_init "MPI_Ssend_init" Synchronous;
}

/// `MPI_Recv_init`.
pub fn recv_init(
    function: Function,
    message: Message,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> c_int {
    let prepare = |process: &Process, comm: &Arc<Entry>, buffer| {
        process.recv_init(&comm.core, buffer, origin(source), pattern(tag))
    };
    make_request(function, message, comm, request, prepare)
}

/// `MPI_Start`.
pub fn start(function: Function, request: InOut<MPI_Request>) -> c_int {
    on_object(function, |process| {
        let handle = request.named("request")?.get();
        let Some(key) = decode(handle) else { return Err(bad_handle("request", handle).into()) };
        process.start(key).map_err(|error| misused(process, "request", handle, error))
    })
}

/// `MPI_Startall`: all, or none if one cannot be started.
pub fn startall(function: Function, _count: c_int, array_of_requests: ArrayInOut<MPI_Request>) -> c_int {
    on_object(function, |process| {
        let requests = Requests::new(array_of_requests, "count")?;
        let started = process.start_all(&requests);
        started.map_err(|(index, error)| requests.misused(process, index, error))
    })
}
