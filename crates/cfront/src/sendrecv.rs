//! Send-receives, which deadlock no ring of processes.
//!
//! MPI-5.0: Point-to-Point Communication, Send-Receive.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use oxmpi_base::Function;
use oxmpi_core::Process;

use crate::buffer::{Arguments, PLAIN, RECV, SEND};
use crate::envelope::{destination, make_request, origin, pattern};
use crate::generated::types::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Request, MPI_Status};
use crate::handle::encode;
use crate::object::comm::Entry;
use crate::object::comm::on_comm;
use crate::pointer::Out;
use crate::status::StatusOut;

/// `MPI_Sendrecv`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn sendrecv(
    function: Function,
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    dest: c_int,
    sendtag: c_int,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let arguments = Arguments::new(&SEND, sendbuf, sendcount, sendtype);
        // SAFETY: the caller's promise.
        let send = unsafe { arguments.buffer() }?;
        let arguments = Arguments::new(&RECV, recvbuf, recvcount, recvtype);
        // SAFETY: the caller's promise.
        let recv = unsafe { arguments.buffer() }?;
        let (to, from) = (destination(dest), origin(source));
        let received = process.sendrecv(&comm.core, &send, to, sendtag, recv, from, pattern(recvtag))?;
        // SAFETY: the caller's promise.
        unsafe { StatusOut::new(status) }.set(&received);
        Ok(())
    })
}

/// `MPI_Sendrecv_replace`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn sendrecv_replace(
    function: Function,
    buf: *mut c_void,
    count: MPI_Count,
    datatype: MPI_Datatype,
    dest: c_int,
    sendtag: c_int,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        // SAFETY: the caller's promise.
        let buffer = unsafe { Arguments::new(&PLAIN, buf, count, datatype).buffer() }?;
        let (to, from) = (destination(dest), origin(source));
        let received = process.sendrecv_replace(&comm.core, buffer, to, sendtag, from, pattern(recvtag))?;
        // SAFETY: the caller's promise.
        unsafe { StatusOut::new(status) }.set(&received);
        Ok(())
    })
}

/// `MPI_Isendrecv`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn isendrecv(
    function: Function,
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    dest: c_int,
    sendtag: c_int,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let arguments = Arguments::new(&SEND, sendbuf, sendcount, sendtype);
        // SAFETY: the caller's promise.
        let send = unsafe { arguments.buffer() }?;
        let arguments = Arguments::new(&RECV, recvbuf, recvcount, recvtype);
        // SAFETY: the caller's promise.
        let recv = unsafe { arguments.buffer() }?;
        // SAFETY: the caller's promise.
        let request = unsafe { Out::new("request", request) }?;
        let (to, from) = (destination(dest), origin(source));
        request.set(encode(process.isendrecv(
            &comm.core,
            &send,
            to,
            sendtag,
            recv,
            from,
            pattern(recvtag),
        )?));
        Ok(())
    })
}

/// `MPI_Isendrecv_replace`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn isendrecv_replace(
    function: Function,
    buf: *mut c_void,
    count: MPI_Count,
    datatype: MPI_Datatype,
    dest: c_int,
    sendtag: c_int,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> c_int {
    let arguments = Arguments::new(&PLAIN, buf, count, datatype);
    let begin = |process: &Process, comm: &Arc<Entry>, buffer| {
        let (to, from) = (destination(dest), origin(source));
        process.isendrecv_replace(&comm.core, buffer, to, sendtag, from, pattern(recvtag))
    };
    // SAFETY: the caller's promise.
    unsafe { make_request(function, arguments, comm, request, begin) }
}
