//! Buffers that a program attaches for buffered sends.
//!
//! A buffered send keeps its message in memory of the library, so an attached buffer is only remembered, and
//! given back when it is detached. MPI-5.0: Point-to-Point Communication, Buffer Allocation and Usage.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use oxmpi_base::{Error, ErrorClass, Function, Result};

use crate::boundary::IntegerOut;
use crate::failure::{in_process, on_comm};
use crate::generated::types::{MPI_Comm, MPI_Count};
use crate::pointer::Out;

/// A buffer: its address, which is not used, and its size.
#[derive(Clone, Copy)]
struct Attached {
    address: usize,
    bytes: MPI_Count,
}

/// By communicator; the one of the whole process at `None`.
static ATTACHED: Mutex<Option<HashMap<Option<usize>, Attached>>> = Mutex::new(None);

fn attached() -> MutexGuard<'static, Option<HashMap<Option<usize>, Attached>>> {
    ATTACHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn attach(owner: Option<usize>, buffer: *mut c_void, bytes: MPI_Count) -> Result<()> {
    if buffer.is_null() && bytes != 0 {
        return Err(Error::new(ErrorClass::Buffer, "buffer is a null pointer"));
    }
    if bytes < 0 {
        return Err(Error::new(ErrorClass::Arg, format!("size is {bytes}")));
    }
    let mut all = attached();
    let all = all.get_or_insert_default();
    if all.contains_key(&owner) {
        return Err(Error::new(ErrorClass::Buffer, "a buffer is attached already"));
    }
    all.insert(owner, Attached { address: buffer.expose_provenance(), bytes });
    Ok(())
}

/// # Safety
/// The pointers are null or valid for writes.
unsafe fn detach(owner: Option<usize>, buffer_addr: *mut c_void, size: IntegerOut) -> Result<()> {
    // SAFETY: the caller's promise: the argument is the address of a pointer.
    let address = unsafe { Out::new("buffer_addr", buffer_addr.cast::<*mut c_void>()) }?;
    size.check("size")?;
    let Some(buffer) = attached().as_mut().and_then(|all| all.remove(&owner)) else {
        return Err(Error::new(ErrorClass::Buffer, "no buffer is attached"));
    };
    address.set(std::ptr::with_exposed_provenance_mut(buffer.address));
    // SAFETY: the caller's promise.
    unsafe { size.write("size", buffer.bytes) }
}

/// `MPI_Buffer_attach`.
pub fn buffer_attach(function: Function, buffer: *mut c_void, size: MPI_Count) -> c_int {
    in_process(function, |_| attach(None, buffer, size))
}

/// `MPI_Buffer_detach`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn buffer_detach(function: Function, buffer_addr: *mut c_void, size: IntegerOut) -> c_int {
    // SAFETY: the caller's promise.
    in_process(function, |_| unsafe { detach(None, buffer_addr, size) })
}

/// `MPI_Buffer_flush`: no message waits in the buffer.
pub fn buffer_flush(function: Function) -> c_int {
    in_process(function, |_| Ok(()))
}

/// `MPI_Comm_attach_buffer`.
pub fn comm_attach_buffer(function: Function, comm: MPI_Comm, buffer: *mut c_void, size: MPI_Count) -> c_int {
    on_comm(function, comm, |_, _| attach(Some(comm.0), buffer, size))
}

/// `MPI_Comm_detach_buffer`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_detach_buffer(
    function: Function,
    comm: MPI_Comm,
    buffer_addr: *mut c_void,
    size: IntegerOut,
) -> c_int {
    // SAFETY: the caller's promise.
    on_comm(function, comm, |_, _| unsafe { detach(Some(comm.0), buffer_addr, size) })
}

/// `MPI_Comm_flush_buffer`: no message waits in the buffer.
pub fn comm_flush_buffer(function: Function, comm: MPI_Comm) -> c_int {
    on_comm(function, comm, |_, _| Ok(()))
}
