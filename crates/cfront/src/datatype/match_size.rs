//! Predefined datatypes by their class and size.
//!
//! MPI-5.0: Language Bindings, Support for Size-Specific MPI Datatypes.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function};

use crate::argument::Out;
use crate::failure::at_any_time;
use crate::generated::constants::{
    MPI_COMPLEX4, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4,
    MPI_INTEGER8, MPI_INTEGER16, MPI_REAL2, MPI_REAL4, MPI_REAL8, MPI_REAL16, MPI_TYPECLASS_COMPLEX,
    MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL,
};
use crate::generated::types::MPI_Datatype;

/// `MPI_Type_match_size`.
pub fn type_match_size(
    function: Function,
    typeclass: c_int,
    size: c_int,
    datatype: Out<MPI_Datatype>,
) -> c_int {
    at_any_time(function, || {
        let found = match (typeclass, size) {
            (MPI_TYPECLASS_INTEGER, 1) => MPI_INTEGER1,
            (MPI_TYPECLASS_INTEGER, 2) => MPI_INTEGER2,
            (MPI_TYPECLASS_INTEGER, 4) => MPI_INTEGER4,
            (MPI_TYPECLASS_INTEGER, 8) => MPI_INTEGER8,
            (MPI_TYPECLASS_INTEGER, 16) => MPI_INTEGER16,
            (MPI_TYPECLASS_REAL, 2) => MPI_REAL2,
            (MPI_TYPECLASS_REAL, 4) => MPI_REAL4,
            (MPI_TYPECLASS_REAL, 8) => MPI_REAL8,
            (MPI_TYPECLASS_REAL, 16) => MPI_REAL16,
            (MPI_TYPECLASS_COMPLEX, 4) => MPI_COMPLEX4,
            (MPI_TYPECLASS_COMPLEX, 8) => MPI_COMPLEX8,
            (MPI_TYPECLASS_COMPLEX, 16) => MPI_COMPLEX16,
            (MPI_TYPECLASS_COMPLEX, 32) => MPI_COMPLEX32,
            (MPI_TYPECLASS_INTEGER | MPI_TYPECLASS_REAL | MPI_TYPECLASS_COMPLEX, _) => {
                return Err(Error::new(ErrorClass::Arg, format!("no type of the class has size {size}")));
            }
            _ => return Err(Error::new(ErrorClass::Arg, format!("typeclass is {typeclass}, which is none"))),
        };
        datatype.named("datatype")?.set(found);
        Ok(())
    })
}
