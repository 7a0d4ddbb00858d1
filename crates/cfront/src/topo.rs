//! Process topologies. No communicator has one yet.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes.

use std::ffi::c_int;

use oxmpi_base::Function;

use crate::failure::on_comm;
use crate::generated::constants::MPI_UNDEFINED;
use crate::generated::types::MPI_Comm;
use crate::pointer::Out;

/// `MPI_Topo_test`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn topo_test(function: Function, comm: MPI_Comm, status: *mut c_int) -> c_int {
    on_comm(function, comm, |_, _| {
        // SAFETY: the caller's promise.
        unsafe { Out::new("status", status) }?.set(MPI_UNDEFINED);
        Ok(())
    })
}
