//! Packing data in the representation `external32`, which is the same on all machines.
//!
//! MPI-5.0: Datatypes, Canonical MPI_PACK and MPI_UNPACK; I/O, External Data Representation: "external32".

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_datatype::Datatype;

use super::{INPUT, OUTPUT, PackedBuffer};
use crate::argument::{IntegerOut, TextIn};
use crate::buffer::{Message, count_of};
use crate::failure::in_process;
use crate::generated::types::{MPI_Count, MPI_Datatype};
use crate::object::datatype;

/// Refuses what is not the name of the representation.
fn check_datarep(datarep: TextIn) -> Result<()> {
    let name = datarep.string("datarep")?;
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
pub fn pack_external(function: Function, datarep: TextIn, input: Message, packed: PackedBuffer) -> c_int {
    in_process(function, |_| {
        check_datarep(datarep)?;
        let input = input.named(&INPUT);
        let count = input.count()?;
        let typed = input.typed()?;
        let bytes = bytes_of("incount", count, typed.datatype())?;
        let input = typed.buffer()?;
        let packed = packed.named("outbuf", "outsize")?;
        typed.datatype().pack_external32(&input, &packed.next(bytes)?)?;
        packed.advance(bytes);
        Ok(())
    })
}

/// `MPI_Unpack_external` and its large-count form.
pub fn unpack_external(function: Function, datarep: TextIn, packed: PackedBuffer, output: Message) -> c_int {
    in_process(function, |_| {
        check_datarep(datarep)?;
        let packed = packed.named("inbuf", "insize")?;
        let output = output.named(&OUTPUT);
        let count = output.count()?;
        let typed = output.typed()?;
        let bytes = bytes_of("outcount", count, typed.datatype())?;
        let output = typed.buffer()?;
        typed.datatype().unpack_external32(&output, &packed.next(bytes)?);
        packed.advance(bytes);
        Ok(())
    })
}

/// `MPI_Pack_external_size` and its large-count form.
pub fn pack_external_size(
    function: Function,
    datarep: TextIn,
    incount: MPI_Count,
    datatype: MPI_Datatype,
    size: IntegerOut,
) -> c_int {
    in_process(function, |_| {
        check_datarep(datarep)?;
        let count = count_of(INPUT.count, incount)?;
        let bytes = bytes_of("incount", count, &*datatype::find("datatype", datatype)?)?;
        size.named("size")?.set(i64::try_from(bytes).expect("`bytes_of` refuses more"));
        Ok(())
    })
}
