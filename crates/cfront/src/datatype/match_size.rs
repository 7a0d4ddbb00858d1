//! Predefined datatypes by what they are.
//!
//! MPI-5.0: Language Bindings, Support for Size-Specific MPI Datatypes; Datatypes, Value-Index Datatypes.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function};

use super::find;
use crate::failure::at_any_time;
use crate::generated::constants::{
    MPI_2DOUBLE_PRECISION, MPI_2INT, MPI_2INTEGER, MPI_2REAL, MPI_COMPLEX4, MPI_COMPLEX8, MPI_COMPLEX16,
    MPI_COMPLEX32, MPI_DATATYPE_NULL, MPI_DOUBLE, MPI_DOUBLE_INT, MPI_DOUBLE_PRECISION, MPI_FLOAT,
    MPI_FLOAT_INT, MPI_INT, MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8,
    MPI_INTEGER16, MPI_LONG, MPI_LONG_DOUBLE, MPI_LONG_DOUBLE_INT, MPI_LONG_INT, MPI_REAL, MPI_REAL2,
    MPI_REAL4, MPI_REAL8, MPI_REAL16, MPI_SHORT, MPI_SHORT_INT, MPI_TYPECLASS_COMPLEX, MPI_TYPECLASS_INTEGER,
    MPI_TYPECLASS_REAL,
};
use crate::generated::types::MPI_Datatype;
use crate::pointer::Out;

/// Value, index, and the pair of both.
const PAIRS: [[MPI_Datatype; 3]; 9] = [
    [MPI_FLOAT, MPI_INT, MPI_FLOAT_INT],
    [MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT],
    [MPI_LONG, MPI_INT, MPI_LONG_INT],
    [MPI_INT, MPI_INT, MPI_2INT],
    [MPI_SHORT, MPI_INT, MPI_SHORT_INT],
    [MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT],
    [MPI_REAL, MPI_REAL, MPI_2REAL],
    [MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION],
    [MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER],
];

/// `MPI_Type_match_size`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_match_size(
    function: Function,
    typeclass: c_int,
    size: c_int,
    datatype: *mut MPI_Datatype,
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
        // SAFETY: the caller's promise.
        unsafe { Out::new("datatype", datatype) }?.set(found);
        Ok(())
    })
}

/// `MPI_Type_get_value_index`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_get_value_index(
    function: Function,
    value_type: MPI_Datatype,
    index_type: MPI_Datatype,
    pair_type: *mut MPI_Datatype,
) -> c_int {
    at_any_time(function, || {
        find("value_type", value_type)?;
        find("index_type", index_type)?;
        let found = PAIRS.iter().find(|[value, index, _]| (*value, *index) == (value_type, index_type));
        // SAFETY: the caller's promise.
        let pair_type = unsafe { Out::new("pair_type", pair_type) }?;
        pair_type.set(found.map_or(MPI_DATATYPE_NULL, |[.., pair]| *pair));
        Ok(())
    })
}
