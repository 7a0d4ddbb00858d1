//! Predefined datatypes without a name: Fortran's numbers, and pairs of value and index.
//!
//! They are committed, never freed, and have the same handle each time. That is looked for among all datatypes of
//! the program, which asks once for each that it needs.

use std::sync::{Mutex, PoisonError};

use oxmpi_datatype::{Constructor, Datatype};

use crate::generated::types::MPI_Datatype;
use crate::object::datatype::DERIVED;

/// The handle that was made for the same arguments, or a new one.
pub(super) fn handle_of(datatype: Datatype) -> MPI_Datatype {
    /// Held from the search to the insertion, so that two threads get one handle.
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    existing(&datatype).unwrap_or_else(|| DERIVED.insert(datatype))
}

/// The handle that was made for the arguments of `datatype`; `None` if it is none of these datatypes.
pub(super) fn existing(datatype: &Datatype) -> Option<MPI_Datatype> {
    let wanted = Some(arguments(datatype)?);
    DERIVED.search(|datatype| arguments(datatype) == wanted)
}

/// The combiner's number among these, and its two arguments; `None` of other datatypes.
fn arguments(datatype: &Datatype) -> Option<(u8, Option<i64>, Option<i64>)> {
    match *datatype.constructor() {
        Constructor::F90Complex { precision, range, .. } => Some((0, precision, range)),
        Constructor::F90Integer { range, .. } => Some((1, None, Some(range))),
        Constructor::F90Real { precision, range, .. } => Some((2, precision, range)),
        Constructor::ValueIndex { .. } => {
            let [value, index] = datatype.value_and_index()?.map(|basic| Some(basic.abi().into()));
            Some((3, value, index))
        }
        _ => None,
    }
}
