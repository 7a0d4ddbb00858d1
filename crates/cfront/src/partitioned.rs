//! Partitioned communication.
//!
//! Marking a partition, and asking for one that is here, is not shown to the launcher as a call: it does not wait, and
//! threads that show something at the same time take a line of memory from each other.
//! MPI-5.0: Partitioned Point-to-Point Communication.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Process, RequestKey};

use crate::argument::{ArrayIn, Out};
use crate::buffer::Partitions;
use crate::envelope::{destination, origin, pattern};
use crate::generated::constants::{MPI_REQUEST_NULL, MPI_SUCCESS};
use crate::generated::types::{MPI_Comm, MPI_Info, MPI_Request};
use crate::handle::{bad_handle, decode, encode};
use crate::object::comm::indirect::{Failure, on_object};
use crate::object::comm::on_comm;
use crate::object::info;
use crate::process;
use crate::requests::misused;

/// `MPI_Psend_init`.
pub fn psend_init(
    function: Function,
    message: Partitions,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    hints: MPI_Info,
    request: Out<MPI_Request>,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let (buffer, partitions) = message.buffer()?;
        info::hints("info", hints)?;
        let request = request.named("request")?;
        request.set(encode(process.psend_init(&comm.core, buffer, partitions, destination(dest), tag)?));
        Ok(())
    })
}

/// `MPI_Precv_init`.
pub fn precv_init(
    function: Function,
    message: Partitions,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    hints: MPI_Info,
    request: Out<MPI_Request>,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let (buffer, partitions) = message.buffer()?;
        info::hints("info", hints)?;
        let request = request.named("request")?;
        let made = process.precv_init(&comm.core, buffer, partitions, origin(source), pattern(tag))?;
        request.set(encode(made));
        Ok(())
    })
}

/// `MPI_Pready`.
#[inline]
pub fn pready(function: Function, partition: c_int, request: MPI_Request) -> c_int {
    quietly(function, request, |process, key| process.pready(key, partition))
}

/// `MPI_Pready_range`.
pub fn pready_range(
    function: Function,
    partition_low: c_int,
    partition_high: c_int,
    request: MPI_Request,
) -> c_int {
    quietly(function, request, |process, key| process.pready_range(key, partition_low, partition_high))
}

/// `MPI_Pready_list`.
pub fn pready_list(
    function: Function,
    _length: c_int,
    array_of_partitions: ArrayIn<c_int>,
    request: MPI_Request,
) -> c_int {
    quietly(function, request, |process, key| {
        let list = array_of_partitions.counted("array_of_partitions", "length")?;
        let list: Vec<c_int> = (0..list.len()).map(|index| list.get(index)).collect();
        process.pready_list(key, &list)
    })
}

/// `MPI_Parrived`.
#[inline]
pub fn parrived(function: Function, request: MPI_Request, partition: c_int, flag: Out<c_int>) -> c_int {
    if request == MPI_REQUEST_NULL {
        return on_object(function, |_| {
            flag.named("flag")?.set(1);
            Ok(())
        });
    }
    quietly(function, request, |process, key| {
        let has_arrived = process.parrived(key, partition)?;
        flag.named("flag")?.set(has_arrived.into());
        Ok(())
    })
}

/// Runs the body of a function on a request, which is shown to the launcher only if it fails.
#[inline]
fn quietly(
    function: Function,
    request: MPI_Request,
    body: impl FnOnce(&Process, RequestKey) -> Result<()>,
) -> c_int {
    let outcome = match (process::current(), decode(request)) {
        (Ok(process), Some(key)) => body(process, key),
        (_, None) => Err(bad_handle("request", request)),
        (Err(error), _) => Err(error),
    };
    match outcome {
        Ok(()) => MPI_SUCCESS,
        Err(error) => failed(function, request, error),
    }
}

#[cold]
fn failed(function: Function, request: MPI_Request, error: Error) -> c_int {
    on_object(function, |process| {
        let Some(key) = decode(request) else { return Err(error.into()) };
        if error.class() == ErrorClass::Request {
            return Err(misused(process, "request", request, error));
        }
        Err(Failure::on(process.request_comm(key), error))
    })
}
