//! Packing data into the program's buffers, and unpacking.
//!
//! Packed data are the bytes of the elements without gaps, as the datatype orders them.
//! MPI-5.0: Datatypes, Pack and Unpack.

mod external;

use std::ffi::{c_int, c_void};
use std::ptr;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_mem::Region;

pub use self::external::{pack_external, pack_external_size, unpack_external};
use crate::boundary::IntegerOut;
use crate::buffer::{Arguments, Names, check_memory};
use crate::generated::types::{MPI_Comm, MPI_Count, MPI_Datatype};
use crate::object::comm::on_comm;
use crate::object::datatype;

const INPUT: Names = Names { address: "inbuf", count: "incount", datatype: "datatype" };
const OUTPUT: Names = Names { address: "outbuf", count: "outcount", datatype: "datatype" };

/// `MPI_Pack` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn pack(
    function: Function,
    inbuf: *const c_void,
    incount: MPI_Count,
    datatype: MPI_Datatype,
    outbuf: *mut c_void,
    outsize: MPI_Count,
    position: IntegerOut,
    comm: MPI_Comm,
) -> c_int {
    on_comm(function, comm, |_, _| {
        let input = Arguments { names: &INPUT, address: inbuf.cast_mut(), count: incount, datatype };
        input.with_datatype(|datatype| {
            // SAFETY: the caller's promise.
            let input = unsafe { input.elements_of(datatype) }?;
            // SAFETY: the caller's promise.
            let packed = unsafe { Packed::new(("outbuf", outbuf), ("outsize", outsize), position) }?;
            input.read(&packed.next(input.bytes())?);
            // SAFETY: the caller's promise.
            unsafe { packed.advance(input.bytes()) }
        })
    })
}

/// `MPI_Unpack` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn unpack(
    function: Function,
    inbuf: *const c_void,
    insize: MPI_Count,
    position: IntegerOut,
    outbuf: *mut c_void,
    outcount: MPI_Count,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    on_comm(function, comm, |_, _| {
        // SAFETY: the caller's promise; only read.
        let packed = unsafe { Packed::new(("inbuf", inbuf.cast_mut()), ("insize", insize), position) }?;
        let output = Arguments { names: &OUTPUT, address: outbuf, count: outcount, datatype };
        output.with_datatype(|datatype| {
            // SAFETY: the caller's promise.
            let output = unsafe { output.elements_of(datatype) }?;
            output.write(&packed.next(output.bytes())?);
            // SAFETY: the caller's promise.
            unsafe { packed.advance(output.bytes()) }
        })
    })
}

/// `MPI_Pack_size` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn pack_size(
    function: Function,
    incount: MPI_Count,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
    size: IntegerOut,
) -> c_int {
    on_comm(function, comm, |_, _| {
        let input = Arguments { names: &INPUT, address: ptr::null_mut(), count: incount, datatype };
        let count = input.count()?;
        let datatype = datatype::find("datatype", datatype)?;
        let bytes = count.checked_mul(datatype.size()).and_then(|bytes| i64::try_from(bytes).ok());
        let Some(bytes) = bytes else {
            let text = format!("incount is {count}: so many elements are more than 2^63 bytes");
            return Err(Error::new(ErrorClass::Count, text));
        };
        // SAFETY: the caller's promise.
        unsafe { size.write("size", bytes) }
    })
}

/// The program's buffer of packed data, and how far it is used.
struct Packed {
    /// What C calls its size.
    size_argument: &'static str,
    all: Region,
    used: usize,
    position: IntegerOut,
}

impl Packed {
    /// # Safety
    /// `base` is valid for what is done with `size` bytes, `position` for reads and writes.
    #[inline(always)] // loading what was just stored in parts would wait for it
    unsafe fn new(
        (argument, base): (&str, *mut c_void),
        (size_argument, size): (&'static str, MPI_Count),
        position: IntegerOut,
    ) -> Result<Self> {
        let bytes = |argument: &str, value: i64| {
            usize::try_from(value).map_err(|_| Error::new(ErrorClass::Arg, format!("{argument} is {value}")))
        };
        let size = bytes(size_argument, size)?;
        // SAFETY: the caller's promise.
        let used = bytes("*position", unsafe { position.read("position") }?)?;
        check_memory(argument, base, size as MPI_Count)?;
        // SAFETY: the caller's promise.
        let all = unsafe { Region::claim(base.cast(), size) };
        Ok(Self { size_argument, all, used, position })
    }

    /// The `bytes` bytes from the position.
    fn next(&self, bytes: u64) -> Result<Region> {
        let left = self.all.len().saturating_sub(self.used);
        match usize::try_from(bytes) {
            Ok(bytes) if bytes <= left => Ok(self.all.part(self.used.min(self.all.len()), bytes)),
            _ => {
                let (argument, size, used) = (self.size_argument, self.all.len(), self.used);
                let text = format!("{argument} is {size}, too little for {bytes} bytes at position {used}");
                Err(Error::new(ErrorClass::Truncate, text))
            }
        }
    }

    /// # Safety
    /// As [`Packed::new`].
    unsafe fn advance(&self, bytes: u64) -> Result<()> {
        let position = self.used as i64 + bytes as i64;
        // SAFETY: the caller's promise.
        unsafe { self.position.write("position", position) }
    }
}
