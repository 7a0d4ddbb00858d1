//! Fortran's numbers by their precision and range.
//!
//! MPI-5.0: Language Bindings, Support for Size-Specific MPI Datatypes.

use std::ffi::c_int;

use oxmpi_base::{Function, Result};
use oxmpi_datatype::Datatype;

use super::unnamed;
use crate::argument::Out;
use crate::failure::at_any_time;
use crate::generated::constants::MPI_UNDEFINED;
use crate::generated::types::MPI_Datatype;
use crate::process;

fn create(
    function: Function,
    newtype: Out<MPI_Datatype>,
    constructor: impl FnOnce() -> Result<Datatype>,
) -> c_int {
    at_any_time(function, || {
        process::current()?;
        let datatype = constructor()?;
        newtype.named("newtype")?.set(unnamed::handle_of(datatype));
        Ok(())
    })
}

fn defined(value: c_int) -> Option<i64> {
    (value != MPI_UNDEFINED).then_some(value.into())
}

/// `MPI_Type_create_f90_complex`.
pub fn type_create_f90_complex(function: Function, p: c_int, r: c_int, newtype: Out<MPI_Datatype>) -> c_int {
    create(function, newtype, || Datatype::f90_complex(defined(p), defined(r)))
}

/// `MPI_Type_create_f90_integer`.
pub fn type_create_f90_integer(function: Function, r: c_int, newtype: Out<MPI_Datatype>) -> c_int {
    create(function, newtype, || Datatype::f90_integer(r.into()))
}

/// `MPI_Type_create_f90_real`.
pub fn type_create_f90_real(function: Function, p: c_int, r: c_int, newtype: Out<MPI_Datatype>) -> c_int {
    create(function, newtype, || Datatype::f90_real(defined(p), defined(r)))
}
