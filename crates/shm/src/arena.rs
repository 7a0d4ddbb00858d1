//! A rank's own part of the segment, given out in blocks.
//!
//! Only its rank takes and gives blocks, so the bookkeeping is private memory; peers learn of a block by its
//! offset. Sizes are rounded up to powers of two, and a block given back serves the next of its size. A block lies
//! in one of the arena's windows, each of which fills up by itself.
//! Blocks of a page and more begin where the buffers of programs do not: allocators put long ones at the beginning of
//! a page or up to 64 bytes behind, and a copy between two ranges that begin at nearly the same place in a page is
//! slow on many processors.
//! Cost: a pop, or a bump; a system call per megabyte of growth.

use oxmpi_base::{Error, ErrorClass, Result};

use crate::Segment;
use crate::layout::Windows;

/// The allocator of one rank's range.
#[derive(Debug)]
pub struct Arena {
    segment: &'static Segment,
    /// The smaller ones first.
    windows: Vec<Growth>,
    free: Vec<Vec<u64>>,
}

/// How far a window is used.
#[derive(Debug)]
struct Growth {
    begin: usize,
    /// First byte never given out.
    next: usize,
    /// First byte not reserved.
    reserved: usize,
    end: usize,
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
pub(crate) const PAGE: usize = 4096;
/// Where in a page a long block begins: as far as can be from where buffers do.
pub(crate) const COLOUR: usize = PAGE / 2;

impl Arena {
    /// The arena that begins at `begin`, of which nothing is used.
    pub(crate) fn new(segment: &'static Segment, begin: usize) -> Self {
        let windows = (0..segment.windows().of_an_arena()).map(|window| {
            let (place, bits) = Windows::extent(window);
            let begin = begin + place;
            Growth { begin, next: begin, reserved: begin, end: begin + (1 << bits) }
        });
        Self { segment, windows: windows.collect(), free: Vec::new() }
    }

    /// A block of at least `bytes` bytes, aligned to 128. Its contents are what its last user left.
    ///
    /// # Errors
    /// [`ErrorClass::NoMem`] if the node, the arena or the address space has no more memory.
    pub fn take(&mut self, bytes: usize) -> Result<Block> {
        let bytes = bytes.max(SMALLEST).checked_next_power_of_two().unwrap_or(usize::MAX);
        if let Some(offset) = self.free.get_mut(class(bytes)).and_then(Vec::pop) {
            return Ok(Block { offset, bytes });
        }
        let place = |window: &Growth| if bytes < PAGE { window.next } else { coloured(window.next) };
        let has_room = |window: &&mut Growth| bytes <= window.end.saturating_sub(place(window));
        let Some(window) = self.windows.iter_mut().find(has_room) else {
            return Err(shortage(bytes, "the rank's part of the shared segment is used up"));
        };
        let offset = place(window);
        // While this can still be said: whoever uses the block cannot do without it.
        self.segment.region(offset as u64, bytes)?;
        if offset + bytes > window.reserved {
            let growth =
                (offset + bytes - window.reserved).next_multiple_of(GROWTH).min(window.end - window.reserved);
            self.segment
                .reserve(window.reserved, growth)
                .map_err(|error| shortage(growth, &format!("the system refused: {error}")))?;
            window.reserved += growth;
        }
        window.next = offset + bytes;
        Ok(Block { offset: offset as u64, bytes })
    }

    /// Bytes that were ever given out; those given back and out again count once.
    pub fn peak_bytes(&self) -> usize {
        self.windows.iter().map(|window| window.next - window.begin).sum()
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

/// The first coloured offset from `offset` on.
pub(crate) fn coloured(offset: usize) -> usize {
    offset + COLOUR.wrapping_sub(offset) % PAGE
}

fn class(bytes: usize) -> usize {
    bytes.trailing_zeros() as usize
}

#[cold]
fn shortage(bytes: usize, why: &str) -> Error {
    Error::new(ErrorClass::NoMem, format!("{bytes} bytes of shared memory are not to be had: {why}"))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::layout::Layout;

    /// An arena of 4 MiB.
    fn arena() -> Arena {
        let layout = Layout::with_arenas(1, 22).expect("a possible size");
        let segment = Box::leak(Box::new(Segment::create(&layout).expect("a segment")));
        Arena::new(segment, layout.arena(0))
    }

    #[test]
    fn a_block_given_back_is_given_out_again() {
        let mut arena = arena();
        let block = arena.take(1000).expect("room");
        assert_eq!(block.bytes, 1024);
        let other = arena.take(1000).expect("room");
        assert_ne!(block.offset, other.offset);
        arena.give(block);
        assert_eq!(arena.take(600).expect("room"), block);
    }

    #[test]
    fn long_blocks_begin_far_from_where_buffers_do() {
        let mut arena = arena();
        for bytes in [100, 4096, 65536, 128, 8192, 4096] {
            let block = arena.take(bytes).expect("room");
            assert!(bytes < PAGE || block.offset as usize % PAGE == COLOUR, "{block:?}");
        }
    }

    #[test]
    fn every_block_lies_in_one_window_and_an_exhausted_arena_says_so() {
        let mut arena = arena();
        for bytes in [128, 1 << 19, 1 << 20, 1 << 19] {
            let block = arena.take(bytes).expect("room");
            arena.segment.region(block.offset, block.bytes).expect("it lies in one window");
        }
        for bytes in [4 << 20, 1 << 30, usize::MAX] {
            assert_eq!(arena.take(bytes).expect_err("no room").class(), ErrorClass::NoMem);
        }
        assert!(arena.take(1 << 18).is_ok(), "there is room for less");
    }
}
