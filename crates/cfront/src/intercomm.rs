//! Questions about inter-communicators. There are none yet: every communicator has one group.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Inter-Communication.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function};

use crate::failure::on_comm;
use crate::generated::types::{MPI_Comm, MPI_Group};
use crate::pointer::Out;

/// `MPI_Comm_test_inter`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_test_inter(function: Function, comm: MPI_Comm, flag: *mut c_int) -> c_int {
    on_comm(function, comm, |_, comm| {
        // SAFETY: the caller's promise.
        unsafe { Out::new("flag", flag) }?.set(comm.core.is_inter().into());
        Ok(())
    })
}

/// `MPI_Comm_remote_size`.
pub fn comm_remote_size(function: Function, comm: MPI_Comm, _size: *mut c_int) -> c_int {
    on_comm(function, comm, |_, _| Err(intra()))
}

/// `MPI_Comm_remote_group`.
pub fn comm_remote_group(function: Function, comm: MPI_Comm, _group: *mut MPI_Group) -> c_int {
    on_comm(function, comm, |_, _| Err(intra()))
}

#[cold]
fn intra() -> Error {
    Error::new(ErrorClass::Comm, "comm is an intra-communicator, which has no remote group")
}
