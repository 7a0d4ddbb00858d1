//! Message buffers: what an address, a count and a datatype mean together.
//!
//! A null address is `MPI_BOTTOM`, which is meant where a derived datatype holds absolute addresses; with a
//! predefined datatype it is a mistake. Address 1 is `MPI_IN_PLACE` where that is allowed, and elsewhere a mistake.
//! But where there are no data any address will do: Rust's empty slices of bytes lie at 1.
//! MPI-5.0: Point-to-Point Communication, Message Data; Datatypes, Use of General Datatypes in Communication.

use std::ffi::{c_int, c_void};
use std::ptr;

use oxmpi_base::{BasicType, Error, ErrorClass, Result};
use oxmpi_core::Communicator;
use oxmpi_core::coll::Side;
use oxmpi_datatype::{Buffer, Datatype, Elements};
use oxmpi_mem::{Region, Words};

use crate::again::Argument;
use crate::generated::constants::{MPI_IN_PLACE, MPI_INT};
use crate::generated::types::{MPI_Count, MPI_Datatype};
use crate::handle::Handle as _;
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

/// A message buffer, as an address, a count and a datatype describe it together.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Where the first element has its origin, or a constant that stands for it.
    address: *mut c_void,
    /// The number of elements, of each block if there are several.
    count: MPI_Count,
    /// Their datatype.
    datatype: MPI_Datatype,
}

impl Message {
    /// No elements.
    const NONE: Self = Self { address: ptr::null_mut(), count: 0, datatype: MPI_INT };

    /// # Safety
    /// Until the operation is over, an address that is neither null nor `MPI_IN_PLACE` is as [`Buffer::new`] demands
    /// for `count` elements of the datatype that the handle names - of each block, where the standard says that the
    /// function has several - and so are the absolute addresses of a datatype that has some.
    #[inline]
    pub unsafe fn new(address: *const c_void, count: MPI_Count, datatype: MPI_Datatype) -> Self {
        Self { address: address.cast_mut(), count, datatype }
    }

    /// The bytes of the elements, if these are of a predefined datatype without gaps and nothing is wrong with them.
    #[inline(always)]
    pub fn plain(self) -> Option<Region> {
        let basic = BasicType::from_abi(u32::try_from(self.datatype.word()).ok()?)?;
        let is_somewhere = !self.address.is_null() && self.address != MPI_IN_PLACE;
        let bytes = usize::try_from(self.count).ok()?.checked_mul(basic.size())?;
        // SAFETY: `new` was promised so; the elements are these bytes.
        let region = || unsafe { Region::claim(self.address.cast(), bytes) };
        (is_somewhere && basic.is_dense() && isize::try_from(bytes).is_ok()).then(region)
    }

    /// The arguments that C calls `names`.
    #[inline]
    pub fn named(self, names: &'static Names) -> Arguments {
        Arguments { names, message: self }
    }
}

/// The buffer of a partitioned operation: so many elements in each of so many partitions, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Partitions {
    each: Message,
    partitions: c_int,
}

impl Partitions {
    /// # Safety
    /// As [`Message::new`] demands for `count` elements in each partition.
    #[inline]
    pub unsafe fn new(
        address: *const c_void,
        partitions: c_int,
        count: MPI_Count,
        datatype: MPI_Datatype,
    ) -> Self {
        // SAFETY: the same promise.
        Self { each: unsafe { Message::new(address, count, datatype) }, partitions }
    }

    /// All partitions, and how many they are; of no elements if that is not positive.
    ///
    /// # Errors
    /// As `Arguments::buffer`.
    pub fn buffer(self) -> Result<(Buffer, c_int)> {
        let blocks = u32::try_from(self.partitions).unwrap_or(0);
        // SAFETY: the standard says that each partition has `count` elements.
        let buffer = unsafe { self.each.named(&PLAIN).blocks(blocks) };
        buffer.map(|buffer| (buffer, self.partitions))
    }
}

/// The number of elements.
///
/// # Errors
/// `Count`, naming `argument`, if it is negative.
#[inline]
pub fn count_of(argument: &str, count: MPI_Count) -> Result<u64> {
    u64::try_from(count).map_err(|_| negative(argument, count))
}

#[cold]
fn negative(argument: &str, count: MPI_Count) -> Error {
    Error::new(ErrorClass::Count, format!("{argument} is {count}"))
}

/// The arguments that describe a buffer, and what they are called.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    names: &'static Names,
    message: Message,
}

impl Arguments {
    /// The buffer that they describe.
    ///
    /// # Errors
    /// `Count` if the count is negative or too large, `Type` if the handle names no datatype or one that is not
    /// committed, `Buffer` if there should be data at the null pointer or at `MPI_IN_PLACE`.
    #[inline(always)]
    pub fn buffer(&self) -> Result<Buffer> {
        // SAFETY: every message has one block.
        unsafe { self.blocks(1) }
    }

    /// As [`Arguments::buffer`], with a block of `count` elements for each rank that blocks are counted by.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// The standard says that the function has a block for each rank that `comm` counts blocks by.
    #[inline]
    pub unsafe fn block_per_rank(&self, comm: &Communicator) -> Result<Buffer> {
        // SAFETY: the same promise.
        unsafe { self.blocks(comm.peers()) }
    }

    /// As [`Arguments::buffer`], with a block of `count` elements for each of `neighbors` neighbours.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// The standard says that the function has a block for each of so many neighbours.
    pub unsafe fn block_per_neighbor(&self, neighbors: usize) -> Result<Buffer> {
        // SAFETY: the same promise.
        unsafe { self.blocks(neighbors as u32) }
    }

    /// As [`Arguments::buffer`], where `MPI_IN_PLACE` is allowed.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    #[inline(always)]
    pub fn side(&self) -> Result<Side> {
        if self.is_in_place() { Ok(Side::InPlace) } else { self.buffer().map(Side::Buffer) }
    }

    /// As [`Arguments::block_per_rank`], where `MPI_IN_PLACE` is allowed.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// As [`Arguments::block_per_rank`].
    #[inline]
    pub unsafe fn side_per_rank(&self, comm: &Communicator) -> Result<Side> {
        if self.is_in_place() {
            return Ok(Side::InPlace);
        }
        // SAFETY: the same promise.
        unsafe { self.block_per_rank(comm) }.map(Side::Buffer)
    }

    /// What `use_elements` makes of the elements in this call. The datatype is found after what C names before it was
    /// checked, and no other is looked up meanwhile.
    ///
    /// # Errors
    /// As [`Arguments::buffer`], and those of `use_elements`.
    #[inline]
    pub fn with_elements<R>(&self, use_elements: impl FnOnce(&Elements<'_>) -> Result<R>) -> Result<R> {
        let count = self.count()?;
        datatype::with(self.names.datatype, self.message.datatype, |datatype| {
            self.check_address(datatype)?;
            // SAFETY: `Message::new` was promised so; at null there is nothing, or a datatype of absolute addresses.
            let elements = unsafe { Elements::new(self.message.address.cast(), count, datatype) };
            use_elements(&elements.map_err(|error| self.blame(&error, 1))?)
        })
    }

    /// With the datatype that the handle names.
    ///
    /// # Errors
    /// `Count` if the count is negative, `Type` if the handle names no datatype.
    pub fn typed(self) -> Result<Typed> {
        self.count()?;
        Ok(Typed { datatype: datatype::find(self.names.datatype, self.message.datatype)?, arguments: self })
    }

    /// The number of elements.
    ///
    /// # Errors
    /// `Count` if it is negative.
    #[inline]
    pub fn count(&self) -> Result<u64> {
        count_of(self.names.count, self.message.count)
    }

    #[inline]
    fn is_in_place(&self) -> bool {
        self.message.address == MPI_IN_PLACE
    }

    /// # Safety
    /// The standard says that the function has so many blocks.
    #[inline(always)]
    unsafe fn blocks(&self, blocks: u32) -> Result<Buffer> {
        self.count()?;
        let datatype = datatype::find(self.names.datatype, self.message.datatype)?;
        // SAFETY: the same promise; it is the datatype that the handle names.
        unsafe { self.blocks_of(blocks, &datatype) }
    }

    /// As [`Arguments::buffer`], with `blocks` blocks of `count` elements of the datatype that was found.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// The handle names `datatype`, and the standard says that the function has so many blocks.
    #[inline(always)]
    unsafe fn blocks_of(&self, blocks: u32, datatype: &Datatype) -> Result<Buffer> {
        let each = self.count()?;
        if blocks > 0 {
            self.check_address(datatype)?;
        }
        let Some(count) = each.checked_mul(blocks.into()) else { return Err(self.too_many(blocks)) };
        // SAFETY: `Message::new` was promised so; at null there is nothing, or a datatype of absolute addresses.
        let buffer = unsafe { Buffer::new(self.message.address.cast(), count, datatype) };
        if signature::is_wanted() && buffer.is_ok() {
            signature::note(each, datatype);
        }
        buffer.map_err(|error| self.blame(&error, blocks))
    }

    /// As [`Arguments::blocks_of`], where `MPI_IN_PLACE` is allowed.
    ///
    /// # Safety
    /// As [`Arguments::blocks_of`].
    #[inline(always)]
    unsafe fn side_of(&self, blocks: u32, datatype: &Datatype) -> Result<Side> {
        if self.is_in_place() {
            return Ok(Side::InPlace);
        }
        // SAFETY: the same promise.
        unsafe { self.blocks_of(blocks, datatype) }.map(Side::Buffer)
    }

    /// The buffer of one block of a function whose blocks have places of their own, `displacement` bytes from here.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// The handle names `datatype`, and the elements so many bytes from the address are as [`Message::new`] demands.
    pub unsafe fn displaced(&self, displacement: i64, datatype: &Datatype) -> Result<Buffer> {
        let count = self.count()?;
        self.check_address(datatype)?;
        let address = self.message.address.wrapping_byte_offset(displacement as isize);
        // SAFETY: the same promise; at null there is nothing, or a datatype of absolute addresses.
        unsafe { Buffer::new(address.cast(), count, datatype) }.map_err(|error| self.blame(&error, 1))
    }

    #[inline]
    fn check_address(&self, datatype: &Datatype) -> Result<()> {
        let is_nowhere = self.message.address.is_null() && datatype.is_predefined() || self.is_in_place();
        if is_nowhere && self.message.count != 0 && datatype.size() != 0 {
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
                let text = format!(
                    "{} is {:#x}: {}",
                    self.names.datatype,
                    self.message.datatype.word(),
                    error.text()
                );
                Error::new(class, text)
            }
        }
    }

    #[cold]
    fn nowhere(&self, datatype: &Datatype) -> Error {
        let (argument, count, name) = (self.names.address, self.message.count, datatype.name());
        let text =
            format!("{argument} is {}, for {count} of {}", name_of(self.message.address), name.display());
        Error::new(ErrorClass::Buffer, text)
    }

    #[cold]
    fn too_many(&self, blocks: u32) -> Error {
        let (name, count) = (self.names.count, self.message.count);
        let each = if blocks == 1 { String::new() } else { format!(" for each of {blocks} blocks") };
        let text = format!("{name} is {count}: so many elements{each} fit no memory");
        Error::new(ErrorClass::Count, text)
    }
}

/// Arguments with the datatype that their handle names.
pub struct Typed {
    arguments: Arguments,
    datatype: datatype::Found,
}

impl Typed {
    /// The datatype.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// As [`Arguments::buffer`].
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    pub fn buffer(&self) -> Result<Buffer> {
        // SAFETY: `typed` has found it; every message has one block.
        unsafe { self.arguments.blocks_of(1, &self.datatype) }
    }
}

// SAFETY: `Message::new` was promised the memory that these three words name; predefined datatypes stay what they are.
unsafe impl Argument for Message {
    #[inline]
    fn note(&self, words: &mut Words) {
        if !datatype::is_predefined(self.datatype) {
            words.give_up();
        }
        words.push(self.address.expose_provenance() as u64);
        words.push(self.count.cast_unsigned());
        words.push(self.datatype.word() as u64);
    }
}

/// The buffers of a reduction, which share a datatype.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    input: Message,
    result: Message,
}

impl Operands {
    /// Those of a process that has none.
    pub const NONE: Self = Self { input: Message::NONE, result: Message::NONE };

    /// # Safety
    /// Either address is as [`Message::new`] demands.
    #[inline]
    pub unsafe fn new(
        input: *const c_void,
        result: *mut c_void,
        count: MPI_Count,
        datatype: MPI_Datatype,
    ) -> Self {
        // SAFETY: the same promise.
        let input = unsafe { Message::new(input, count, datatype) };
        Self { input, result: Message { address: result, ..input } }
    }

    /// Of two messages.
    ///
    /// # Panics
    /// If their datatypes have different handles.
    #[inline]
    pub fn of(input: Message, result: Message) -> Self {
        assert!(input.datatype == result.datatype, "a reduction has one datatype");
        Self { input, result }
    }

    /// With the datatype that the handle names, and the names of both buffers in C.
    ///
    /// # Errors
    /// `Type` if the handle names no datatype.
    #[inline(always)]
    pub fn typed(self, input: &'static Names, result: &'static Names) -> Result<TypedOperands> {
        let datatype = datatype::find(input.datatype, self.input.datatype)?;
        Ok(TypedOperands { input: self.input.named(input), result: self.result.named(result), datatype })
    }
}

// SAFETY: as for `Message`; the result has the count and the datatype of the input.
unsafe impl Argument for Operands {
    #[inline]
    fn note(&self, words: &mut Words) {
        words.push(self.result.address.expose_provenance() as u64);
        self.input.note(words);
    }
}

/// [`Operands`] with the datatype that their handle names.
pub struct TypedOperands {
    input: Arguments,
    result: Arguments,
    datatype: datatype::Found,
}

impl TypedOperands {
    /// The handle of the datatype.
    #[inline(always)]
    pub fn handle(&self) -> MPI_Datatype {
        self.input.message.datatype
    }

    /// The datatype.
    #[inline(always)]
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// Where both buffers begin, and how many elements each has; to be asked when both have been made.
    pub fn elements(&self) -> (*mut c_void, *mut c_void, u64) {
        let (input, result) = (self.input.message, self.result.message);
        (input.address, result.address, input.count.cast_unsigned())
    }

    /// What the process contributes.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    #[inline(always)]
    pub fn input(&self) -> Result<Buffer> {
        // SAFETY: `typed` has found the datatype; every message has one block.
        unsafe { self.input.blocks_of(1, &self.datatype) }
    }

    /// As [`TypedOperands::input`], where `MPI_IN_PLACE` is allowed.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    #[inline(always)]
    pub fn side(&self) -> Result<Side> {
        // SAFETY: as for `input`.
        unsafe { self.input.side_of(1, &self.datatype) }
    }

    /// As [`TypedOperands::side`], of `blocks` blocks.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// The standard says that a process contributes so many.
    #[inline(always)]
    pub unsafe fn side_of_blocks(&self, blocks: u32) -> Result<Side> {
        // SAFETY: the same promise; `typed` has found the datatype.
        unsafe { self.input.side_of(blocks, &self.datatype) }
    }

    /// Where the result goes.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    #[inline(always)]
    pub fn result(&self) -> Result<Buffer> {
        // SAFETY: as for `input`.
        unsafe { self.result.blocks_of(1, &self.datatype) }
    }

    /// As [`TypedOperands::result`], of `blocks` blocks.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    ///
    /// # Safety
    /// The standard says that the result has so many.
    #[inline(always)]
    pub unsafe fn result_of_blocks(&self, blocks: u32) -> Result<Buffer> {
        // SAFETY: the same promise; `typed` has found the datatype.
        unsafe { self.result.blocks_of(blocks, &self.datatype) }
    }
}
