//! Memory that the program has been given here: it lies in the segment, so peers know it by an offset.
//!
//! `MPI_Alloc_mem` takes a block of the rank's arena. Whoever is told the *name* of such memory - its offset in the
//! segment, marked as one - copies from it as from any slot: without the copy into the ring or into a slot, and without
//! asking the system. A name is made anew for each message and each run from the address that the program passes; so
//! one that was told before does not outlive what it named, and persistent operations need not be bound to any.
//!
//! There is no memory here for allocations from which no message would be read, nor for more than a part of the node's
//! memory: it is claimed when it is given, not when it is touched. Whoever gets none takes private memory.
//!
//! Cost: a comparison for memory that is none of this, a search in a tree for that which is.
//! MPI-5.0: MPI Environmental Management, Memory Allocation.

use oxmpi_base::Ordered;
use oxmpi_mem::Region;
use oxmpi_shm::{Arena, Block, Job, has_narrow_address_space, node_memory_bytes};

use super::{Op, P2p};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    /// By address.
    all: Ordered<usize, Allocation>,
    /// All of them lie in so many bytes from an address.
    begin: usize,
    extent: usize,
    bytes: usize,
    /// So many bytes there may be; found out when there is the first one.
    most: Option<usize>,
}

#[derive(Debug)]
struct Allocation {
    bytes: usize,
    offset: u64,
    block: Block,
}

/// What is shorter has no name: to copy it twice takes less time than to wait until it was read.
const LEAST_NAMED_BYTES: usize = 4 << 10;
/// Tells the name of memory from an address, which no program has there.
const MARK: u64 = 1 << 63;
/// All ranks of a node together give such a part of its memory, and each no more than such a part of its arena: else
/// none might be left for what is posted.
const PART_OF_MEMORY: usize = 2;
const PART_OF_RANGE: usize = 4;
/// What programs have begins with a page, or nearly so; what it is copied to and from in the segment does not.
const ALIGNMENT: usize = 4096;

/// The offset that a word means, if it is the name of memory.
#[inline]
pub(crate) fn offset_of_name(word: u64) -> Option<u64> {
    (word & MARK != 0).then_some(word & !MARK)
}

/// The word that is the name of memory at an offset.
pub(crate) fn name_of_offset(offset: u64) -> u64 {
    MARK | offset
}

impl Allocations {
    /// Whether the program has none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.extent == 0
    }

    /// The name of memory, if it lies in one allocation.
    #[inline]
    pub(crate) fn name(&self, region: &Region) -> Option<u64> {
        let is_near = region.as_ptr().addr().wrapping_sub(self.begin) < self.extent;
        if is_near { self.look_up(region) } else { None }
    }

    #[inline(never)]
    fn look_up(&self, region: &Region) -> Option<u64> {
        let address = region.as_ptr().addr();
        let (begin, allocation) = self.all.last_up_to(address)?;
        let place = address - begin;
        let lies_inside = place <= allocation.bytes && region.len() <= allocation.bytes - place;
        (lies_inside && region.len() >= LEAST_NAMED_BYTES)
            .then(|| name_of_offset(allocation.offset + place as u64))
    }

    /// Where a receiver finds memory: by its name, or else by its address in this process.
    pub(super) fn address(&self, region: &Region) -> u64 {
        self.name(region).unwrap_or(region.as_ptr().addr() as u64)
    }

    /// The same of the data of a send; 0 if it is not in one piece.
    pub(super) fn told_address(&self, op: &Op) -> u64 {
        op.buffer.as_dense().map_or(0, |region| self.address(&region))
    }

    /// Notes where the first begins and the last one ends.
    fn measure(&mut self) {
        let first = self.all.first().map_or(0, |(begin, _)| begin);
        let end = self.all.last().map_or(0, |(begin, last)| begin + last.bytes);
        (self.begin, self.extent) = (first, end - first);
    }
}

/// How many bytes a rank has at most whose arena is a range of so many.
fn most_bytes(job: &Job, range: usize) -> usize {
    let memory = usize::try_from(node_memory_bytes()).unwrap_or(usize::MAX);
    let bytes = (memory / PART_OF_MEMORY / job.size()).min(range / PART_OF_RANGE);
    // All readers map all that they read; those of the job have the same limit.
    if has_narrow_address_space() { 0 } else { bytes }
}

impl P2p {
    /// So many bytes of shared memory for the program, at a multiple of `alignment`, which is a power of two; `None` if
    /// there are none for it. They stay until they are [freed](P2p::free).
    pub fn allocate(&mut self, bytes: usize, alignment: usize) -> Option<Region> {
        let alignment = alignment.max(ALIGNMENT);
        let slack = alignment - ALIGNMENT / 2; // a block begins in the middle of a page
        let all = bytes.checked_add(slack).filter(|_| bytes >= LEAST_NAMED_BYTES)?;
        let (job, range) = (self.peers.job(), self.arena.range_bytes());
        let most = *self.allocations.most.get_or_insert_with(|| most_bytes(job, range));
        if Arena::block_bytes(all)? > most.saturating_sub(self.allocations.bytes) {
            return None;
        }
        let block = self.arena.lend(all).ok()?;
        let Ok(memory) = self.peers.job().segment().region(block.offset, block.bytes) else {
            self.arena.take_home(block);
            return None;
        };
        let base = memory.as_ptr().addr();
        let skipped = base.next_multiple_of(alignment) - base;
        let memory = memory.part(skipped, bytes);
        let allocation = Allocation { bytes, offset: block.offset + skipped as u64, block };
        self.allocations.all.insert(memory.as_ptr().addr(), allocation);
        self.allocations.bytes += block.bytes;
        self.allocations.measure();
        Some(memory)
    }

    /// Takes back what was allocated at an address; false if nothing was.
    pub fn free(&mut self, address: usize) -> bool {
        let Some(Allocation { block, .. }) = self.allocations.all.remove(address) else { return false };
        self.allocations.bytes -= block.bytes;
        self.allocations.measure();
        self.arena.take_home(block);
        true
    }
}
