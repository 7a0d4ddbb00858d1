//! Send-receives, which deadlock no ring of processes.
//!
//! MPI-5.0: Point-to-Point Communication, Send-Receive.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::Function;
use oxmpi_core::Process;

use crate::argument::Out;
use crate::buffer::{Message, PLAIN, RECV, SEND};
use crate::envelope::{destination, make_request, origin, pattern};
use crate::generated::types::{MPI_Comm, MPI_Request};
use crate::handle::encode;
use crate::object::comm::Entry;
use crate::object::comm::on_comm;
use crate::status::StatusOut;

/// `MPI_Sendrecv`.
pub fn sendrecv(
    function: Function,
    send: Message,
    dest: c_int,
    sendtag: c_int,
    recv: Message,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    status: StatusOut,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let send = send.named(&SEND).buffer()?;
        let recv = recv.named(&RECV).buffer()?;
        let (to, from) = (destination(dest), origin(source));
        let received = process.sendrecv(&comm.core, &send, to, sendtag, recv, from, pattern(recvtag))?;
        status.set_outcome(received)
    })
}

/// `MPI_Sendrecv_replace`.
pub fn sendrecv_replace(
    function: Function,
    message: Message,
    dest: c_int,
    sendtag: c_int,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    status: StatusOut,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let buffer = message.named(&PLAIN).buffer()?;
        let (to, from) = (destination(dest), origin(source));
        let received = process.sendrecv_replace(&comm.core, buffer, to, sendtag, from, pattern(recvtag))?;
        status.set_outcome(received)
    })
}

/// `MPI_Isendrecv`.
pub fn isendrecv(
    function: Function,
    send: Message,
    dest: c_int,
    sendtag: c_int,
    recv: Message,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let send = send.named(&SEND).buffer()?;
        let recv = recv.named(&RECV).buffer()?;
        let request = request.named("request")?;
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
pub fn isendrecv_replace(
    function: Function,
    message: Message,
    dest: c_int,
    sendtag: c_int,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> c_int {
    let begin = |process: &Process, comm: &Arc<Entry>, buffer| {
        let (to, from) = (destination(dest), origin(source));
        process.isendrecv_replace(&comm.core, buffer, to, sendtag, from, pattern(recvtag))
    };
    make_request(function, message, comm, request, begin)
}
