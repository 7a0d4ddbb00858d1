//! Fortran's numbers by their precision and range.
//!
//! What is made is predefined, though it has no name: committed, never freed, and the same handle each time. It is
//! looked for among all datatypes of the program; programs ask once for each of their kinds.
//! MPI-5.0: Language Bindings, Support for Size-Specific MPI Datatypes.

use std::ffi::c_int;

use oxmpi_base::{Function, Result};
use oxmpi_datatype::{Constructor, Datatype};

use super::DERIVED;
use crate::failure::at_any_time;
use crate::generated::constants::MPI_UNDEFINED;
use crate::generated::types::MPI_Datatype;
use crate::pointer::Out;
use crate::process;

/// # Safety
/// `newtype` is null or valid for writes.
unsafe fn create(
    function: Function,
    newtype: *mut MPI_Datatype,
    constructor: impl FnOnce() -> Result<Datatype>,
) -> c_int {
    at_any_time(function, || {
        process::current()?;
        let datatype = constructor()?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("newtype", newtype) }?.set(handle_of(datatype));
        Ok(())
    })
}

/// The handle that was made for the same arguments, or a new one.
fn handle_of(datatype: Datatype) -> MPI_Datatype {
    existing(&datatype).unwrap_or_else(|| DERIVED.insert(datatype))
}

/// The handle that was made for the arguments of `datatype`; `None` if it is no number of Fortran.
pub(super) fn existing(datatype: &Datatype) -> Option<MPI_Datatype> {
    let wanted = Some(arguments(datatype)?);
    DERIVED.search(|datatype| arguments(datatype) == wanted)
}

/// The combiner's number among those of Fortran, precision and range; `None` of other datatypes.
fn arguments(datatype: &Datatype) -> Option<(u8, Option<i64>, Option<i64>)> {
    match *datatype.constructor() {
        Constructor::F90Complex { precision, range, .. } => Some((0, precision, range)),
        Constructor::F90Integer { range, .. } => Some((1, None, Some(range))),
        Constructor::F90Real { precision, range, .. } => Some((2, precision, range)),
        _ => None,
    }
}

fn defined(value: c_int) -> Option<i64> {
    (value != MPI_UNDEFINED).then_some(value.into())
}

/// `MPI_Type_create_f90_complex`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_create_f90_complex(
    function: Function,
    p: c_int,
    r: c_int,
    newtype: *mut MPI_Datatype,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { create(function, newtype, || Datatype::f90_complex(defined(p), defined(r))) }
}

/// `MPI_Type_create_f90_integer`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_create_f90_integer(function: Function, r: c_int, newtype: *mut MPI_Datatype) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { create(function, newtype, || Datatype::f90_integer(r.into())) }
}

/// `MPI_Type_create_f90_real`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_create_f90_real(
    function: Function,
    p: c_int,
    r: c_int,
    newtype: *mut MPI_Datatype,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { create(function, newtype, || Datatype::f90_real(defined(p), defined(r))) }
}
