//! The constructors of blocks at places of their own.
//!
//! MPI-5.0: Datatypes, Datatype Constructors.

use std::ffi::c_int;

use oxmpi_base::{Function, Result};
use oxmpi_datatype::Datatype;

use super::derive::{create, derive, items};
use crate::boundary::Integers;
use crate::generated::types::{MPI_Count, MPI_Datatype};
use crate::handle::bad_handle;
use crate::object::datatype::find;
use crate::pointer::Array;

/// The arrays that describe blocks of different lengths.
struct Blocks {
    count: MPI_Count,
    lengths: Integers,
    displacements: Integers,
}

impl Blocks {
    /// Lengths and displacements.
    ///
    /// # Errors
    /// `Count` if there are less than none; `Arg` if an array is null but should have items.
    ///
    /// # Safety
    /// Arrays that are not null have `count` items.
    unsafe fn read(&self) -> Result<(Vec<i64>, Vec<i64>)> {
        let count = items(self.count)?;
        // SAFETY: the caller's promise.
        let lengths = unsafe { self.lengths.array("array_of_blocklengths", count) }?;
        // SAFETY: the caller's promise.
        let displacements = unsafe { self.displacements.array("array_of_displacements", count) }?;
        Ok((lengths.to_vec(), displacements.to_vec()))
    }
}

/// The displacements of `count` blocks of one length.
///
/// # Safety
/// An array that is not null has `count` items.
unsafe fn displacements(count: MPI_Count, array: Integers) -> Result<Vec<i64>> {
    // SAFETY: the caller's promise.
    Ok(unsafe { array.array("array_of_displacements", items(count)?) }?.to_vec())
}

/// The datatype at an index of `array_of_types`.
fn find_in_array((index, handle): (usize, MPI_Datatype)) -> Result<Datatype> {
    let found = find("array_of_types", handle);
    let found = found.map_err(|_| bad_handle(&format!("array_of_types[{index}]"), handle))?;
    Ok(Datatype::clone(&found))
}

/// `MPI_Type_indexed` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_indexed(
    function: Function,
    count: MPI_Count,
    array_of_blocklengths: Integers,
    array_of_displacements: Integers,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> c_int {
    let blocks = Blocks { count, lengths: array_of_blocklengths, displacements: array_of_displacements };
    let constructor = |old: &Datatype| {
        // SAFETY: the caller's promise.
        let (lengths, displacements) = unsafe { blocks.read() }?;
        Datatype::indexed(lengths, displacements, old)
    };
    // SAFETY: the caller's promise.
    unsafe { derive(function, oldtype, newtype, constructor) }
}

/// `MPI_Type_create_hindexed` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_create_hindexed(
    function: Function,
    count: MPI_Count,
    array_of_blocklengths: Integers,
    array_of_displacements: Integers,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> c_int {
    let blocks = Blocks { count, lengths: array_of_blocklengths, displacements: array_of_displacements };
    let constructor = |old: &Datatype| {
        // SAFETY: the caller's promise.
        let (lengths, displacements) = unsafe { blocks.read() }?;
        Datatype::hindexed(lengths, displacements, old)
    };
    // SAFETY: the caller's promise.
    unsafe { derive(function, oldtype, newtype, constructor) }
}

/// `MPI_Type_create_indexed_block` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_create_indexed_block(
    function: Function,
    count: MPI_Count,
    blocklength: MPI_Count,
    array_of_displacements: Integers,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> c_int {
    let constructor = |old: &Datatype| {
        // SAFETY: the caller's promise.
        let displacements = unsafe { displacements(count, array_of_displacements) }?;
        Datatype::indexed_block(blocklength, displacements, old)
    };
    // SAFETY: the caller's promise.
    unsafe { derive(function, oldtype, newtype, constructor) }
}

/// `MPI_Type_create_hindexed_block` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_create_hindexed_block(
    function: Function,
    count: MPI_Count,
    blocklength: MPI_Count,
    array_of_displacements: Integers,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> c_int {
    let constructor = |old: &Datatype| {
        // SAFETY: the caller's promise.
        let displacements = unsafe { displacements(count, array_of_displacements) }?;
        Datatype::hindexed_block(blocklength, displacements, old)
    };
    // SAFETY: the caller's promise.
    unsafe { derive(function, oldtype, newtype, constructor) }
}

/// `MPI_Type_create_struct` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_create_struct(
    function: Function,
    count: MPI_Count,
    array_of_blocklengths: Integers,
    array_of_displacements: Integers,
    array_of_types: *const MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> c_int {
    let blocks = Blocks { count, lengths: array_of_blocklengths, displacements: array_of_displacements };
    let constructor = || {
        // SAFETY: the caller's promise.
        let (lengths, displacements) = unsafe { blocks.read() }?;
        // SAFETY: the caller's promise; nothing is written.
        let types = unsafe { Array::new("array_of_types", array_of_types.cast_mut(), count) }?;
        let types = types.iter().enumerate().map(find_in_array).collect::<Result<_>>()?;
        Datatype::structure(lengths, displacements, types)
    };
    // SAFETY: the caller's promise.
    unsafe { create(function, newtype, constructor) }
}
