//! Sending, receiving and probing.
//!
//! MPI-5.0: Point-to-Point Communication.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::{MessageKey, Process, SendMode};
use oxmpi_datatype::Buffer;

use crate::argument::{InOut, Out, Place};
use crate::buffer::{Message, PLAIN};
use crate::envelope::{destination, make_request, origin, pattern};
use crate::generated::constants::{MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL, MPI_SUCCESS};
use crate::generated::types::{MPI_Comm, MPI_Message, MPI_Request};
use crate::handle::{Held, bad_handle, decode, encode};
use crate::object::comm::Entry;
use crate::object::comm::indirect::{Failure, on_object};
use crate::object::comm::on_comm;
use crate::plain::Plain;
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
        #[inline(always)] // so that the message is never in memory
        pub fn $blocking(
            function: Function,
            message: Message,
            dest: c_int,
            tag: c_int,
            comm: MPI_Comm,
        ) -> c_int {
            let mut held = Held::NOTHING;
            if SendMode::$mode != SendMode::Synchronous
                && let Some(plain) = Plain::new(function, message, comm, &mut held)
                && plain.process.send_at_once(plain.comm, plain.region, dest, tag)
            {
                return MPI_SUCCESS;
            }
            drop(held);
            send_in(SendMode::$mode, function, message, dest, tag, comm)
        }

        #[doc = concat!("`", $nonblocking_c_name, "`.")]
        #[inline(always)] // as above
        pub fn $nonblocking(
            function: Function,
            message: Message,
            dest: c_int,
            tag: c_int,
            comm: MPI_Comm,
            request: Out<MPI_Request>,
        ) -> c_int {
            let mut held = Held::NOTHING;
            if SendMode::$mode != SendMode::Synchronous
                && let Some(into) = request.place()
                && let Some(plain) = Plain::new(function, message, comm, &mut held)
                && let Some(key) = plain.process.isend_at_once(plain.comm, plain.region, dest, tag)
            {
                into.set(encode(key));
                return MPI_SUCCESS;
            }
            drop(held);
            isend_in(SendMode::$mode, function, message, dest, tag, comm, request)
        }
    )*};
}

sends! {
    rsend irsend "MPI_Rsend" "MPI_Irsend" Ready;
    send isend "MPI_Send" "MPI_Isend" Standard;
    ssend issend "MPI_Ssend" "MPI_Issend" Synchronous;
}

fn send_in(
    mode: SendMode,
    function: Function,
    message: Message,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let buffer = message.named(&PLAIN).buffer()?;
        process.send(&comm.core, &buffer, destination(dest), tag, mode)
    })
}

fn isend_in(
    mode: SendMode,
    function: Function,
    message: Message,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> c_int {
    let begin = |process: &Process, comm: &Arc<Entry>, buffer| {
        process.isend(&comm.core, buffer, destination(dest), tag, mode)
    };
    make_request(function, message, comm, request, begin)
}

/// `MPI_Recv`.
pub fn recv(
    function: Function,
    message: Message,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    status: StatusOut,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let buffer = message.named(&PLAIN).buffer()?;
        let received = process.recv(&comm.core, buffer, origin(source), pattern(tag))?;
        status.set_outcome(received)
    })
}

/// `MPI_Irecv`.
#[inline(always)] // as the sends
pub fn irecv(
    function: Function,
    message: Message,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> c_int {
    let mut held = Held::NOTHING;
    if let Some(into) = request.place()
        && let Some(plain) = Plain::new(function, message, comm, &mut held)
        && let Some(key) = plain.process.irecv_at_once(plain.comm, plain.region, source, pattern(tag))
    {
        into.set(encode(key));
        return MPI_SUCCESS;
    }
    drop(held);
    irecv_generally(function, message, source, tag, comm, request)
}

#[inline(never)]
fn irecv_generally(
    function: Function,
    message: Message,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> c_int {
    let begin = |process: &Process, comm: &Arc<Entry>, buffer| {
        process.irecv(&comm.core, buffer, origin(source), pattern(tag))
    };
    make_request(function, message, comm, request, begin)
}

/// `MPI_Probe`.
pub fn probe(function: Function, source: c_int, tag: c_int, comm: MPI_Comm, status: StatusOut) -> c_int {
    on_comm(function, comm, |process, comm| {
        let found = process.probe(&comm.core, origin(source), pattern(tag))?;
        status.set(&found);
        Ok(())
    })
}

/// `MPI_Iprobe`.
pub fn iprobe(
    function: Function,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    flag: Out<c_int>,
    status: StatusOut,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let flag = flag.named("flag")?;
        let found = process.iprobe(&comm.core, origin(source), pattern(tag))?;
        flag.set(found.is_some().into());
        if let Some(found) = found {
            status.set(&found);
        }
        Ok(())
    })
}

/// `MPI_Mprobe`.
pub fn mprobe(
    function: Function,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    message: Out<MPI_Message>,
    status: StatusOut,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let message = message.named("message")?;
        let (found, key) = process.mprobe(&comm.core, origin(source), pattern(tag))?;
        message.set(key.map_or(MPI_MESSAGE_NO_PROC, encode));
        status.set(&found);
        Ok(())
    })
}

/// `MPI_Improbe`.
pub fn improbe(
    function: Function,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    flag: Out<c_int>,
    message: Out<MPI_Message>,
    status: StatusOut,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let flag = flag.named("flag")?;
        let message = message.named("message")?;
        let found = process.improbe(&comm.core, origin(source), pattern(tag))?;
        flag.set(found.is_some().into());
        if let Some((found, key)) = found {
            message.set(key.map_or(MPI_MESSAGE_NO_PROC, encode));
            status.set(&found);
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
/// handle names no message afterwards, unless there was no memory to receive it.
fn receive_taken<O>(
    function: Function,
    buf: Message,
    message: InOut<MPI_Message>,
    output: impl FnOnce() -> Result<O>,
    receive: impl FnOnce(&Process, Option<MessageKey>, Buffer, O) -> Result<()>,
) -> c_int {
    on_object(function, |process| {
        let message = message.named("message")?;
        let key = taken(message.get())?;
        let comm = key.and_then(|key| process.message_comm(key));
        if key.is_some() && comm.is_none() {
            return Err(bad_handle("message", message.get()).into());
        }
        let failed = |error| Failure::on(comm.clone(), error);
        let buffer = buf.named(&PLAIN).buffer().map_err(failed)?;
        let output = output().map_err(failed)?;
        let received = receive(process, key, buffer, output);
        let is_left = received.is_err() && key.is_some_and(|key| process.message_comm(key).is_some());
        if !is_left {
            message.set(MPI_MESSAGE_NULL);
        }
        received.map_err(failed)
    })
}

/// `MPI_Mrecv`.
pub fn mrecv(function: Function, buf: Message, message: InOut<MPI_Message>, status: StatusOut) -> c_int {
    let output = || Ok(status);
    let receive =
        |process: &Process, key, buffer, status: StatusOut| status.set_outcome(process.mrecv(key, buffer)?);
    receive_taken(function, buf, message, output, receive)
}

/// `MPI_Imrecv`.
pub fn imrecv(
    function: Function,
    buf: Message,
    message: InOut<MPI_Message>,
    request: Out<MPI_Request>,
) -> c_int {
    let output = || request.named("request");
    let receive = |process: &Process, key, buffer, request: Place<MPI_Request>| {
        request.set(encode(process.imrecv(key, buffer)?));
        Ok(())
    };
    receive_taken(function, buf, message, output, receive)
}
