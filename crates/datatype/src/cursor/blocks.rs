//! Moving many blocks of one size: the inner loops.
//!
//! The block size is a constant wherever it is small, so that a block is a load and a store or two.

use std::ptr;

use super::at;
use crate::layout::Run;

/// Blocks at equal distances, in memory and where they are packed.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    pub memory: *mut u8,
    /// Bytes from one block in memory to the next.
    pub stride: i64,
    pub packed: *mut u8,
    /// Bytes from one packed block to the next.
    pub packed_stride: i64,
}

impl Blocks {
    /// The blocks behind the first `count`.
    #[inline]
    pub fn after(&self, count: u64) -> Self {
        self.shifted((count as i64).wrapping_mul(self.stride), count * self.packed_stride as u64)
    }

    /// The blocks so many bytes further.
    #[inline]
    pub fn shifted(&self, displacement: i64, packed_bytes: u64) -> Self {
        let (memory, packed) = (at(self.memory, displacement), at(self.packed, packed_bytes as i64));
        Self { memory, packed, ..*self }
    }

    /// Packs or unpacks the first `count` blocks, each of `block_bytes` bytes.
    ///
    /// # Safety
    /// These blocks are valid for reads where they come from and for writes where they go to.
    pub unsafe fn transfer<const PACK: bool>(self, block_bytes: u64, count: u64) {
        macro_rules! by_size {
            ($($bytes:literal)*) => {
                match block_bytes {
                    $(
                        // SAFETY: the caller's promise; the array is as long as a block.
                        $bytes => unsafe { self.words::<PACK, [u8; $bytes]>(count) },
                    )*
                    _ => {
                        // SAFETY: the caller's promise.
                        unsafe { self.any::<PACK>(block_bytes as usize, count) }
                    }
                }
            };
        }
        by_size!(1 2 3 4 5 6 7 8 9 10 11 12 14 16 20 24 28 32 40 48 56 64 80 96 112 128);
    }

    /// # Safety
    /// As [`Blocks::transfer`], for blocks of the size of `Word`.
    #[inline]
    unsafe fn words<const PACK: bool, Word>(mut self, count: u64) {
        for _ in 0..count / 4 {
            // SAFETY: the caller's promise, for each of the four.
            unsafe { self.word::<PACK, Word>() };
            // SAFETY: as above.
            unsafe { self.word::<PACK, Word>() };
            // SAFETY: as above.
            unsafe { self.word::<PACK, Word>() };
            // SAFETY: as above.
            unsafe { self.word::<PACK, Word>() };
        }
        for _ in 0..count % 4 {
            // SAFETY: as above.
            unsafe { self.word::<PACK, Word>() };
        }
    }

    /// Moves one block and goes on to the next.
    ///
    /// # Safety
    /// As [`Blocks::words`].
    #[inline(always)]
    unsafe fn word<const PACK: bool, Word>(&mut self) {
        let (from, into) = if PACK { (self.memory, self.packed) } else { (self.packed, self.memory) };
        // SAFETY: the caller's promise.
        let word = unsafe { from.cast::<Word>().read_unaligned() };
        // SAFETY: as above.
        unsafe { into.cast::<Word>().write_unaligned(word) };
        (self.memory, self.packed) = (at(self.memory, self.stride), at(self.packed, self.packed_stride));
    }

    /// # Safety
    /// As [`Blocks::transfer`].
    unsafe fn any<const PACK: bool>(mut self, block_bytes: usize, count: u64) {
        for _ in 0..count {
            // SAFETY: the caller's promise.
            unsafe { move_block::<PACK>(self.memory, self.packed, block_bytes) };
            self = self.after(1);
        }
    }
}

/// Packs or unpacks `runs` of `block_bytes` bytes each, which lie around `origin`, one after the other.
///
/// # Safety
/// As [`Blocks::transfer`].
pub(super) unsafe fn gather<const PACK: bool>(
    runs: &[Run],
    block_bytes: u64,
    origin: *mut u8,
    packed: *mut u8,
) {
    macro_rules! by_size {
        ($($bytes:literal)*) => {
            match block_bytes {
                $(
                    // SAFETY: the caller's promise; the array is as long as a block.
                    $bytes => unsafe { gather_words::<PACK, [u8; $bytes]>(runs, origin, packed) },
                )*
                _ => {
                    let mut packed = packed;
                    for run in runs {
                        let memory = at(origin, run.displacement);
                        // SAFETY: the caller's promise.
                        unsafe { move_block::<PACK>(memory, packed, block_bytes as usize) };
                        packed = at(packed, block_bytes as i64);
                    }
                }
            }
        };
    }
    by_size!(1 2 4 8 12 16 24 32 48 64);
}

/// # Safety
/// As [`gather`], for blocks of the size of `Word`.
unsafe fn gather_words<const PACK: bool, Word>(runs: &[Run], origin: *mut u8, packed: *mut u8) {
    let mut packed = packed;
    for run in runs {
        let memory = at(origin, run.displacement);
        let mut block = Blocks { memory, stride: 0, packed, packed_stride: size_of::<Word>() as i64 };
        // SAFETY: the caller's promise.
        unsafe { block.word::<PACK, Word>() };
        packed = block.packed;
    }
}

/// Packs or unpacks one block.
///
/// # Safety
/// As [`Blocks::transfer`].
#[inline]
pub(super) unsafe fn move_block<const PACK: bool>(memory: *mut u8, packed: *mut u8, bytes: usize) {
    let (from, into) = if PACK { (memory, packed) } else { (packed, memory) };
    // SAFETY: the caller's promise.
    unsafe { ptr::copy(from, into, bytes) };
}
