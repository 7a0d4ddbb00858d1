//! Processes that were started by others. There are none yet.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The Dynamic Process Model.

use std::ffi::c_int;

use oxmpi_base::Function;

use crate::failure::in_process;
use crate::generated::constants::MPI_COMM_NULL;
use crate::generated::types::MPI_Comm;
use crate::pointer::Out;

pub use crate::comm::comm_disconnect;

/// `MPI_Comm_get_parent`: no program is started by another.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_get_parent(function: Function, parent: *mut MPI_Comm) -> c_int {
    in_process(function, |_| {
        // SAFETY: the caller's promise.
        unsafe { Out::new("parent", parent) }?.set(MPI_COMM_NULL);
        Ok(())
    })
}
