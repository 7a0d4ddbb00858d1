//! Arguments that describe a block of its own length and place for each rank.
//!
//! MPI-5.0: Collective Communication, the vector variants.

use std::ffi::c_void;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_core::Communicator;
use oxmpi_datatype::Buffer;
use oxmpi_mem::Words;

use crate::again::Argument;
use crate::argument::{IntegerArray, Integers, Unmeasured, UnmeasuredIntegers};
use crate::buffer::{Message, Names, OPERAND_BLOCKS, Operands, RESULT_OF_BLOCKS, TypedOperands};
use crate::generated::constants::MPI_IN_PLACE;
use crate::generated::types::{MPI_Count, MPI_Datatype};
use crate::object::datatype;

/// What the arguments are called in C.
#[derive(Clone, Copy, Debug)]
pub struct BlockNames {
    /// Those that are described like one buffer.
    pub buffer: Names,
    /// The places.
    pub displacements: &'static str,
}

/// Of blocks received, where one rank's are.
pub const RECV_AT_ROOT: BlockNames = BlockNames { buffer: RECV, displacements: "displs" };
/// Of blocks received, where blocks are also sent.
pub const RECV_BLOCKS: BlockNames = BlockNames { buffer: RECV, displacements: "rdispls" };
/// As [`RECV_BLOCKS`], of different datatypes.
pub const RECV_TYPED: BlockNames =
    BlockNames { buffer: Names { datatype: "recvtypes", ..RECV }, displacements: "rdispls" };
/// Of blocks sent, where one rank's are.
pub const SEND_AT_ROOT: BlockNames = BlockNames { buffer: SEND, displacements: "displs" };
/// Of blocks sent, where blocks are also received.
pub const SEND_BLOCKS: BlockNames = BlockNames { buffer: SEND, displacements: "sdispls" };
/// As [`SEND_BLOCKS`], of different datatypes.
pub const SEND_TYPED: BlockNames =
    BlockNames { buffer: Names { datatype: "sendtypes", ..SEND }, displacements: "sdispls" };

const RECV: Names = Names { address: "recvbuf", count: "recvcounts", datatype: "recvtype" };
const SEND: Names = Names { address: "sendbuf", count: "sendcounts", datatype: "sendtype" };

/// Blocks, as an address and arrays describe them together.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// What displacements are counted from, or a constant that stands for it.
    address: *mut c_void,
    /// Elements of each block.
    counts: UnmeasuredIntegers,
    /// Where each block begins.
    displacements: UnmeasuredIntegers,
    /// What the blocks consist of.
    datatypes: Datatypes,
}

/// The datatypes of blocks, which say also what displacements are measured in.
#[derive(Clone, Copy, Debug)]
pub enum Datatypes {
    /// Each block has its own; displacements are bytes.
    Each(Unmeasured<MPI_Datatype>),
    /// All have this one; displacements are its extents.
    Same(MPI_Datatype),
}

// SAFETY: nothing is noted.
unsafe impl Argument for Blocks {
    #[inline]
    fn note(&self, words: &mut Words) {
        words.give_up();
    }
}

// SAFETY: nothing is noted.
unsafe impl Argument for OperandBlocks {
    #[inline]
    fn note(&self, words: &mut Words) {
        words.give_up();
    }
}

impl Blocks {
    /// # Safety
    /// As many blocks as the standard says are, where their displacements say, as [`Message::new`] demands.
    pub unsafe fn new(
        address: *const c_void,
        counts: UnmeasuredIntegers,
        displacements: UnmeasuredIntegers,
        datatypes: Datatypes,
    ) -> Self {
        Self { address: address.cast_mut(), counts, displacements, datatypes }
    }

    /// Whether `MPI_IN_PLACE` stands for the blocks.
    pub(crate) fn is_in_place(&self) -> bool {
        self.address == MPI_IN_PLACE
    }

    /// The buffer of each rank's block; C calls the arguments `names`.
    ///
    /// # Errors
    /// As [`Arguments::buffer`](crate::buffer::Arguments::buffer), naming the rank; `Arg` if an array is null, or the
    /// displacement of a block that has elements is too large.
    ///
    /// # Safety
    /// The standard says that there is a block for each rank that `comm` counts blocks by.
    pub(crate) unsafe fn buffers(
        &self,
        names: &'static BlockNames,
        comm: &Communicator,
    ) -> Result<Vec<Buffer>> {
        // SAFETY: the same promise.
        unsafe { self.of_each(names, "rank", comm.peers(), |_| true) }
    }

    /// The buffers of the blocks of `neighbors` neighbours; those of neighbours that are not there do not count.
    ///
    /// # Errors
    /// As [`Blocks::buffers`], naming the neighbour by its index.
    ///
    /// # Safety
    /// The standard says that there is a block for each of so many neighbours.
    pub(crate) unsafe fn of_neighbors(
        &self,
        names: &'static BlockNames,
        comm: &Communicator,
        neighbors: usize,
    ) -> Result<Vec<Buffer>> {
        // SAFETY: the same promise.
        unsafe { self.of_each(names, "neighbour", neighbors as u32, |edge| comm.has_neighbor(edge)) }
    }

    /// # Safety
    /// The standard says that there are so many blocks.
    unsafe fn of_each(
        &self,
        names: &'static BlockNames,
        whose: &str,
        ranks: u32,
        is_there: impl Fn(usize) -> bool,
    ) -> Result<Vec<Buffer>> {
        // SAFETY: there is a count for each block.
        let counts = unsafe { self.counts.of_len(ranks) }.named(names.buffer.count)?;
        // SAFETY: there is a displacement for each block.
        let displacements = unsafe { self.displacements.of_len(ranks) }.named(names.displacements)?;
        let datatypes = match self.datatypes {
            // SAFETY: there is a datatype for each block.
            Datatypes::Each(handles) => Some(unsafe { handles.of_len(ranks) }.named(names.buffer.datatype)?),
            Datatypes::Same(_) => None,
        };
        let block = |rank: usize| {
            if !is_there(rank) {
                return Ok(Buffer::EMPTY);
            }
            let handle = match self.datatypes {
                Datatypes::Same(handle) => handle,
                Datatypes::Each(_) => datatypes.as_ref().expect("made of the same").get(rank),
            };
            // SAFETY: count, displacement and datatype are those of this block.
            unsafe { self.buffer(names, handle, counts.get(rank), displacements.get(rank)) }
        };
        (0..ranks as usize).map(|rank| block(rank).map_err(|error| of_one(whose, rank, &error))).collect()
    }

    /// # Safety
    /// One of the blocks has this datatype, count and displacement.
    unsafe fn buffer(
        &self,
        names: &'static BlockNames,
        handle: MPI_Datatype,
        count: MPI_Count,
        displacement: i64,
    ) -> Result<Buffer> {
        let datatype = datatype::find(names.buffer.datatype, handle)?;
        let unit = match self.datatypes {
            Datatypes::Each(_) => 1,
            Datatypes::Same(_) => datatype.extent(),
        };
        let bytes = match displacement.checked_mul(unit) {
            Some(bytes) => bytes,
            // Blocks of no elements lie anywhere.
            None if count == 0 => 0,
            None => {
                let argument = names.displacements;
                let text =
                    format!("{argument} is {displacement}: so many extents of {unit} bytes fit no 64 bits");
                return Err(Error::new(ErrorClass::Arg, text));
            }
        };
        // Displacements as wide as addresses may be addresses, counted from MPI_BOTTOM.
        let (address, bytes) = match self.displacements {
            UnmeasuredIntegers::Large(_) if self.address.is_null() => {
                (self.address.wrapping_byte_offset(bytes as isize), 0)
            }
            _ => (self.address, bytes),
        };
        // SAFETY: the displacement leads to the block; from null, the address does.
        let arguments = unsafe { Message::new(address, count, handle) }.named(&names.buffer);
        // SAFETY: the handle names the datatype; as above.
        unsafe { arguments.displaced(bytes, &datatype) }
    }
}

/// The buffers of a reduction whose result is cut into a block for each rank.
#[derive(Clone, Copy, Debug)]
pub struct OperandBlocks {
    input: *const c_void,
    result: *mut c_void,
    counts: UnmeasuredIntegers,
    datatype: MPI_Datatype,
}

impl OperandBlocks {
    /// # Safety
    /// The buffers are as [`Message::new`] demands: the first for all counts together, and the second for that of the
    /// calling rank, or where the first is `MPI_IN_PLACE` for all.
    pub unsafe fn new(
        input: *const c_void,
        result: *mut c_void,
        counts: UnmeasuredIntegers,
        datatype: MPI_Datatype,
    ) -> Self {
        Self { input, result, counts, datatype }
    }

    /// What they are for this process.
    ///
    /// # Errors
    /// `Arg` if the array is null; `Count` if a count is negative, or all together are too large; as
    /// [`Arguments::buffer`](crate::buffer::Arguments::buffer).
    ///
    /// # Safety
    /// The function was called on `comm`.
    pub(crate) unsafe fn of(&self, comm: &Communicator) -> Result<ResultBlocks> {
        // SAFETY: the standard says that there is a count for each rank of the own group.
        let counts = ResultCounts::new(unsafe { self.counts.of_len(comm.size()) })?;
        let own = if self.input == MPI_IN_PLACE { counts.total } else { counts.of(comm.rank()) };
        // SAFETY: `new` was promised so.
        let input = unsafe { Message::new(self.input, counts.total, self.datatype) };
        // SAFETY: `new` was promised so.
        let result = unsafe { Message::new(self.result, own, self.datatype) };
        let operands = Operands::of(input, result).typed(&OPERAND_BLOCKS, &RESULT_OF_BLOCKS)?;
        Ok(ResultBlocks { operands, counts })
    }
}

/// What a process contributes to a reduction whose result is cut into blocks, and what it gets.
pub struct ResultBlocks {
    /// Its buffers.
    pub operands: TypedOperands,
    counts: ResultCounts,
}

impl ResultBlocks {
    /// The packed bytes of each rank's elements, which together are as long as a buffer.
    pub fn lengths(&self) -> impl Iterator<Item = u64> + Clone + use<> {
        let (counts, size) = (self.counts.counts, self.operands.datatype().size());
        (0..self.counts.ranks).map(move |rank| counts.get(rank).cast_unsigned() * size)
    }
}

/// How many elements of a reduction's result each rank of the own group gets.
#[derive(Debug)]
struct ResultCounts {
    counts: IntegerArray,
    ranks: usize,
    total: MPI_Count,
}

impl ResultCounts {
    /// The counts in the argument that C calls `recvcounts`.
    ///
    /// # Errors
    /// `Arg` if the array is null; `Count` if a count is negative, or all together are too large.
    fn new(recvcounts: Integers) -> Result<Self> {
        let counts = recvcounts.named("recvcounts")?;
        let (ranks, mut total) = (counts.len(), 0 as MPI_Count);
        for rank in 0..ranks {
            let count = counts.get(rank);
            let sum = total.checked_add(count).filter(|_| count >= 0);
            total = sum.ok_or_else(|| impossible_count(rank, count))?;
        }
        Ok(Self { counts, ranks, total })
    }

    /// Elements of `rank`.
    fn of(&self, rank: u32) -> MPI_Count {
        self.counts.get(rank as usize)
    }
}

#[cold]
fn impossible_count(rank: usize, count: MPI_Count) -> Error {
    let why = if count < 0 { "" } else { ": so many elements of all ranks fit no memory" };
    Error::new(ErrorClass::Count, format!("recvcounts is {count}, for rank {rank}{why}"))
}

#[cold]
fn of_one(whose: &str, rank: usize, error: &Error) -> Error {
    Error::new(error.class(), format!("{}, for {whose} {rank}", error.text()))
}
