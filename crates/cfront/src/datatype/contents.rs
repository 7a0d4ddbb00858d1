//! How a datatype was made, told to the program.
//!
//! Arguments come back as they were given: those of a large-count constructor as large counts, the others as
//! integers and addresses. MPI-5.0: Datatypes, Decoding a Datatype.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_datatype::Constructor;

use super::{DERIVED, Found, derived, find};
use crate::failure::at_any_time;
use crate::generated::constants::{
    MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_DUP, MPI_COMBINER_HVECTOR, MPI_COMBINER_NAMED,
    MPI_COMBINER_RESIZED, MPI_COMBINER_VECTOR,
};
use crate::generated::types::{MPI_Aint, MPI_Count, MPI_Datatype};
use crate::handle::Handle as _;
use crate::pointer::{Array, Out};

/// The arguments of a constructor, without its datatype.
#[derive(Default)]
struct Contents {
    combiner: c_int,
    integers: Vec<i64>,
    addresses: Vec<i64>,
    large_counts: Vec<i64>,
    /// The old datatype, if there is one.
    old: Option<Found>,
}

impl Contents {
    fn of(found: &Found) -> Self {
        let Found::Derived(derived) = found else {
            return Self { combiner: MPI_COMBINER_NAMED, ..Self::default() };
        };
        let (combiner, integers, addresses): (_, &[i64], &[i64]) = match *derived.datatype.constructor() {
            Constructor::Basic(_) => (MPI_COMBINER_NAMED, &[], &[]),
            Constructor::Contiguous { count, .. } => (MPI_COMBINER_CONTIGUOUS, &[count], &[]),
            Constructor::Dup { .. } => (MPI_COMBINER_DUP, &[], &[]),
            Constructor::Hvector { count, blocklength, stride_bytes, .. } => {
                (MPI_COMBINER_HVECTOR, &[count, blocklength], &[stride_bytes])
            }
            Constructor::Resized { lower_bound, extent, .. } => {
                (MPI_COMBINER_RESIZED, &[], &[lower_bound, extent])
            }
            Constructor::Vector { count, blocklength, stride, .. } => {
                (MPI_COMBINER_VECTOR, &[count, blocklength, stride], &[])
            }
            ref other => unreachable!("no function makes {other:?}"),
        };
        let old = Some(derived.old.clone());
        if derived.large {
            let large_counts = [integers, addresses].concat();
            return Self { combiner, large_counts, old, ..Self::default() };
        }
        let (integers, addresses) = (integers.to_vec(), addresses.to_vec());
        Self { combiner, integers, addresses, large_counts: Vec::new(), old }
    }

    /// Refuses what the functions without large counts cannot tell.
    fn small(self) -> Result<Self> {
        if self.large_counts.is_empty() {
            return Ok(self);
        }
        let text =
            "datatype was made with large counts: only the large-count form of this function decodes it";
        Err(Error::new(ErrorClass::Type, text))
    }

    /// The handle of the old datatype; of a derived one a new handle, which the program frees.
    fn old_handle(&self) -> Option<MPI_Datatype> {
        match self.old.as_ref()? {
            Found::Basic(datatype) => {
                let basic = datatype.basic_type().expect("a predefined datatype is basic");
                Some(MPI_Datatype::from_word(basic.abi() as usize))
            }
            Found::Derived(old) => Some(DERIVED.insert(old.clone())),
        }
    }
}

/// `MPI_Type_get_envelope`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_get_envelope(
    function: Function,
    datatype: MPI_Datatype,
    num_integers: *mut c_int,
    num_addresses: *mut c_int,
    num_datatypes: *mut c_int,
    combiner: *mut c_int,
) -> c_int {
    at_any_time(function, || {
        let contents = Contents::of(&find("datatype", datatype)?).small()?;
        let outputs = [
            ("num_integers", num_integers, contents.integers.len() as c_int),
            ("num_addresses", num_addresses, contents.addresses.len() as c_int),
            ("num_datatypes", num_datatypes, contents.old.iter().len() as c_int),
            ("combiner", combiner, contents.combiner),
        ];
        for (argument, output, value) in outputs {
            // SAFETY: the caller's promise.
            unsafe { Out::new(argument, output) }?.set(value);
        }
        Ok(())
    })
}

/// `MPI_Type_get_envelope_c`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_get_envelope_c(
    function: Function,
    datatype: MPI_Datatype,
    num_integers: *mut MPI_Count,
    num_addresses: *mut MPI_Count,
    num_large_counts: *mut MPI_Count,
    num_datatypes: *mut MPI_Count,
    combiner: *mut c_int,
) -> c_int {
    at_any_time(function, || {
        let contents = Contents::of(&find("datatype", datatype)?);
        // SAFETY: the caller's promise.
        let combiner = unsafe { Out::new("combiner", combiner) }?;
        let outputs = [
            ("num_integers", num_integers, contents.integers.len()),
            ("num_addresses", num_addresses, contents.addresses.len()),
            ("num_large_counts", num_large_counts, contents.large_counts.len()),
            ("num_datatypes", num_datatypes, contents.old.iter().len()),
        ];
        for (argument, output, count) in outputs {
            // SAFETY: the caller's promise.
            unsafe { Out::new(argument, output) }?.set(count as MPI_Count);
        }
        combiner.set(contents.combiner);
        Ok(())
    })
}

/// `MPI_Type_get_contents`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_get_contents(
    function: Function,
    datatype: MPI_Datatype,
    max_integers: c_int,
    max_addresses: c_int,
    max_datatypes: c_int,
    array_of_integers: *mut c_int,
    array_of_addresses: *mut MPI_Aint,
    array_of_datatypes: *mut MPI_Datatype,
) -> c_int {
    at_any_time(function, || {
        let contents =
            Contents::of(&Found::Derived(derived("datatype", datatype, "has no contents")?)).small()?;
        // SAFETY: the caller's promise.
        let integers = unsafe { Array::new("array_of_integers", array_of_integers, max_integers) }?;
        // SAFETY: the caller's promise.
        let addresses = unsafe { Array::new("array_of_addresses", array_of_addresses, max_addresses) }?;
        // SAFETY: the caller's promise.
        let datatypes = unsafe { Array::new("array_of_datatypes", array_of_datatypes, max_datatypes) }?;
        fits("max_integers", &integers, contents.integers.len())?;
        fits("max_addresses", &addresses, contents.addresses.len())?;
        fits("max_datatypes", &datatypes, contents.old.iter().len())?;
        fill(&integers, contents.integers.iter().map(|value| *value as c_int));
        fill(&addresses, contents.addresses.iter().map(|value| *value as MPI_Aint));
        fill(&datatypes, contents.old_handle().into_iter());
        Ok(())
    })
}

/// `MPI_Type_get_contents_c`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_get_contents_c(
    function: Function,
    datatype: MPI_Datatype,
    max_integers: MPI_Count,
    max_addresses: MPI_Count,
    max_large_counts: MPI_Count,
    max_datatypes: MPI_Count,
    array_of_integers: *mut c_int,
    array_of_addresses: *mut MPI_Aint,
    array_of_large_counts: *mut MPI_Count,
    array_of_datatypes: *mut MPI_Datatype,
) -> c_int {
    at_any_time(function, || {
        let contents = Contents::of(&Found::Derived(derived("datatype", datatype, "has no contents")?));
        // An array is at most as long as there are values for it, however long the program's is.
        let room = |max: MPI_Count| c_int::try_from(max).unwrap_or(c_int::MAX);
        // SAFETY: the caller's promise.
        let integers = unsafe { Array::new("array_of_integers", array_of_integers, room(max_integers)) }?;
        // SAFETY: the caller's promise.
        let addresses = unsafe { Array::new("array_of_addresses", array_of_addresses, room(max_addresses)) }?;
        let (large, max_large) = (array_of_large_counts, room(max_large_counts));
        // SAFETY: the caller's promise.
        let large_counts = unsafe { Array::new("array_of_large_counts", large, max_large) }?;
        // SAFETY: the caller's promise.
        let datatypes = unsafe { Array::new("array_of_datatypes", array_of_datatypes, room(max_datatypes)) }?;
        fits("max_integers", &integers, contents.integers.len())?;
        fits("max_addresses", &addresses, contents.addresses.len())?;
        fits("max_large_counts", &large_counts, contents.large_counts.len())?;
        fits("max_datatypes", &datatypes, contents.old.iter().len())?;
        fill(&integers, contents.integers.iter().map(|value| *value as c_int));
        fill(&addresses, contents.addresses.iter().map(|value| *value as MPI_Aint));
        fill(&large_counts, contents.large_counts.iter().copied());
        fill(&datatypes, contents.old_handle().into_iter());
        Ok(())
    })
}

fn fits<T: Copy>(argument: &str, array: &Array<T>, needed: usize) -> Result<()> {
    if array.len() >= needed {
        return Ok(());
    }
    let text = format!("{argument} is {}, and the datatype has {needed}", array.len());
    Err(Error::new(ErrorClass::Arg, text))
}

fn fill<T: Copy>(array: &Array<T>, values: impl Iterator<Item = T>) {
    for (index, value) in values.enumerate() {
        array.set(index, value);
    }
}
