//! A rank's own part of the segment, given out in blocks.
//!
//! Only its rank takes and gives blocks, so the bookkeeping is private memory; peers learn of a block by its offset.
//! An arena is a range of a file that costs nothing, longer than the node's memory; memory is claimed as blocks are
//! taken, the first megabyte in pieces, for where there are many ranks, and then by the megabyte, and goes back to the
//! system when much more is free than was used lately. A block lies in one of
//! the arena's windows. Short ones, of less than a megabyte, have a power of two of bytes, long ones whole megabytes.
//!
//! Blocks of a page and more begin where the buffers of programs do not: allocators put long ones at the beginning of
//! a page or up to 64 bytes behind, and a copy between two ranges that begin at nearly the same place in a page is
//! slow on many processors.
//!
//! Programs are [lent](Arena::lend) blocks, too. Those do not count when it is decided how much free memory to keep.
//! Cost: a pop and a note; a system call per megabyte of growth.

mod buddies;

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use oxmpi_base::{Error, ErrorClass, Result};

use self::buddies::{Buddies, CHUNK, SMALLEST};
use crate::Segment;
use crate::layout::Windows;
use crate::machine::round_bytes;

/// The allocator of one rank's range.
#[derive(Debug)]
pub struct Arena {
    segment: &'static Segment,
    /// Offset of the range in the segment.
    begin: usize,
    buddies: Buddies,
    /// So much of the first megabyte there is memory for.
    beginning: usize,
    /// Bytes that there is memory for.
    claimed: usize,
    /// Bytes in blocks, but for those that are lent.
    used: usize,
    /// Bytes in blocks that are lent.
    lent: usize,
    /// The most that were used since it was decided what to keep.
    peak: usize,
    /// Before that: the last time, and ever.
    peak_before: usize,
    peak_ever: usize,
    /// That is decided again when so many blocks were given back.
    decide_at: usize,
    /// Blocks that [rest](Arena::give_read), how many bytes these have, and how many at most.
    resting: VecDeque<Block>,
    resting_bytes: usize,
    most_resting: usize,
    /// Bytes that peers have read since rests ended for want of memory: those of blocks, and [others](Arena::has_lent).
    read: usize,
    /// As far as there were blocks that were taken: what lies behind is mapped when it is used.
    ever_used: usize,
}

/// A range of the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Offset in the segment.
    pub offset: u64,
    /// Length: a power of two, or whole megabytes.
    pub bytes: usize,
}

/// What processors look at when they tell places apart, and what parts of a segment are kept apart by, whatever pages
/// the system has.
pub(crate) const PAGE: usize = 4096;
/// Where in a page a long block begins: as far as can be from where buffers do.
pub(crate) const COLOUR: usize = PAGE / 2;
/// A megabyte.
const LONG: usize = 1 << CHUNK;
/// The first megabyte is claimed by so many bytes: a divisor of it.
const PIECE: usize = 16 << 10;
/// What is kept of free memory at least. Twice as much as was used lately is kept, too.
const KEPT: usize = 16 << 20;
/// To use memory for the first time takes as long as several copies of what it holds, so that what rests must be few
/// of all that was read.
const READ_PER_RESTING: usize = 16;
/// So many blocks are given back until it is decided again what to keep; a long one counts for each of its megabytes.
/// To claim what was given back costs half a millisecond for each: in steady states that must be seldom.
const PERIOD: usize = 1 << 16;
/// Chunks: what a signal interrupts is done again, in halves, and of an attempt that fails then some is left claimed.
const CLAIMED_AT_ONCE: usize = 8;

impl Arena {
    /// The arena of one of so many ranks, which begins at `begin`, and of which nothing is used.
    pub(crate) fn new(segment: &'static Segment, begin: usize, ranks: usize) -> Self {
        let buddies = Buddies::new(segment.windows().of_an_arena());
        Self {
            segment,
            begin,
            buddies,
            beginning: 0,
            claimed: 0,
            used: 0,
            lent: 0,
            peak: 0,
            peak_before: 0,
            peak_ever: 0,
            decide_at: PERIOD,
            resting: VecDeque::new(),
            resting_bytes: 0,
            most_resting: round_bytes(ranks),
            read: 0,
            ever_used: 0,
        }
    }

    /// A block of at least `bytes` bytes, aligned to 128. Its contents are what its last user left, or zeroes.
    ///
    /// # Errors
    /// [`ErrorClass::NoMem`] if the node, the arena or the address space has no more memory.
    pub fn take(&mut self, bytes: usize) -> Result<Block> {
        let size = size(bytes);
        match self.buddies.take_again(size) {
            // What was split off a block may lie where nothing was claimed.
            Some(place) if self.is_beyond(place, size) => self.take_beyond(place, size),
            Some(place) => Ok(self.taken(place, 1 << size)),
            None => self.take_anew(bytes, size),
        }
    }

    /// As [`Arena::give`], of a block that peers have read. Who writes there soon takes its lines out of their caches
    /// one by one; so it rests until as much has been given back after it as those hold.
    pub fn give_read(&mut self, block: Block) {
        self.read = self.read.saturating_add(block.bytes);
        // What is long leaves those caches by itself.
        if block.bytes < PAGE || block.bytes > self.most_resting / 4 {
            return self.give(block);
        }
        self.resting_bytes += block.bytes;
        self.resting.push_back(block);
        self.end_rests(self.most_resting.min(self.read / READ_PER_RESTING));
    }

    /// Peers read so many bytes elsewhere that could have been in a block: so much more may rest. Else what is read
    /// directly, since blocks that do not rest are slow, is read directly for ever.
    pub fn has_lent(&mut self, bytes: usize) {
        self.read = self.read.saturating_add(bytes);
    }

    /// Takes a block back, for the next that asks for its size. What this arena has not given out is left alone.
    pub fn give(&mut self, block: Block) {
        let place = (block.offset as usize).wrapping_sub(self.begin);
        if block.bytes >= LONG {
            return self.give_long(place, block.bytes);
        }
        let size = block.bytes.trailing_zeros(); // it is a power of two
        if self.buddies.is_full(size) {
            return self.give_after_growth(block, size);
        }
        if self.buddies.give_short(place, size) {
            self.used -= 1 << size;
            if self.buddies.given() >= self.decide_at {
                self.decide();
            }
        }
    }

    /// A block for the program to keep, as [`Arena::take`], until it is [taken home](Arena::take_home).
    ///
    /// # Errors
    /// As [`Arena::take`].
    pub fn lend(&mut self, bytes: usize) -> Result<Block> {
        let peak = self.peak;
        let block = self.take(bytes)?;
        self.peak = peak;
        self.used -= block.bytes;
        self.lent += block.bytes;
        Ok(block)
    }

    /// Length of a block of at least so many bytes; none if no arena has as many.
    pub fn block_bytes(bytes: usize) -> Option<usize> {
        if bytes < LONG { Some(1 << size(bytes)) } else { bytes.checked_next_multiple_of(LONG) }
    }

    /// Takes a block back that was lent, as [`Arena::give`]; what is free beyond what is kept goes back at once.
    pub fn take_home(&mut self, block: Block) {
        let used = self.used;
        self.used += block.bytes;
        self.give(block);
        let is_given = self.used == used;
        self.used = used;
        if is_given {
            self.lent -= block.bytes;
        }
        if self.claimed > self.most_kept() {
            self.buddies.join();
            self.release(self.most_kept());
        }
    }

    /// Length of its range: there may be less memory.
    pub fn range_bytes(&self) -> usize {
        self.segment.windows().arena_bytes()
    }

    /// Bytes that are in use, but for what is [lent](Arena::lend).
    pub fn used_bytes(&self) -> usize {
        self.used
    }

    /// The most bytes that were in use at the same time.
    pub fn peak_bytes(&self) -> usize {
        self.peak.max(self.peak_before).max(self.peak_ever)
    }

    /// How far the arena was ever used: where a block is taken and this grows, whoever uses that block first waits for
    /// the system, for several times as long as a copy takes.
    #[inline]
    pub fn ever_used_bytes(&self) -> usize {
        self.ever_used
    }

    /// Gives all memory that is free back to the system.
    pub fn trim(&mut self) {
        self.end_all_rests();
        self.buddies.join();
        self.release(0);
    }

    /// Gives back what rests, for want of memory: that little rests is from now on as at first.
    fn end_all_rests(&mut self) {
        self.read = 0;
        self.end_rests(0);
    }

    /// Gives back what rests but for so much.
    fn end_rests(&mut self, most: usize) {
        while self.resting_bytes > most
            && let Some(block) = self.resting.pop_front()
        {
            self.resting_bytes -= block.bytes;
            self.give(block);
        }
    }

    #[inline]
    fn taken(&mut self, place: usize, bytes: usize) -> Block {
        self.used += bytes;
        if self.used > self.peak {
            self.peak = self.used;
        }
        self.ever_used = self.ever_used.max(place + bytes);
        Block { offset: (self.begin + place) as u64, bytes }
    }

    #[inline(never)]
    fn take_anew(&mut self, bytes: usize, size: u32) -> Result<Block> {
        if size >= usize::BITS - 1 {
            return Err(shortage(bytes, "no node has as many"));
        }
        let chunks = bytes.div_ceil(LONG).max(1);
        let place = self.find(size, chunks)?;
        if size < CHUNK {
            self.buddies.note_short(place, size);
            return Ok(self.taken(place, 1 << size));
        }
        self.buddies.note_long(place, chunks);
        Ok(self.taken(place, chunks * LONG))
    }

    #[inline(never)]
    fn give_long(&mut self, place: usize, bytes: usize) {
        let bytes = bytes / LONG * LONG;
        if self.buddies.give_long(place, bytes / LONG, size(bytes)) {
            self.used -= bytes;
            if self.buddies.given() >= self.decide_at {
                self.decide();
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn give_after_growth(&mut self, block: Block, size: u32) {
        self.buddies.grow(size);
        self.give(block);
    }

    /// A free place of this size, with memory for that many chunks.
    fn find(&mut self, size: u32, chunks: usize) -> Result<usize> {
        let place = match self.buddies.find(size) {
            Some(place) => place,
            None => self.find_in_another_window(size)?,
        };
        match self.claim(place, size, chunks) {
            Ok(()) => Ok(place),
            Err(error) => {
                self.buddies.put(place, size);
                self.find_claimed(size).ok_or_else(|| refused(chunks * LONG, &error))
            }
        }
    }

    /// A free place for a short block where there is memory: where there is no more to be had.
    fn find_claimed(&mut self, size: u32) -> Option<usize> {
        self.end_all_rests();
        self.buddies.find_claimed(size, self.beginning)
    }

    fn find_in_another_window(&mut self, size: u32) -> Result<usize> {
        let Some(window) = self.buddies.untouched(size) else {
            self.end_all_rests();
            self.buddies.join();
            let used_up = || shortage(1 << size, "the rank's part of the shared segment is used up");
            return self.buddies.find(size).ok_or_else(used_up);
        };
        let (place, length) = Windows::extent(window);
        // While this can still be said: whoever uses a block cannot do without it.
        match self.segment.region((self.begin + place) as u64, 1 << length) {
            Ok(_) => self.buddies.open(window),
            Err(error) => {
                self.end_all_rests();
                self.buddies.join();
                return self.buddies.find(size).ok_or(error);
            }
        }
        Ok(self.buddies.find(size).expect("the window is large enough"))
    }

    /// Whether a short block lies in the first chunk where nothing was claimed.
    #[inline]
    fn is_beyond(&self, place: usize, size: u32) -> bool {
        let last = place + (1 << size) - 1;
        last.wrapping_sub(self.beginning) < LONG - self.beginning
    }

    #[cold]
    fn take_beyond(&mut self, place: usize, size: u32) -> Result<Block> {
        match self.claim_beginning(place + (1 << size)) {
            Ok(()) => Ok(self.taken(place, 1 << size)),
            Err(error) => {
                self.buddies.give_short(place, size);
                let place = self.find_claimed(size).ok_or_else(|| refused(1 << size, &error))?;
                self.buddies.note_short(place, size);
                Ok(self.taken(place, 1 << size))
            }
        }
    }

    /// Sees to it that there is memory for the first chunk, as far as `end`.
    fn claim_beginning(&mut self, end: usize) -> io::Result<()> {
        let end = end.next_multiple_of(PIECE);
        let missing = end.saturating_sub(self.beginning);
        if missing != 0 {
            self.segment.reserve(self.begin + self.beginning, missing)?;
            self.claimed += missing;
            self.beginning += missing;
            self.buddies.claim_first();
        }
        Ok(())
    }

    /// Sees to it that there is memory for a short block, or for some chunks.
    fn claim(&mut self, place: usize, size: u32, chunks: usize) -> io::Result<()> {
        if place < LONG {
            self.claim_beginning(if size < CHUNK { place + (1 << size) } else { LONG })?;
        }
        let mut has_tried = false;
        while let Some(missing) = self.buddies.unclaimed(place, chunks) {
            let missing = missing.start..missing.end.min(missing.start + CLAIMED_AT_ONCE);
            let (offset, bytes) = self.extent(&missing);
            match self.segment.reserve(offset, bytes) {
                Ok(()) => {
                    self.claimed += bytes;
                    self.buddies.claim(missing, true);
                }
                Err(error) if has_tried => return Err(error),
                Err(_) => {
                    has_tried = true;
                    self.trim();
                }
            }
        }
        Ok(())
    }

    /// Decides how much free memory to keep.
    #[cold]
    fn decide(&mut self) {
        let most = self.most_kept();
        if self.claimed > most {
            self.buddies.join();
            self.release(most);
        }
        self.peak_ever = self.peak_bytes();
        (self.peak_before, self.peak) = (self.peak, self.used);
        self.decide_at = self.buddies.given() + PERIOD.max(self.buddies.count());
    }

    /// So much memory may be claimed after blocks were given back.
    fn most_kept(&self) -> usize {
        2 * self.peak.max(self.peak_before) + KEPT + self.lent
    }

    /// Gives free memory back until no more than `most` is claimed.
    fn release(&mut self, most: usize) {
        for idle in self.buddies.idle() {
            let too_many = self.claimed.saturating_sub(most).div_ceil(LONG);
            let idle = idle.start.max(idle.end.saturating_sub(too_many))..idle.end;
            let (offset, bytes) = self.extent(&idle);
            if idle.is_empty() || self.segment.clear(offset, bytes).is_err() {
                return;
            }
            let unclaimed = if idle.start == 0 { LONG - std::mem::take(&mut self.beginning) } else { 0 };
            self.claimed -= bytes - unclaimed;
            self.ever_used = self.ever_used.min(idle.start * LONG);
            self.buddies.claim(idle, false);
        }
    }

    /// Offset and length of some chunks.
    fn extent(&self, chunks: &Range<usize>) -> (usize, usize) {
        (self.begin + chunks.start * LONG, chunks.len() * LONG)
    }
}

/// The size, as a logarithm, of the smallest block with so many bytes.
#[inline]
fn size(bytes: usize) -> u32 {
    usize::BITS - (bytes.saturating_sub(1) | ((1 << SMALLEST) - 1)).leading_zeros()
}

#[cold]
fn shortage(bytes: usize, why: &str) -> Error {
    Error::new(ErrorClass::NoMem, format!("{bytes} bytes of shared memory are not to be had: {why}"))
}

#[cold]
fn refused(bytes: usize, error: &io::Error) -> Error {
    shortage(bytes, &format!("the system refused: {error}"))
}

#[cfg(all(test, not(loom)))]
mod tests;
