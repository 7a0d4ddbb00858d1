//! Packing data into the program's buffers, and unpacking.
//!
//! Packed data are the bytes of the elements without gaps, as the datatype orders them.
//! MPI-5.0: Datatypes, Pack and Unpack.

mod external;

use std::ffi::{c_int, c_void};

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_mem::Region;

pub use self::external::{pack_external, pack_external_size, unpack_external};
use crate::argument::{IntegerInOut, IntegerOut, IntegerSlot};
use crate::buffer::{Message, Names, check_memory, count_of};
use crate::generated::types::{MPI_Comm, MPI_Count, MPI_Datatype};
use crate::object::comm::on_comm;
use crate::object::datatype;

const INPUT: Names = Names { address: "inbuf", count: "incount", datatype: "datatype" };
const OUTPUT: Names = Names { address: "outbuf", count: "outcount", datatype: "datatype" };

/// `MPI_Pack` and its large-count form.
pub fn pack(function: Function, input: Message, packed: PackedBuffer, comm: MPI_Comm) -> c_int {
    on_comm(function, comm, |_, _| {
        input.named(&INPUT).with_elements(|input| {
            let packed = packed.named("outbuf", "outsize")?;
            input.read(&packed.next(input.bytes())?);
            packed.advance(input.bytes());
            Ok(())
        })
    })
}

/// `MPI_Unpack` and its large-count form.
pub fn unpack(function: Function, packed: PackedBuffer, output: Message, comm: MPI_Comm) -> c_int {
    on_comm(function, comm, |_, _| {
        let packed = packed.named("inbuf", "insize")?;
        output.named(&OUTPUT).with_elements(|output| {
            output.write(&packed.next(output.bytes())?);
            packed.advance(output.bytes());
            Ok(())
        })
    })
}

/// `MPI_Pack_size` and its large-count form.
pub fn pack_size(
    function: Function,
    incount: MPI_Count,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
    size: IntegerOut,
) -> c_int {
    on_comm(function, comm, |_, _| {
        let count = count_of(INPUT.count, incount)?;
        let datatype = datatype::find("datatype", datatype)?;
        let bytes = count.checked_mul(datatype.size()).and_then(|bytes| i64::try_from(bytes).ok());
        let Some(bytes) = bytes else {
            let text = format!("incount is {count}: so many elements are more than 2^63 bytes");
            return Err(Error::new(ErrorClass::Count, text));
        };
        size.named("size")?.set(bytes);
        Ok(())
    })
}

/// The program's buffer of packed data, its size, and how far it is used.
#[derive(Clone, Copy, Debug)]
pub struct PackedBuffer {
    base: *mut c_void,
    size: MPI_Count,
    position: IntegerInOut,
}

impl PackedBuffer {
    /// # Safety
    /// Until the last use, an address that is neither null nor `MPI_IN_PLACE` is as [`Region::claim`] demands for
    /// `size` bytes, if that is positive; one that is constant in C is only read.
    #[inline]
    pub unsafe fn new(base: *const c_void, size: MPI_Count, position: IntegerInOut) -> Self {
        Self { base: base.cast_mut(), size, position }
    }

    /// The arguments that C calls `argument` and `size`.
    #[inline(always)] // loading what was just stored in parts would wait for it
    fn named(self, argument: &str, size_argument: &'static str) -> Result<Packed> {
        let bytes = |argument: &str, value: i64| {
            usize::try_from(value).map_err(|_| Error::new(ErrorClass::Arg, format!("{argument} is {value}")))
        };
        let size = bytes(size_argument, self.size)?;
        let position = self.position.named("position")?;
        let used = bytes("*position", position.get())?;
        check_memory(argument, self.base, size as MPI_Count)?;
        // SAFETY: `new` was promised so; at null and `MPI_IN_PLACE` there are no bytes.
        let all = unsafe { Region::claim(self.base.cast(), size) };
        Ok(Packed { size_argument, all, used, position })
    }
}

/// A buffer of packed data, and how far it is used.
struct Packed {
    /// What C calls its size.
    size_argument: &'static str,
    all: Region,
    used: usize,
    position: IntegerSlot,
}

impl Packed {
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

    fn advance(&self, bytes: u64) {
        self.position.set(self.used as i64 + bytes as i64);
    }
}
