//! Sending, receiving and probing.
//!
//! MPI-5.0: Point-to-Point Communication.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::{MessageKey, Process, SendMode};
use oxmpi_datatype::Buffer;

use crate::buffer::{Arguments, PLAIN};
use crate::envelope::{destination, make_request, origin, pattern};
use crate::generated::constants::{MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL};
use crate::generated::types::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Message, MPI_Request, MPI_Status};
use crate::handle::{bad_handle, decode, encode};
use crate::object::comm::Entry;
use crate::object::comm::indirect::{Failure, on_object};
use crate::object::comm::on_comm;
use crate::pointer::{InOut, Out};
use crate::status::StatusOut;

pub use crate::buffered::{
    bsend, buffer_attach, buffer_detach, buffer_flush, buffer_iflush, comm_attach_buffer, comm_detach_buffer,
    comm_flush_buffer, comm_iflush_buffer, ibsend, session_attach_buffer, session_detach_buffer,
    session_flush_buffer, session_iflush_buffer,
};
pub use crate::sendrecv::{isendrecv, isendrecv_replace, sendrecv, sendrecv_replace};

macro_rules! sends {
    ($($blocking:ident $nonblocking:ident $c_name:literal $nonblocking_c_name:literal $mode:ident;)*) => {$(
        #[doc = concat!("`", $c_name, "`.")]
        ///
        /// # Safety
        /// As the standard says of its arguments.
        pub unsafe fn $blocking(
            function: Function,
            buf: *const c_void,
            count: MPI_Count,
            datatype: MPI_Datatype,
            dest: c_int,
            tag: c_int,
            comm: MPI_Comm,
        ) -> c_int {
            on_comm(function, comm, |process, comm| {
                let arguments = Arguments::new(&PLAIN, buf, count, datatype);
                // SAFETY: the caller's promise.
                let buffer = unsafe { arguments.buffer() }?;
                process.send(&comm.core, &buffer, destination(dest), tag, SendMode::$mode)
            })
        }

        #[doc = concat!("`", $nonblocking_c_name, "`.")]
        ///
        /// # Safety
        /// As the standard says of its arguments.
        pub unsafe fn $nonblocking(
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
            let begin = |process: &Process, comm: &Arc<Entry>, buffer| {
                process.isend(&comm.core, buffer, destination(dest), tag, SendMode::$mode)
            };
            // SAFETY: the caller's promise.
            unsafe { make_request(function, arguments, comm, request, begin) }
        }
    )*};
}

sends! {
    rsend irsend "MPI_Rsend" "MPI_Irsend" Ready;
    send isend "MPI_Send" "MPI_Isend" Standard;
    ssend issend "MPI_Ssend" "MPI_Issend" Synchronous;
}

/// `MPI_Recv`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn recv(
    function: Function,
    buf: *mut c_void,
    count: MPI_Count,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        // SAFETY: the caller's promise.
        let buffer = unsafe { Arguments::new(&PLAIN, buf, count, datatype).buffer() }?;
        let received = process.recv(&comm.core, buffer, origin(source), pattern(tag))?;
        // SAFETY: the caller's promise.
        unsafe { StatusOut::new(status) }.set(&received);
        Ok(())
    })
}

/// `MPI_Irecv`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn irecv(
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
    let begin = |process: &Process, comm: &Arc<Entry>, buffer| {
        process.irecv(&comm.core, buffer, origin(source), pattern(tag))
    };
    // SAFETY: the caller's promise.
    unsafe { make_request(function, arguments, comm, request, begin) }
}

/// `MPI_Probe`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn probe(
    function: Function,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let found = process.probe(&comm.core, origin(source), pattern(tag))?;
        // SAFETY: the caller's promise.
        unsafe { StatusOut::new(status) }.set(&found);
        Ok(())
    })
}

/// `MPI_Iprobe`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn iprobe(
    function: Function,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        // SAFETY: the caller's promise.
        let flag = unsafe { Out::new("flag", flag) }?;
        let found = process.iprobe(&comm.core, origin(source), pattern(tag))?;
        flag.set(found.is_some().into());
        if let Some(found) = found {
            // SAFETY: the caller's promise.
            unsafe { StatusOut::new(status) }.set(&found);
        }
        Ok(())
    })
}

/// `MPI_Mprobe`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn mprobe(
    function: Function,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        // SAFETY: the caller's promise.
        let message = unsafe { Out::new("message", message) }?;
        let (found, key) = process.mprobe(&comm.core, origin(source), pattern(tag))?;
        message.set(key.map_or(MPI_MESSAGE_NO_PROC, encode));
        // SAFETY: the caller's promise.
        unsafe { StatusOut::new(status) }.set(&found);
        Ok(())
    })
}

/// `MPI_Improbe`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn improbe(
    function: Function,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    flag: *mut c_int,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        // SAFETY: the caller's promise.
        let flag = unsafe { Out::new("flag", flag) }?;
        // SAFETY: the caller's promise.
        let message = unsafe { Out::new("message", message) }?;
        let found = process.improbe(&comm.core, origin(source), pattern(tag))?;
        flag.set(found.is_some().into());
        if let Some((found, key)) = found {
            message.set(key.map_or(MPI_MESSAGE_NO_PROC, encode));
            // SAFETY: the caller's promise.
            unsafe { StatusOut::new(status) }.set(&found);
        }
        Ok(())
    })
}

/// A message that a matched probe has taken; none if it came from nobody.
fn taken(handle: MPI_Message) -> Result<Option<MessageKey>> {
    if handle == MPI_MESSAGE_NO_PROC {
        return Ok(None);
    }
    decode(handle).map(Some).ok_or_else(|| bad_handle("message", handle))
}

/// Runs the body of a function that receives a taken message, with the last argument, which `output` checks. The
/// handle names no message afterwards.
///
/// # Safety
/// The buffer is as [`Arguments::buffer`] says; `message` is null or valid for reads and writes.
unsafe fn receive_taken<O>(
    function: Function,
    arguments: Arguments,
    message: *mut MPI_Message,
    output: impl FnOnce() -> Result<O>,
    receive: impl FnOnce(&Process, Option<MessageKey>, Buffer, O) -> Result<()>,
) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let buffer = unsafe { arguments.buffer() }?;
        // SAFETY: the caller's promise.
        let message = unsafe { InOut::new("message", message) }?;
        let key = taken(message.get())?;
        let comm = key.and_then(|key| process.message_comm(key));
        if key.is_some() && comm.is_none() {
            return Err(bad_handle("message", message.get()).into());
        }
        let output = output()?;
        message.set(MPI_MESSAGE_NULL);
        receive(process, key, buffer, output).map_err(|error| Failure { error, comm })
    })
}

/// `MPI_Mrecv`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn mrecv(
    function: Function,
    buf: *mut c_void,
    count: MPI_Count,
    datatype: MPI_Datatype,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> c_int {
    let arguments = Arguments::new(&PLAIN, buf, count, datatype);
    // SAFETY: the caller's promise.
    let output = || Ok(unsafe { StatusOut::new(status) });
    let receive = |process: &Process, key, buffer, status: StatusOut| {
        status.set(&process.mrecv(key, buffer)?);
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { receive_taken(function, arguments, message, output, receive) }
}

/// `MPI_Imrecv`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn imrecv(
    function: Function,
    buf: *mut c_void,
    count: MPI_Count,
    datatype: MPI_Datatype,
    message: *mut MPI_Message,
    request: *mut MPI_Request,
) -> c_int {
    let arguments = Arguments::new(&PLAIN, buf, count, datatype);
    // SAFETY: the caller's promise.
    let output = || unsafe { Out::new("request", request) };
    let receive = |process: &Process, key, buffer, request: Out<MPI_Request>| {
        request.set(encode(process.imrecv(key, buffer)?));
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { receive_taken(function, arguments, message, output, receive) }
}
