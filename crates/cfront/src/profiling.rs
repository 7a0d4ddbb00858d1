//! Control of profiling, which is up to tools.
//!
//! MPI-5.0: Tool Support, Profiling Interface.

use std::ffi::c_int;

use oxmpi_base::Function;

use crate::generated::constants::MPI_SUCCESS;

/// `MPI_Pcontrol`: without a tool it does nothing.
pub fn pcontrol(_function: Function, _level: c_int) -> c_int {
    MPI_SUCCESS
}
