//! Datatypes by their handles: predefined, and made by constructors.
//!
//! MPI-5.0: Datatypes, Derived Datatypes.

use std::sync::OnceLock;

use oxmpi_base::{BasicType, Result};
use oxmpi_datatype::Datatype;

use crate::generated::types::MPI_Datatype;
use crate::handle::{self, Handle as _, Sharing, Table, bad_handle};

/// Those that constructors have made.
pub static DERIVED: Table<MPI_Datatype, Datatype> = Table::new(Sharing::ByThreadLevel);

/// In the order of [`BasicType::ALL`]; each is made when it is used first, as most never are.
static PREDEFINED: [OnceLock<Datatype>; BasicType::ALL.len()] = [const { OnceLock::new() }; _];

/// A datatype that was looked up.
pub type Found = handle::Found<Datatype>;

#[inline]
fn predefined(basic: BasicType) -> &'static Datatype {
    PREDEFINED[basic as usize].get_or_init(|| Datatype::basic(basic))
}

/// The datatype that `handle` names.
///
/// # Errors
/// `Type`, naming `argument`, if it names none.
#[inline]
pub fn find(argument: &str, handle: MPI_Datatype) -> Result<Found> {
    if let Some(basic) = u32::try_from(handle.word()).ok().and_then(BasicType::from_abi) {
        return Ok(Found::Predefined(predefined(basic)));
    }
    match DERIVED.get(handle) {
        Some(datatype) => Ok(Found::Dynamic(datatype)),
        None => Err(bad_handle(argument, handle)),
    }
}

/// Whether a handle names a predefined datatype.
#[inline]
pub fn is_predefined(handle: MPI_Datatype) -> bool {
    u32::try_from(handle.word()).ok().and_then(BasicType::from_abi).is_some()
}

/// What `use_datatype` makes of the datatype that `handle` names, without looking up others meanwhile.
///
/// # Errors
/// As [`find`], and those of `use_datatype`.
#[inline]
pub fn with<R>(
    argument: &str,
    handle: MPI_Datatype,
    use_datatype: impl FnOnce(&Datatype) -> Result<R>,
) -> Result<R> {
    if let Some(basic) = u32::try_from(handle.word()).ok().and_then(BasicType::from_abi) {
        return use_datatype(predefined(basic));
    }
    DERIVED.with(handle, use_datatype).unwrap_or_else(|| Err(bad_handle(argument, handle)))
}

/// Calls back into the program with a handle of `datatype`: with `handle`, or with one that lasts as long as
/// the call if the program has freed that one meanwhile.
pub fn lend(handle: MPI_Datatype, datatype: &Datatype, call: impl FnOnce(MPI_Datatype)) {
    if find("datatype", handle).is_ok() {
        return call(handle);
    }
    let lent = DERIVED.insert(datatype.clone());
    call(lent);
    DERIVED.remove(lent);
}
