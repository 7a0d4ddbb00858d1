//! The constructors of blocks at places of their own.
//!
//! MPI-5.0: Datatypes, Datatype Constructors.

use std::ffi::c_int;

use oxmpi_base::{Function, Result};
use oxmpi_datatype::Datatype;

use super::derive::{create, derive, items};
use crate::argument::{ArrayIn, Integers, Out};
use crate::generated::types::{MPI_Count, MPI_Datatype};
use crate::handle::bad_handle;
use crate::object::datatype::find;

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
    fn read(&self) -> Result<(Vec<i64>, Vec<i64>)> {
        items(self.count)?;
        let lengths = self.lengths.named("array_of_blocklengths")?;
        let displacements = self.displacements.named("array_of_displacements")?;
        Ok((lengths.to_vec(), displacements.to_vec()))
    }
}

/// The displacements of `count` blocks of one length.
fn displacements(count: MPI_Count, array: Integers) -> Result<Vec<i64>> {
    items(count)?;
    Ok(array.named("array_of_displacements")?.to_vec())
}

/// The datatype at an index of `array_of_types`.
fn find_in_array((index, handle): (usize, MPI_Datatype)) -> Result<Datatype> {
    let found = find("array_of_types", handle);
    let found = found.map_err(|_| bad_handle(&format!("array_of_types[{index}]"), handle))?;
    Ok(Datatype::clone(&found))
}

/// `MPI_Type_indexed` and its large-count form.
pub fn type_indexed(
    function: Function,
    count: MPI_Count,
    array_of_blocklengths: Integers,
    array_of_displacements: Integers,
    oldtype: MPI_Datatype,
    newtype: Out<MPI_Datatype>,
) -> c_int {
    let blocks = Blocks { count, lengths: array_of_blocklengths, displacements: array_of_displacements };
    let constructor = |old: &Datatype| {
        let (lengths, displacements) = blocks.read()?;
        Datatype::indexed(lengths, displacements, old)
    };
    derive(function, oldtype, newtype, constructor)
}

/// `MPI_Type_create_hindexed` and its large-count form.
pub fn type_create_hindexed(
    function: Function,
    count: MPI_Count,
    array_of_blocklengths: Integers,
    array_of_displacements: Integers,
    oldtype: MPI_Datatype,
    newtype: Out<MPI_Datatype>,
) -> c_int {
    let blocks = Blocks { count, lengths: array_of_blocklengths, displacements: array_of_displacements };
    let constructor = |old: &Datatype| {
        let (lengths, displacements) = blocks.read()?;
        Datatype::hindexed(lengths, displacements, old)
    };
    derive(function, oldtype, newtype, constructor)
}

/// `MPI_Type_create_indexed_block` and its large-count form.
pub fn type_create_indexed_block(
    function: Function,
    count: MPI_Count,
    blocklength: MPI_Count,
    array_of_displacements: Integers,
    oldtype: MPI_Datatype,
    newtype: Out<MPI_Datatype>,
) -> c_int {
    let constructor = |old: &Datatype| {
        let displacements = displacements(count, array_of_displacements)?;
        Datatype::indexed_block(blocklength, displacements, old)
    };
    derive(function, oldtype, newtype, constructor)
}

/// `MPI_Type_create_hindexed_block` and its large-count form.
pub fn type_create_hindexed_block(
    function: Function,
    count: MPI_Count,
    blocklength: MPI_Count,
    array_of_displacements: Integers,
    oldtype: MPI_Datatype,
    newtype: Out<MPI_Datatype>,
) -> c_int {
    let constructor = |old: &Datatype| {
        let displacements = displacements(count, array_of_displacements)?;
        Datatype::hindexed_block(blocklength, displacements, old)
    };
    derive(function, oldtype, newtype, constructor)
}

/// `MPI_Type_create_struct` and its large-count form.
pub fn type_create_struct(
    function: Function,
    count: MPI_Count,
    array_of_blocklengths: Integers,
    array_of_displacements: Integers,
    array_of_types: ArrayIn<MPI_Datatype>,
    newtype: Out<MPI_Datatype>,
) -> c_int {
    let blocks = Blocks { count, lengths: array_of_blocklengths, displacements: array_of_displacements };
    let constructor = || {
        let (lengths, displacements) = blocks.read()?;
        let types = array_of_types.named("array_of_types")?;
        let types = types.iter().enumerate().map(find_in_array).collect::<Result<_>>()?;
        Datatype::structure(lengths, displacements, types)
    };
    create(function, newtype, constructor)
}
