//! What an export hands to a body besides C's own types.

use std::ffi::c_int;

use crate::generated::types::{MPI_Comm, MPI_File, MPI_Session, MPI_Win};

/// An array of integers that the caller of `X` has as `int`, and the caller of `X_c` as 64-bit integers.
#[derive(Clone, Copy, Debug)]
pub enum Integers {
    /// From `X`.
    Int(*const c_int),
    /// From `X_c`: `MPI_Count` or `MPI_Aint`.
    Large(*const i64),
}

/// Where a body writes an integer that is an `int` in `X` and has 64 bits in `X_c`.
#[derive(Clone, Copy, Debug)]
pub enum IntegerOut {
    /// From `X`.
    Int(*mut c_int),
    /// From `X_c`: `MPI_Count` or `MPI_Aint`.
    Large(*mut i64),
}

/// The object whose error handler hears of an error.
///
/// MPI-5.0: MPI Environmental Management, Error Handling.
#[derive(Clone, Copy, Debug)]
pub enum ErrorVia {
    /// A communicator's.
    Comm(MPI_Comm),
    /// That of errors that belong to no object.
    Default,
    /// A file's; of the null file, the default handler for files.
    File(MPI_File),
    /// None: the tools interface only returns codes.
    None,
    /// A session's.
    Session(MPI_Session),
    /// A window's.
    Win(MPI_Win),
}
