//! Packing data in the representation `external32`, which is the same on all machines.
//!
//! MPI-5.0: Datatypes, Canonical MPI_PACK and MPI_UNPACK; I/O, External Data Representation: "external32".

use std::ffi::{c_char, c_int, c_void};

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_datatype::Datatype;

use super::{INPUT, OUTPUT, Packed};
use crate::boundary::IntegerOut;
use crate::buffer::Arguments;
use crate::failure::in_process;
use crate::generated::types::{MPI_Count, MPI_Datatype};
use crate::object::datatype;
use crate::pointer::string;

/// Refuses what is not the name of the representation.
///
/// # Safety
/// A pointer that is not null is that of a string that ends with a zero byte.
unsafe fn check_datarep(datarep: *const c_char) -> Result<()> {
    // SAFETY: the caller's promise.
    let name = unsafe { string("datarep", datarep) }?;
    if name == "external32" {
        return Ok(());
    }
    let text = format!("datarep is \"{name}\", and \"external32\" is the only one");
    Err(Error::new(ErrorClass::Arg, text))
}

/// Bytes of so many elements.
///
/// # Errors
/// `Count` if they are more than 2^63.
fn bytes_of(argument: &str, count: u64, datatype: &Datatype) -> Result<u64> {
    let bytes = count.checked_mul(datatype.external32_size()).filter(|bytes| i64::try_from(*bytes).is_ok());
    bytes.ok_or_else(|| {
        let text = format!("{argument} is {count}: so many elements are more than 2^63 bytes");
        Error::new(ErrorClass::Count, text)
    })
}

/// `MPI_Pack_external` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn pack_external(
    function: Function,
    datarep: *const c_char,
    inbuf: *const c_void,
    incount: MPI_Count,
    datatype: MPI_Datatype,
    outbuf: *mut c_void,
    outsize: MPI_Count,
    position: IntegerOut,
) -> c_int {
    in_process(function, |_| {
        // SAFETY: the caller's promise.
        unsafe { check_datarep(datarep) }?;
        let input = Arguments::new(&INPUT, inbuf, incount, datatype);
        let found = datatype::find("datatype", datatype)?;
        let bytes = bytes_of("incount", input.count()?, &found)?;
        // SAFETY: the caller's promise.
        let input = unsafe { input.buffer_of(&found) }?;
        // SAFETY: the caller's promise.
        let packed = unsafe { Packed::new(("outbuf", outbuf), ("outsize", outsize), position) }?;
        found.pack_external32(&input, &packed.next(bytes)?)?;
        // SAFETY: the caller's promise.
        unsafe { packed.advance(bytes) }
    })
}

/// `MPI_Unpack_external` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn unpack_external(
    function: Function,
    datarep: *const c_char,
    inbuf: *const c_void,
    insize: MPI_Count,
    position: IntegerOut,
    outbuf: *mut c_void,
    outcount: MPI_Count,
    datatype: MPI_Datatype,
) -> c_int {
    in_process(function, |_| {
        // SAFETY: the caller's promise.
        unsafe { check_datarep(datarep) }?;
        // SAFETY: the caller's promise; only read.
        let packed = unsafe { Packed::new(("inbuf", inbuf.cast_mut()), ("insize", insize), position) }?;
        let output = Arguments::new(&OUTPUT, outbuf, outcount, datatype);
        let found = datatype::find("datatype", datatype)?;
        let bytes = bytes_of("outcount", output.count()?, &found)?;
        // SAFETY: the caller's promise.
        let output = unsafe { output.buffer_of(&found) }?;
        found.unpack_external32(&output, &packed.next(bytes)?);
        // SAFETY: the caller's promise.
        unsafe { packed.advance(bytes) }
    })
}

/// `MPI_Pack_external_size` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn pack_external_size(
    function: Function,
    datarep: *const c_char,
    incount: MPI_Count,
    datatype: MPI_Datatype,
    size: IntegerOut,
) -> c_int {
    in_process(function, |_| {
        // SAFETY: the caller's promise.
        unsafe { check_datarep(datarep) }?;
        let count = Arguments::new(&INPUT, std::ptr::null(), incount, datatype).count()?;
        let bytes = bytes_of("incount", count, &*datatype::find("datatype", datatype)?)?;
        // SAFETY: the caller's promise.
        unsafe { size.write("size", i64::try_from(bytes).expect("`bytes_of` refuses more")) }
    })
}
