//! A rank's own part of the segment, given out in blocks.
//!
//! Only its rank takes and gives blocks, so the bookkeeping is private memory; peers learn of a block by its
//! offset. Sizes are rounded up to powers of two, and a block given back serves the next of its size.
//! Cost: a pop, or a bump; a system call per megabyte of growth.

use oxmpi_base::{Error, ErrorClass, Result};

use crate::Segment;

/// The allocator of one rank's range.
#[derive(Debug)]
pub struct Arena {
    segment: &'static Segment,
    begin: usize,
    /// First byte never given out.
    next: usize,
    /// First byte not reserved.
    reserved: usize,
    end: usize,
    free: Vec<Vec<u64>>,
}

/// A range of the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Offset in the segment.
    pub offset: u64,
    /// Length; a power of two.
    pub bytes: usize,
}

const SMALLEST: usize = 128;
const GROWTH: usize = 1 << 20;

impl Arena {
    pub(crate) fn new(segment: &'static Segment, begin: usize, bytes: usize) -> Self {
        Self { segment, begin, next: begin, reserved: begin, end: begin + bytes, free: Vec::new() }
    }

    /// A block of at least `bytes` bytes, aligned to 128. Its contents are what its last user left.
    ///
    /// # Errors
    /// [`ErrorClass::NoMem`] if the node or the arena has no more memory.
    pub fn take(&mut self, bytes: usize) -> Result<Block> {
        let bytes = bytes.max(SMALLEST).next_power_of_two();
        if let Some(offset) = self.free.get_mut(class(bytes)).and_then(Vec::pop) {
            return Ok(Block { offset, bytes });
        }
        let offset = self.next;
        if bytes > self.end - offset {
            return Err(shortage(bytes, "the rank's part of the shared segment is used up"));
        }
        if offset + bytes > self.reserved {
            let growth =
                (offset + bytes - self.reserved).next_multiple_of(GROWTH).min(self.end - self.reserved);
            self.segment
                .reserve(self.reserved, growth)
                .map_err(|error| shortage(growth, &format!("the system refused: {error}")))?;
            self.reserved += growth;
        }
        self.next += bytes;
        Ok(Block { offset: offset as u64, bytes })
    }

    /// Bytes that were ever given out; those given back and out again count once.
    pub fn peak_bytes(&self) -> usize {
        self.next - self.begin
    }

    /// Takes a block back, for the next that asks for its size.
    pub fn give(&mut self, block: Block) {
        let class = class(block.bytes);
        if self.free.len() <= class {
            self.free.resize_with(class + 1, Vec::new);
        }
        self.free[class].push(block.offset);
    }
}

fn class(bytes: usize) -> usize {
    bytes.trailing_zeros() as usize
}

#[cold]
fn shortage(bytes: usize, why: &str) -> Error {
    Error::new(ErrorClass::NoMem, format!("{bytes} bytes of shared memory are not to be had: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arena(bytes: usize) -> Arena {
        let segment = Box::leak(Box::new(Segment::create(4096 + bytes).expect("a segment")));
        Arena::new(segment, 4096, bytes)
    }

    #[test]
    fn a_block_given_back_is_given_out_again() {
        let mut arena = arena(4 << 20);
        let block = arena.take(1000).expect("room");
        assert_eq!(block.bytes, 1024);
        let other = arena.take(1000).expect("room");
        assert_ne!(block.offset, other.offset);
        arena.give(block);
        assert_eq!(arena.take(600).expect("room"), block);
    }

    #[test]
    fn an_exhausted_arena_says_so() {
        let mut arena = arena(1 << 20);
        assert!(arena.take(1 << 20).is_ok());
        assert_eq!(arena.take(1).expect_err("no room").class(), ErrorClass::NoMem);
    }
}
