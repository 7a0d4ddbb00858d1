//! Message buffers: what an address, a count and a datatype mean together.
//!
//! A null address is `MPI_BOTTOM`, which is meant where a derived datatype holds absolute addresses; with a
//! predefined datatype it is a mistake. Address 1 is `MPI_IN_PLACE` where that is allowed, and elsewhere a mistake.
//! But where there are no data any address will do: Rust's empty slices of bytes lie at 1.
//! MPI-5.0: Point-to-Point Communication, Message Data; Datatypes, Use of General Datatypes in Communication.

use std::ffi::c_void;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_core::Communicator;
use oxmpi_core::coll::Side;
use oxmpi_datatype::{Buffer, Datatype, Elements};

use crate::generated::constants::MPI_IN_PLACE;
use crate::generated::types::{MPI_Count, MPI_Datatype};
use crate::object::datatype;
use crate::signature;

/// What the arguments are called in C, for error texts.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The address.
    pub address: &'static str,
    /// The number of elements.
    pub count: &'static str,
    /// Their datatype.
    pub datatype: &'static str,
}

/// Of what a rank contributes to a reduction.
pub const OPERAND: Names = Names { address: "sendbuf", count: "count", datatype: "datatype" };
/// Of the blocks that a rank contributes to a reduction, all of one length.
pub const OPERAND_BLOCK: Names = Names { address: "sendbuf", count: "recvcount", datatype: "datatype" };
/// As [`OPERAND_BLOCK`], of several lengths.
pub const OPERAND_BLOCKS: Names = Names { address: "sendbuf", count: "recvcounts", datatype: "datatype" };
/// Of functions with one message.
pub const PLAIN: Names = Names { address: "buf", count: "count", datatype: "datatype" };
/// Of what is received, where something is also sent.
pub const RECV: Names = Names { address: "recvbuf", count: "recvcount", datatype: "recvtype" };
/// Of what a reduction makes.
pub const RESULT: Names = Names { address: "recvbuf", count: "count", datatype: "datatype" };
/// Of the block that a reduction makes of blocks of one length.
pub const RESULT_BLOCK: Names = Names { address: "recvbuf", count: "recvcount", datatype: "datatype" };
/// As [`RESULT_BLOCK`], of several lengths.
pub const RESULT_OF_BLOCKS: Names = Names { address: "recvbuf", count: "recvcounts", datatype: "datatype" };
/// Of a broadcast.
pub const ROOTED: Names = Names { address: "buffer", count: "count", datatype: "datatype" };
/// Of what is sent, where something is also received.
pub const SEND: Names = Names { address: "sendbuf", count: "sendcount", datatype: "sendtype" };

/// Refuses the address of no memory, for `bytes` bytes.
///
/// # Errors
/// `Buffer` if there are any at the null pointer or at `MPI_IN_PLACE`.
#[inline]
pub fn check_memory(argument: &str, address: *mut c_void, bytes: MPI_Count) -> Result<()> {
    if bytes != 0 && (address.is_null() || address == MPI_IN_PLACE) {
        let text = format!("{argument} is {}, for {bytes} bytes", name_of(address));
        return Err(Error::new(ErrorClass::Buffer, text));
    }
    Ok(())
}

fn name_of(nowhere: *mut c_void) -> &'static str {
    if nowhere.is_null() { "a null pointer" } else { "MPI_IN_PLACE, not allowed here" }
}

/// The three arguments that describe a buffer, as the program gave them.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    /// What they are called.
    pub names: &'static Names,
    /// Where the first element has its origin, or a constant that stands for it.
    pub address: *mut c_void,
    /// The number of elements, of each block if there are several.
    pub count: MPI_Count,
    /// Their datatype.
    pub datatype: MPI_Datatype,
}

impl Arguments {
    /// The arguments that C calls `names`.
    #[inline]
    pub fn new(
        names: &'static Names,
        address: *const c_void,
        count: MPI_Count,
        datatype: MPI_Datatype,
    ) -> Self {
        Self { names, address: address.cast_mut(), count, datatype }
    }

    /// The buffer that they describe.
    ///
    /// # Errors
    /// `Count` if the count is negative or too large, `Type` if the handle names no datatype or one that is not
    /// committed, `Buffer` if there should be data at the null pointer or at `MPI_IN_PLACE`.
    ///
    /// # Safety
    /// As [`Buffer::new`] demands of an address that is not null.
    #[inline(always)]
    pub unsafe fn buffer(&self) -> Result<Buffer> {
        // SAFETY: the caller's promise.
        unsafe { self.blocks(1) }
    }

    /// As [`Arguments::buffer`], with a block of `count` elements for each rank that blocks are counted by.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// As [`Arguments::buffer`].
    #[inline]
    pub unsafe fn block_per_rank(&self, comm: &Communicator) -> Result<Buffer> {
        // SAFETY: the caller's promise.
        unsafe { self.blocks(comm.peers()) }
    }

    /// As [`Arguments::buffer`], with a block of `count` elements for each of `neighbors` neighbours.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// As [`Arguments::buffer`].
    pub unsafe fn block_per_neighbor(&self, neighbors: usize) -> Result<Buffer> {
        // SAFETY: the caller's promise.
        unsafe { self.blocks(neighbors as u32) }
    }

    /// As [`Arguments::buffer`], where `MPI_IN_PLACE` is allowed.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// As [`Arguments::buffer`].
    #[inline(always)]
    pub unsafe fn side(&self) -> Result<Side> {
        if self.address == MPI_IN_PLACE {
            return Ok(Side::InPlace);
        }
        // SAFETY: the caller's promise.
        unsafe { self.blocks(1) }.map(Side::Buffer)
    }

    /// As [`Arguments::block_per_rank`], where `MPI_IN_PLACE` is allowed.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// As [`Arguments::buffer`].
    #[inline]
    pub unsafe fn side_per_rank(&self, comm: &Communicator) -> Result<Side> {
        if self.address == MPI_IN_PLACE {
            return Ok(Side::InPlace);
        }
        // SAFETY: the caller's promise.
        unsafe { self.blocks(comm.peers()) }.map(Side::Buffer)
    }

    /// As [`Arguments::buffer`], of the datatype that was found for the handle.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// As [`Arguments::buffer`].
    #[inline(always)]
    pub unsafe fn buffer_of(&self, datatype: &Datatype) -> Result<Buffer> {
        // SAFETY: the caller's promise.
        unsafe { self.blocks_of(1, datatype) }
    }

    /// As [`Arguments::buffer_of`], for use in this call only.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// As [`Arguments::buffer`].
    pub unsafe fn elements_of<'a>(&self, datatype: &'a Datatype) -> Result<Elements<'a>> {
        let count = self.count()?;
        self.check_address(datatype)?;
        // SAFETY: the caller's promise; at null there is nothing, or a datatype of absolute addresses.
        unsafe { Elements::new(self.address.cast(), count, datatype) }.map_err(|error| self.blame(&error, 1))
    }

    /// As [`Arguments::side`], of the datatype that was found for the handle.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// As [`Arguments::buffer`].
    #[inline(always)]
    pub unsafe fn side_of(&self, datatype: &Datatype) -> Result<Side> {
        if self.address == MPI_IN_PLACE {
            return Ok(Side::InPlace);
        }
        // SAFETY: the caller's promise.
        unsafe { self.blocks_of(1, datatype) }.map(Side::Buffer)
    }

    /// As [`Arguments::side_of`], with `blocks` blocks of `count` elements.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// As [`Arguments::buffer`].
    #[inline(always)]
    pub unsafe fn side_of_blocks(&self, blocks: u32, datatype: &Datatype) -> Result<Side> {
        if self.address == MPI_IN_PLACE {
            return Ok(Side::InPlace);
        }
        // SAFETY: the caller's promise.
        unsafe { self.blocks_of(blocks, datatype) }.map(Side::Buffer)
    }

    /// As [`Arguments::buffer_of`], with the origin of the first element `displacement` bytes from the address.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// As [`Arguments::buffer`].
    pub unsafe fn displaced(&self, displacement: i64, datatype: &Datatype) -> Result<Buffer> {
        let count = self.count()?;
        self.check_address(datatype)?;
        let address = self.address.wrapping_byte_offset(displacement as isize);
        // SAFETY: the caller's promise; at null there is nothing, or a datatype of absolute addresses.
        unsafe { Buffer::new(address.cast(), count, datatype) }.map_err(|error| self.blame(&error, 1))
    }

    /// What `use_datatype` makes of the datatype, which is found after what C names before it was checked.
    ///
    /// # Errors
    /// As [`Arguments::buffer`], and those of `use_datatype`.
    #[inline]
    pub fn with_datatype<R>(&self, use_datatype: impl FnOnce(&Datatype) -> Result<R>) -> Result<R> {
        self.count()?;
        datatype::with(self.names.datatype, self.datatype, use_datatype)
    }

    /// The number of elements.
    ///
    /// # Errors
    /// `Count` if it is negative.
    #[inline]
    pub fn count(&self) -> Result<u64> {
        u64::try_from(self.count).map_err(|_| self.negative())
    }

    /// # Safety
    /// As [`Arguments::buffer`].
    #[inline(always)]
    unsafe fn blocks(&self, blocks: u32) -> Result<Buffer> {
        self.count()?;
        let datatype = datatype::find(self.names.datatype, self.datatype)?;
        // SAFETY: the caller's promise.
        unsafe { self.blocks_of(blocks, &datatype) }
    }

    /// As [`Arguments::buffer_of`], with `blocks` blocks of `count` elements.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// As [`Arguments::buffer`].
    #[inline(always)]
    pub unsafe fn blocks_of(&self, blocks: u32, datatype: &Datatype) -> Result<Buffer> {
        let each = self.count()?;
        if blocks > 0 {
            self.check_address(datatype)?;
        }
        let Some(count) = each.checked_mul(blocks.into()) else { return Err(self.too_many(blocks)) };
        // SAFETY: the caller's promise; at null there is nothing, or a datatype of absolute addresses.
        let buffer = unsafe { Buffer::new(self.address.cast(), count, datatype) };
        if signature::is_wanted() && buffer.is_ok() {
            signature::note(each, datatype);
        }
        buffer.map_err(|error| self.blame(&error, blocks))
    }

    #[inline]
    fn check_address(&self, datatype: &Datatype) -> Result<()> {
        let is_nowhere = self.address.is_null() && datatype.is_predefined() || self.address == MPI_IN_PLACE;
        if is_nowhere && self.count != 0 && datatype.size() != 0 {
            return Err(self.nowhere(datatype));
        }
        Ok(())
    }

    /// The error of a buffer that cannot be, of these arguments.
    #[cold]
    fn blame(&self, error: &Error, blocks: u32) -> Error {
        match error.class() {
            ErrorClass::Count => self.too_many(blocks),
            class => {
                let text = format!("{} is {:#x}: {}", self.names.datatype, self.datatype.0, error.text());
                Error::new(class, text)
            }
        }
    }

    #[cold]
    fn negative(&self) -> Error {
        Error::new(ErrorClass::Count, format!("{} is {}", self.names.count, self.count))
    }

    #[cold]
    fn nowhere(&self, datatype: &Datatype) -> Error {
        let (argument, count, name) = (self.names.address, self.count, datatype.name());
        let text = format!("{argument} is {}, for {count} of {}", name_of(self.address), name.display());
        Error::new(ErrorClass::Buffer, text)
    }

    #[cold]
    fn too_many(&self, blocks: u32) -> Error {
        let (name, count) = (self.names.count, self.count);
        let each = if blocks == 1 { String::new() } else { format!(" for each of {blocks} ranks") };
        let text = format!("{name} is {count}: so many elements{each} fit no memory");
        Error::new(ErrorClass::Count, text)
    }
}
