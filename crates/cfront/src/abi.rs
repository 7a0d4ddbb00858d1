//! The ABI asked about itself.
//!
//! MPI-5.0: Application Binary Interface.

use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

use oxmpi_base::{BasicType, Error, ErrorClass, Function, Result};
use oxmpi_core::info::Info;

use crate::argument::{ArrayIn, ArrayOut, Out};
use crate::failure::at_any_time;
use crate::generated::constants::{MPI_ABI_SUBVERSION, MPI_ABI_VERSION, MPI_INFO_NULL};
use crate::generated::types::{MPI_Aint, MPI_Count, MPI_Info, MPI_Offset};
use crate::object::info;

/// What the program has said of Fortran's types, if it has.
static FORTRAN_INFO: Mutex<Option<Info>> = Mutex::new(None);
/// What Fortran's `.TRUE.` and `.FALSE.` are, if the program has said it.
static BOOLEANS: Mutex<Option<Booleans>> = Mutex::new(None);

struct Booleans {
    yes: Vec<u8>,
    no: Vec<u8>,
}

/// Fortran's types whose sizes a program may state, and what they are here.
const FORTRAN_SIZES: [(&str, BasicType); 4] = [
    ("mpi_logical_size", BasicType::Logical),
    ("mpi_integer_size", BasicType::Integer),
    ("mpi_real_size", BasicType::Real),
    ("mpi_double_precision_size", BasicType::DoublePrecision),
];

/// Keeps what the program says the first time.
fn set_once<T>(kept: &Mutex<Option<T>>, said: T, what: &str) -> Result<()> {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.is_some() {
        return Err(Error::new(ErrorClass::Abi, format!("{what} have been described already")));
    }
    *kept = Some(said);
    Ok(())
}

/// `MPI_Abi_get_version`.
pub fn abi_get_version(function: Function, abi_major: Out<c_int>, abi_minor: Out<c_int>) -> c_int {
    at_any_time(function, || {
        let major = abi_major.named("abi_major")?;
        let minor = abi_minor.named("abi_minor")?;
        major.set(MPI_ABI_VERSION);
        minor.set(MPI_ABI_SUBVERSION);
        Ok(())
    })
}

/// `MPI_Abi_get_info`: the sizes of the integers that C leaves open.
pub fn abi_get_info(function: Function, info: Out<MPI_Info>) -> c_int {
    at_any_time(function, || {
        let out = info.named("info")?;
        let mut sizes = Info::default();
        sizes.set("mpi_aint_size", size_of::<MPI_Aint>().to_string());
        sizes.set("mpi_count_size", size_of::<MPI_Count>().to_string());
        sizes.set("mpi_offset_size", size_of::<MPI_Offset>().to_string());
        out.set(info::insert(sizes));
        Ok(())
    })
}

/// `MPI_Abi_set_fortran_info`: sizes other than the usual ones are not supported. What is said once stays.
pub fn abi_set_fortran_info(function: Function, info: MPI_Info) -> c_int {
    at_any_time(function, || {
        let mut stated = info::hints("info", info)?;
        for (key, basic) in FORTRAN_SIZES {
            let here = basic.size().to_string();
            if let Some(other) = stated.get(key).filter(|size| size.trim() != here) {
                let text = format!("{key} is stated to be {other}; only {here} is supported");
                return Err(Error::new(ErrorClass::Abi, text));
            }
            stated.set(key, here);
        }
        set_once(&FORTRAN_INFO, stated, "Fortran's types")
    })
}

/// `MPI_Abi_get_fortran_info`: `MPI_INFO_NULL` unless the program has stated the sizes.
pub fn abi_get_fortran_info(function: Function, info: Out<MPI_Info>) -> c_int {
    at_any_time(function, || {
        let out = info.named("info")?;
        let stated = FORTRAN_INFO.lock().unwrap_or_else(PoisonError::into_inner).clone();
        out.set(stated.map_or(MPI_INFO_NULL, info::insert));
        Ok(())
    })
}

/// `MPI_Abi_set_fortran_booleans`.
pub fn abi_set_fortran_booleans(
    function: Function,
    logical_size: c_int,
    logical_true: ArrayIn<u8>,
    logical_false: ArrayIn<u8>,
) -> c_int {
    at_any_time(function, || {
        check_logical_size(logical_size)?;
        let yes = logical_true.named("logical_true")?;
        let no = logical_false.named("logical_false")?;
        let booleans = Booleans { yes: yes.iter().collect(), no: no.iter().collect() };
        set_once(&BOOLEANS, booleans, "Fortran's booleans")
    })
}

/// `MPI_Abi_get_fortran_booleans`.
pub fn abi_get_fortran_booleans(
    function: Function,
    logical_size: c_int,
    logical_true: ArrayOut<u8>,
    logical_false: ArrayOut<u8>,
    is_set: Out<c_int>,
) -> c_int {
    at_any_time(function, || {
        check_logical_size(logical_size)?;
        let yes = logical_true.named("logical_true")?;
        let no = logical_false.named("logical_false")?;
        let is_set = is_set.named("is_set")?;
        let booleans = BOOLEANS.lock().unwrap_or_else(PoisonError::into_inner);
        let known = booleans.as_ref().filter(|booleans| booleans.yes.len() == yes.len());
        if let Some(booleans) = known {
            for (index, (&one, &zero)) in booleans.yes.iter().zip(&booleans.no).enumerate() {
                yes.set(index, one);
                no.set(index, zero);
            }
        }
        is_set.set(known.is_some().into());
        Ok(())
    })
}

fn check_logical_size(size: c_int) -> Result<()> {
    if ![1, 2, 4, 8, 16].contains(&size) {
        return Err(Error::new(ErrorClass::Arg, format!("logical_size is {size}, which no LOGICAL has")));
    }
    Ok(())
}
