//! Arguments that describe a block of its own length and place for each rank.
//!
//! MPI-5.0: Collective Communication, the vector variants.

use std::ffi::c_void;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_core::Communicator;
use oxmpi_datatype::{Buffer, Datatype};

use crate::boundary::{IntegerArray, Integers};
use crate::buffer::{Arguments, Names};
use crate::generated::constants::MPI_IN_PLACE;
use crate::generated::types::{MPI_Count, MPI_Datatype};
use crate::object::datatype;
use crate::pointer::Array;

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

/// The arguments, as the program gave them.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// What they are called.
    pub names: &'static BlockNames,
    /// What displacements are counted from, or a constant that stands for it.
    pub address: *mut c_void,
    /// Elements of each block.
    pub counts: Integers,
    /// Where each block begins.
    pub displacements: Integers,
    /// What the blocks consist of.
    pub datatypes: Datatypes,
}

/// The datatypes of blocks, which say also what displacements are measured in.
#[derive(Clone, Copy, Debug)]
pub enum Datatypes {
    /// Each block has its own; displacements are bytes.
    Each(*const MPI_Datatype),
    /// All have this one; displacements are its extents.
    Same(MPI_Datatype),
}

impl Blocks {
    /// The arguments that C calls `names`.
    pub fn new(
        names: &'static BlockNames,
        address: *const c_void,
        counts: Integers,
        displacements: Integers,
        datatypes: Datatypes,
    ) -> Self {
        Self { names, address: address.cast_mut(), counts, displacements, datatypes }
    }

    /// Whether `MPI_IN_PLACE` stands for the blocks.
    pub fn is_in_place(&self) -> bool {
        self.address == MPI_IN_PLACE
    }

    /// The buffer of each rank's block.
    ///
    /// # Errors
    /// As [`Arguments::buffer`], naming the rank; `Arg` if an array is null, or a displacement too large.
    ///
    /// # Safety
    /// Arrays that are not null have an element for each rank, and each block is as [`Buffer::new`] demands.
    pub unsafe fn buffers(&self, comm: &Communicator) -> Result<Vec<Buffer>> {
        // SAFETY: the caller's promise.
        unsafe { self.of_each("rank", comm.peers(), |_| true) }
    }

    /// The buffers of the blocks of `neighbors` neighbours; those of neighbours that are not there do not count.
    ///
    /// # Errors
    /// As [`Blocks::buffers`], naming the neighbour by its index.
    ///
    /// # Safety
    /// As [`Blocks::buffers`], with elements for each neighbour.
    pub unsafe fn of_neighbors(&self, comm: &Communicator, neighbors: usize) -> Result<Vec<Buffer>> {
        // SAFETY: the caller's promise.
        unsafe { self.of_each("neighbour", neighbors as u32, |edge| comm.has_neighbor(edge)) }
    }

    /// # Safety
    /// As [`Blocks::buffers`], with elements for each of so many blocks.
    unsafe fn of_each(
        &self,
        whose: &str,
        ranks: u32,
        is_there: impl Fn(usize) -> bool,
    ) -> Result<Vec<Buffer>> {
        // SAFETY: the caller's promise.
        let counts = unsafe { self.counts.array(self.names.buffer.count, ranks) }?;
        // SAFETY: the caller's promise.
        let displacements = unsafe { self.displacements.array(self.names.displacements, ranks) }?;
        let datatypes = match self.datatypes {
            Datatypes::Each(handles) => {
                let argument = self.names.buffer.datatype;
                // SAFETY: the caller's promise; nothing is written.
                Some(unsafe { Array::new(argument, handles.cast_mut(), ranks.cast_signed()) }?)
            }
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
            // SAFETY: the caller's promise.
            unsafe { self.buffer(rank, handle, &counts, &displacements) }
        };
        (0..ranks as usize).map(|rank| block(rank).map_err(|error| of_one(whose, rank, &error))).collect()
    }

    /// # Safety
    /// As [`Blocks::buffers`], for the block of `rank`.
    unsafe fn buffer(
        &self,
        rank: usize,
        handle: MPI_Datatype,
        counts: &IntegerArray,
        displacements: &IntegerArray,
    ) -> Result<Buffer> {
        let names = &self.names.buffer;
        let datatype = datatype::find(names.datatype, handle)?;
        let unit = match self.datatypes {
            Datatypes::Each(_) => 1,
            Datatypes::Same(_) => datatype.extent(),
        };
        let displacement = displacements.get(rank);
        let Some(bytes) = displacement.checked_mul(unit) else {
            let argument = self.names.displacements;
            let text =
                format!("{argument} is {displacement}: so many extents of {unit} bytes fit no 64 bits");
            return Err(Error::new(ErrorClass::Arg, text));
        };
        // Displacements as wide as addresses may be addresses, counted from MPI_BOTTOM.
        let (address, bytes) = match self.displacements {
            Integers::Large(_) if self.address.is_null() => {
                (self.address.wrapping_byte_offset(bytes as isize), 0)
            }
            _ => (self.address, bytes),
        };
        let arguments = Arguments::new(names, address, counts.get(rank), handle);
        // SAFETY: the caller's promise.
        unsafe { arguments.displaced(bytes, &datatype) }
    }
}

/// How many elements of a reduction's result each rank of the own group gets.
#[derive(Debug)]
pub struct ResultCounts {
    counts: IntegerArray,
    ranks: usize,
    total: MPI_Count,
}

impl ResultCounts {
    /// The counts in the argument that C calls `recvcounts`.
    ///
    /// # Errors
    /// `Arg` if the array is null; `Count` if a count is negative, or all together are too large.
    ///
    /// # Safety
    /// Until the last use, an array that is not null has an element for each rank of the own group.
    pub unsafe fn new(recvcounts: Integers, comm: &Communicator) -> Result<Self> {
        // SAFETY: the caller's promise.
        let counts = unsafe { recvcounts.array("recvcounts", comm.size()) }?;
        let (ranks, mut total) = (comm.size() as usize, 0 as MPI_Count);
        for rank in 0..ranks {
            let count = counts.get(rank);
            let sum = total.checked_add(count).filter(|_| count >= 0);
            total = sum.ok_or_else(|| impossible_count(rank, count))?;
        }
        Ok(Self { counts, ranks, total })
    }

    /// Elements of all ranks.
    pub fn total(&self) -> MPI_Count {
        self.total
    }

    /// Elements of `rank`.
    pub fn of(&self, rank: u32) -> MPI_Count {
        self.counts.get(rank as usize)
    }

    /// The packed bytes of each rank's elements, which together are as long as a buffer.
    pub fn lengths(&self, elements: &Datatype) -> impl Iterator<Item = u64> + Clone + use<> {
        let (counts, size) = (self.counts, elements.size());
        (0..self.ranks).map(move |rank| counts.get(rank).cast_unsigned() * size)
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
