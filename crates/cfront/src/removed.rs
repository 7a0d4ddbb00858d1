//! Functions that MPI-3.0 removed, and that have no successor with the same arguments.

use std::ffi::c_int;

use oxmpi_base::Function;
use oxmpi_datatype::Datatype;

use crate::failure::at_any_time;
use crate::generated::types::{MPI_Aint, MPI_Datatype};
use crate::object::datatype;
use crate::pointer::Out;

/// `MPI_Type_extent`.
///
/// # Safety
/// As the standard said of its arguments.
pub unsafe fn type_extent(function: Function, datatype: MPI_Datatype, extent: *mut MPI_Aint) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { bound(function, datatype, ("extent", extent), Datatype::extent) }
}

/// `MPI_Type_lb`.
///
/// # Safety
/// As the standard said of its arguments.
pub unsafe fn type_lb(function: Function, datatype: MPI_Datatype, displacement: *mut MPI_Aint) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { bound(function, datatype, ("displacement", displacement), Datatype::lower_bound) }
}

/// `MPI_Type_ub`.
///
/// # Safety
/// As the standard said of its arguments.
pub unsafe fn type_ub(function: Function, datatype: MPI_Datatype, displacement: *mut MPI_Aint) -> c_int {
    let upper = |datatype: &Datatype| datatype.lower_bound() + datatype.extent();
    // SAFETY: the caller's promise.
    unsafe { bound(function, datatype, ("displacement", displacement), upper) }
}

/// # Safety
/// The output is null or valid for writes.
unsafe fn bound(
    function: Function,
    datatype: MPI_Datatype,
    (argument, output): (&str, *mut MPI_Aint),
    which: impl FnOnce(&Datatype) -> i64,
) -> c_int {
    at_any_time(function, || {
        let datatype = datatype::find("datatype", datatype)?;
        // SAFETY: the caller's promise.
        unsafe { Out::new(argument, output) }?.set(which(&datatype) as MPI_Aint);
        Ok(())
    })
}
