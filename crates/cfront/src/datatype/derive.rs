//! The constructors.
//!
//! MPI-5.0: Datatypes, Datatype Constructors; Duplicating a Datatype.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_datatype::Datatype;

use super::{DERIVED, Derived, Found, derived, find};
use crate::failure::at_any_time;
use crate::generated::constants::MPI_DATATYPE_NULL;
use crate::generated::types::{MPI_Count, MPI_Datatype};
use crate::pointer::{InOut, Out};
use crate::{attr, process};

/// Makes a handle of what `constructor` makes of the old datatype.
///
/// # Safety
/// `newtype` is null or valid for writes.
unsafe fn derive(
    function: Function,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
    constructor: impl FnOnce(&Datatype) -> Result<Datatype>,
) -> c_int {
    at_any_time(function, || {
        process::current()?;
        let old = find("oldtype", oldtype)?;
        let datatype = constructor(&old)?;
        // SAFETY: the caller's promise.
        let newtype = unsafe { Out::new("newtype", newtype) }?;
        newtype.set(insert(datatype, is_large(function), old));
        Ok(())
    })
}

fn insert(datatype: Datatype, large: bool, old: Found) -> MPI_Datatype {
    DERIVED.insert(Arc::new(Derived { datatype, large, old }))
}

fn is_large(function: Function) -> bool {
    function.name().ends_with("_c")
}

/// `MPI_Type_contiguous` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_contiguous(
    function: Function,
    count: MPI_Count,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { derive(function, oldtype, newtype, |old| Datatype::contiguous(count, old)) }
}

/// `MPI_Type_vector` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_vector(
    function: Function,
    count: MPI_Count,
    blocklength: MPI_Count,
    stride: MPI_Count,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> c_int {
    let constructor = |old: &Datatype| Datatype::vector(count, blocklength, stride, old);
    // SAFETY: the caller's promise.
    unsafe { derive(function, oldtype, newtype, constructor) }
}

/// `MPI_Type_create_hvector`, its large-count form and `MPI_Type_hvector`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_create_hvector(
    function: Function,
    count: MPI_Count,
    blocklength: MPI_Count,
    stride: MPI_Count,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> c_int {
    let constructor = |old: &Datatype| Datatype::hvector(count, blocklength, stride, old);
    // SAFETY: the caller's promise.
    unsafe { derive(function, oldtype, newtype, constructor) }
}

/// `MPI_Type_create_resized` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_create_resized(
    function: Function,
    oldtype: MPI_Datatype,
    lb: MPI_Count,
    extent: MPI_Count,
    newtype: *mut MPI_Datatype,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { derive(function, oldtype, newtype, |old| Datatype::resized(lb, extent, old)) }
}

/// `MPI_Type_dup`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_dup(function: Function, oldtype: MPI_Datatype, newtype: *mut MPI_Datatype) -> c_int {
    at_any_time(function, || {
        process::current()?;
        let old = find("oldtype", oldtype)?;
        // SAFETY: the caller's promise.
        let newtype = unsafe { Out::new("newtype", newtype) }?;
        let duplicate = insert(old.dup(), false, old);
        if let Err(error) = attr::copy_all(oldtype, duplicate) {
            DERIVED.remove(duplicate);
            return Err(error);
        }
        newtype.set(duplicate);
        Ok(())
    })
}

/// `MPI_Type_free`: communication under way, and datatypes made of this one, keep it.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_free(function: Function, datatype: *mut MPI_Datatype) -> c_int {
    at_any_time(function, || {
        process::current()?;
        // SAFETY: the caller's promise.
        let datatype = unsafe { InOut::new("datatype", datatype) }?;
        derived("datatype", datatype.get(), "cannot be freed")?;
        attr::delete_all(datatype.get())?;
        DERIVED.remove(datatype.get());
        datatype.set(MPI_DATATYPE_NULL);
        Ok(())
    })
}
