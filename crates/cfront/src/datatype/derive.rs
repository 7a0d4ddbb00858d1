//! Making datatypes and freeing them; the constructors of repetition.
//!
//! MPI-5.0: Datatypes, Datatype Constructors; Duplicating a Datatype.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_datatype::{Constructor, Datatype};

use crate::argument::{InOut, Out};
use crate::failure::at_any_time;
use crate::generated::constants::MPI_DATATYPE_NULL;
use crate::generated::types::{MPI_Count, MPI_Datatype};
use crate::object::attributes;
use crate::object::datatype::{DERIVED, find};
use crate::process;

/// Makes a handle of what `constructor` makes of the old datatype.
pub(super) fn derive(
    function: Function,
    oldtype: MPI_Datatype,
    newtype: Out<MPI_Datatype>,
    constructor: impl FnOnce(&Datatype) -> Result<Datatype>,
) -> c_int {
    create(function, newtype, || constructor(&*find("oldtype", oldtype)?))
}

/// Makes a handle of what `constructor` makes.
pub(super) fn create(
    function: Function,
    newtype: Out<MPI_Datatype>,
    constructor: impl FnOnce() -> Result<Datatype>,
) -> c_int {
    at_any_time(function, || {
        process::current()?;
        let mut datatype = constructor()?;
        let newtype = newtype.named("newtype")?;
        if function.name().ends_with("_c") {
            datatype = datatype.with_large_counts();
        }
        newtype.set(DERIVED.insert(datatype));
        Ok(())
    })
}

/// The number of items of an array argument.
///
/// # Errors
/// `Count` if it is negative.
pub(super) fn items(count: MPI_Count) -> Result<MPI_Count> {
    if count < 0 { Err(Error::new(ErrorClass::Count, format!("count is {count}"))) } else { Ok(count) }
}

/// `MPI_Type_contiguous` and its large-count form.
pub fn type_contiguous(
    function: Function,
    count: MPI_Count,
    oldtype: MPI_Datatype,
    newtype: Out<MPI_Datatype>,
) -> c_int {
    derive(function, oldtype, newtype, |old| Datatype::contiguous(count, old))
}

/// `MPI_Type_vector` and its large-count form.
pub fn type_vector(
    function: Function,
    count: MPI_Count,
    blocklength: MPI_Count,
    stride: MPI_Count,
    oldtype: MPI_Datatype,
    newtype: Out<MPI_Datatype>,
) -> c_int {
    let constructor = |old: &Datatype| Datatype::vector(count, blocklength, stride, old);
    derive(function, oldtype, newtype, constructor)
}

/// `MPI_Type_create_hvector`, its large-count form and `MPI_Type_hvector`.
pub fn type_create_hvector(
    function: Function,
    count: MPI_Count,
    blocklength: MPI_Count,
    stride: MPI_Count,
    oldtype: MPI_Datatype,
    newtype: Out<MPI_Datatype>,
) -> c_int {
    let constructor = |old: &Datatype| Datatype::hvector(count, blocklength, stride, old);
    derive(function, oldtype, newtype, constructor)
}

/// `MPI_Type_create_resized` and its large-count form.
pub fn type_create_resized(
    function: Function,
    oldtype: MPI_Datatype,
    lb: MPI_Count,
    extent: MPI_Count,
    newtype: Out<MPI_Datatype>,
) -> c_int {
    derive(function, oldtype, newtype, |old| Datatype::resized(lb, extent, old))
}

/// `MPI_Type_dup`.
pub fn type_dup(function: Function, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>) -> c_int {
    at_any_time(function, || {
        process::current()?;
        let old = find("oldtype", oldtype)?;
        let newtype = newtype.named("newtype")?;
        let duplicate = DERIVED.insert(old.dup());
        if let Err(error) = attributes::copy_all(oldtype, duplicate) {
            DERIVED.remove(duplicate);
            return Err(error);
        }
        newtype.set(duplicate);
        Ok(())
    })
}

/// `MPI_Type_free`: communication under way, and datatypes made of this one, keep it.
pub fn type_free(function: Function, datatype: InOut<MPI_Datatype>) -> c_int {
    at_any_time(function, || {
        process::current()?;
        let datatype = datatype.named("datatype")?;
        check_free(&*find("datatype", datatype.get())?)?;
        attributes::delete_all(datatype.get())?;
        DERIVED.remove(datatype.get());
        datatype.set(MPI_DATATYPE_NULL);
        Ok(())
    })
}

fn check_free(datatype: &Datatype) -> Result<()> {
    let name = match datatype.constructor() {
        Constructor::Basic(basic) => basic.name(),
        Constructor::F90Complex { .. } => "a COMPLEX of Fortran",
        Constructor::F90Integer { .. } => "an INTEGER of Fortran",
        Constructor::F90Real { .. } => "a REAL of Fortran",
        Constructor::ValueIndex { .. } => "a pair of value and index",
        _ => return Ok(()),
    };
    let text = format!("datatype is {name}, which is predefined and cannot be freed");
    Err(Error::new(ErrorClass::Type, text))
}
