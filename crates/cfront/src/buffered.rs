//! Buffered sends, and the buffers that a program attaches to communicators, sessions and the process.
//!
//! MPI-5.0: Point-to-Point Communication, Communication Modes; Buffer Allocation and Usage.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{AttachedBuffer, BUFFERED_OVERHEAD_BYTES, BufferOwner, Communicator, Process};

use crate::argument::{IntegerOut, Out};
use crate::buffer::{Message, PLAIN, check_memory};
use crate::envelope::{destination, make_request};
use crate::failure::in_process;
use crate::generated::constants::{MPI_BSEND_OVERHEAD, MPI_BUFFER_AUTOMATIC};
use crate::generated::types::{MPI_Comm, MPI_Count, MPI_Request, MPI_Session};
use crate::handle::encode;
use crate::object::comm::Entry;
use crate::object::comm::on_comm;
use crate::object::session::{number, on_session, owner_of};
use crate::process::Origin;

const _: () = assert!(BUFFERED_OVERHEAD_BYTES <= MPI_BSEND_OVERHEAD as u64);

/// `MPI_Bsend`.
pub fn bsend(function: Function, message: Message, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int {
    on_comm(function, comm, |process, comm| {
        let buffer = message.named(&PLAIN).buffer()?;
        process.bsend(&comm.core, session_of(comm), &buffer, destination(dest), tag)
    })
}

/// `MPI_Ibsend`.
pub fn ibsend(
    function: Function,
    message: Message,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> c_int {
    let begin = |process: &Process, comm: &Arc<Entry>, buffer| {
        process.ibsend(&comm.core, session_of(comm), &buffer, destination(dest), tag)
    };
    make_request(function, message, comm, request, begin)
}

/// `MPI_Bsend_init`.
pub fn bsend_init(
    function: Function,
    message: Message,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> c_int {
    let prepare = |process: &Process, comm: &Arc<Entry>, buffer| {
        process.bsend_init(&comm.core, session_of(comm), buffer, destination(dest), tag)
    };
    make_request(function, message, comm, request, prepare)
}

/// The session that a communicator comes from, as the core knows it.
fn session_of(comm: &Entry) -> Option<u64> {
    match comm.origin {
        Origin::Session(session) => Some(number(session)),
        Origin::Rust | Origin::World => None,
    }
}

fn attach(process: &Process, owner: BufferOwner, buffer: *mut c_void, size: MPI_Count) -> Result<()> {
    let bytes = if buffer == MPI_BUFFER_AUTOMATIC { None } else { Some(checked_size(buffer, size)?) };
    process.attach_buffer(owner, AttachedBuffer { address: buffer.expose_provenance(), bytes })
}

fn checked_size(buffer: *mut c_void, size: MPI_Count) -> Result<u64> {
    check_memory("buffer", buffer, size)?;
    u64::try_from(size).map_err(|_| Error::new(ErrorClass::Arg, format!("size is {size}")))
}

fn detach(
    process: &Process,
    owner: BufferOwner,
    buffer_addr: Out<*mut c_void>,
    size: IntegerOut,
) -> Result<()> {
    let address = buffer_addr.named("buffer_addr")?;
    let size = size.named("size")?;
    let buffer = process.detach_buffer(owner)?;
    address.set(ptr::with_exposed_provenance_mut(buffer.address));
    let bytes = buffer.bytes.map_or(0, |bytes| MPI_Count::try_from(bytes).expect("it was one"));
    size.set(bytes);
    Ok(())
}

fn iflush(
    process: &Process,
    comm: &Arc<Communicator>,
    owner: BufferOwner,
    request: Out<MPI_Request>,
) -> Result<()> {
    let request = request.named("request")?;
    request.set(encode(process.iflush_buffer(comm, owner)?));
    Ok(())
}

/// `MPI_Buffer_attach`.
pub fn buffer_attach(function: Function, buffer: *mut c_void, size: MPI_Count) -> c_int {
    in_process(function, |process| attach(process, BufferOwner::Process, buffer, size))
}

/// `MPI_Buffer_detach`.
pub fn buffer_detach(function: Function, buffer_addr: Out<*mut c_void>, size: IntegerOut) -> c_int {
    in_process(function, |process| detach(process, BufferOwner::Process, buffer_addr, size))
}

/// `MPI_Buffer_flush`.
pub fn buffer_flush(function: Function) -> c_int {
    in_process(function, |process| {
        process.flush_buffer(BufferOwner::Process);
        Ok(())
    })
}

/// `MPI_Buffer_iflush`.
pub fn buffer_iflush(function: Function, request: Out<MPI_Request>) -> c_int {
    in_process(function, |process| iflush(process, process.myself(), BufferOwner::Process, request))
}

/// `MPI_Comm_attach_buffer`.
pub fn comm_attach_buffer(function: Function, comm: MPI_Comm, buffer: *mut c_void, size: MPI_Count) -> c_int {
    on_comm(function, comm, |process, comm| attach(process, comm.core.buffer_owner(), buffer, size))
}

/// `MPI_Comm_detach_buffer`.
pub fn comm_detach_buffer(
    function: Function,
    comm: MPI_Comm,
    buffer_addr: Out<*mut c_void>,
    size: IntegerOut,
) -> c_int {
    on_comm(function, comm, |process, comm| detach(process, comm.core.buffer_owner(), buffer_addr, size))
}

/// `MPI_Comm_flush_buffer`.
pub fn comm_flush_buffer(function: Function, comm: MPI_Comm) -> c_int {
    on_comm(function, comm, |process, comm| {
        process.flush_buffer(comm.core.buffer_owner());
        Ok(())
    })
}

/// `MPI_Comm_iflush_buffer`.
pub fn comm_iflush_buffer(function: Function, comm: MPI_Comm, request: Out<MPI_Request>) -> c_int {
    on_comm(function, comm, |process, comm| iflush(process, &comm.core, comm.core.buffer_owner(), request))
}

/// `MPI_Session_attach_buffer`.
pub fn session_attach_buffer(
    function: Function,
    session: MPI_Session,
    buffer: *mut c_void,
    size: MPI_Count,
) -> c_int {
    on_session(function, session, |process, _| attach(process, owner_of(session), buffer, size))
}

/// `MPI_Session_detach_buffer`.
pub fn session_detach_buffer(
    function: Function,
    session: MPI_Session,
    buffer_addr: Out<*mut c_void>,
    size: IntegerOut,
) -> c_int {
    on_session(function, session, |process, _| detach(process, owner_of(session), buffer_addr, size))
}

/// `MPI_Session_flush_buffer`.
pub fn session_flush_buffer(function: Function, session: MPI_Session) -> c_int {
    on_session(function, session, |process, _| {
        process.flush_buffer(owner_of(session));
        Ok(())
    })
}

/// `MPI_Session_iflush_buffer`.
pub fn session_iflush_buffer(function: Function, session: MPI_Session, request: Out<MPI_Request>) -> c_int {
    on_session(function, session, |process, _| iflush(process, process.myself(), owner_of(session), request))
}
