//! C's types and constants in the ABI of `narrow`: some constants have other values.
#![allow(missing_docs, reason = "documented by the standard")]
#![allow(non_camel_case_types, non_snake_case, reason = "C's names")]

#[allow(dead_code, reason = "some are defined anew below")]
#[path = "../generated/constants.rs"]
mod standard;
#[path = "../generated/types.rs"]
pub mod types;

/// Those of the standard ABI, but for those that are defined here.
pub mod constants {
    use std::ffi::c_int;

    pub use super::standard::*;
    use super::types::{MPI_Comm, MPI_Request};

    pub const MPI_ANY_SOURCE: c_int = -2;
    pub const MPI_ANY_TAG: c_int = -1;
    pub const MPI_COMM_NULL: MPI_Comm = MPI_Comm(0x400);
    pub const MPI_COMM_SELF: MPI_Comm = MPI_Comm(0x441);
    pub const MPI_COMM_WORLD: MPI_Comm = MPI_Comm(0x440);
    pub const MPI_PROC_NULL: c_int = -1;
    pub const MPI_REQUEST_NULL: MPI_Request = MPI_Request(0x2c0);
    pub const MPI_ROOT: c_int = -3;
}
