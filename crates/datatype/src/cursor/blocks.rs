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
        let bytes = block_bytes as usize;
        match block_bytes {
            // SAFETY: the caller's promise; here and below the words make up one block.
            8 if !PACK && self.crowds_cache() => unsafe { self.overlapping::<PACK, u32>(bytes, count) },
            // SAFETY: as above.
            16 if !PACK && self.crowds_cache() => unsafe { self.overlapping::<PACK, u64>(bytes, count) },
            // SAFETY: as above.
            1 => unsafe { self.words::<PACK, u8>(count) },
            // SAFETY: as above.
            2 => unsafe { self.words::<PACK, u16>(count) },
            // SAFETY: as above.
            3 => unsafe { self.overlapping::<PACK, u16>(bytes, count) },
            // SAFETY: as above.
            4 => unsafe { self.words::<PACK, u32>(count) },
            // SAFETY: as above.
            5..8 => unsafe { self.overlapping::<PACK, u32>(bytes, count) },
            // SAFETY: as above.
            8 => unsafe { self.words::<PACK, u64>(count) },
            // SAFETY: as above.
            12 => unsafe { self.words::<PACK, [u32; 3]>(count) },
            // SAFETY: as above.
            9..16 => unsafe { self.overlapping::<PACK, u64>(bytes, count) },
            // SAFETY: as above.
            16 => unsafe { self.words::<PACK, u128>(count) },
            // SAFETY: as above.
            24 => unsafe { self.words::<PACK, [u64; 3]>(count) },
            // SAFETY: as above.
            32 => unsafe { self.words::<PACK, [u128; 2]>(count) },
            // SAFETY: as above.
            17..32 => unsafe { self.overlapping::<PACK, u128>(bytes, count) },
            // SAFETY: as above.
            33..=64 => unsafe { self.overlapping::<PACK, [u128; 2]>(bytes, count) },
            // SAFETY: as above.
            65..=128 => unsafe { self.overlapping::<PACK, [u128; 4]>(bytes, count) },
            // SAFETY: as above.
            _ => unsafe { self.any::<PACK>(bytes, count) },
        }
    }

    /// Whether the blocks in memory share few sets of the first cache, as the faces of a cube of 64 doubles do.
    /// Two stores of half a block each then take half the time of one (and elsewhere a quarter more).
    fn crowds_cache(&self) -> bool {
        self.stride % 512 == 0
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
        // SAFETY: the caller's promise.
        unsafe { move_word::<PACK, Word>(self.memory, self.packed) };
        (self.memory, self.packed) = (at(self.memory, self.stride), at(self.packed, self.packed_stride));
    }

    /// Moves blocks as two words, the first and the last one, which have bytes in common.
    ///
    /// # Safety
    /// As [`Blocks::transfer`], for blocks of one to two sizes of `Word`.
    #[inline(never)] // with a constant size, two halves would be made one again
    unsafe fn overlapping<const PACK: bool, Word>(mut self, block_bytes: usize, count: u64) {
        let last = (block_bytes - size_of::<Word>()) as i64;
        for _ in 0..count {
            // SAFETY: the caller's promise.
            unsafe { move_word::<PACK, Word>(self.memory, self.packed) };
            // SAFETY: as above.
            unsafe { move_word::<PACK, Word>(at(self.memory, last), at(self.packed, last)) };
            (self.memory, self.packed) = (at(self.memory, self.stride), at(self.packed, self.packed_stride));
        }
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
    match block_bytes {
        // SAFETY: the caller's promise; here and below the word is as long as a block.
        4 => unsafe { gather_words::<PACK, u32>(runs, origin, packed) },
        // SAFETY: as above.
        8 => unsafe { gather_words::<PACK, u64>(runs, origin, packed) },
        // SAFETY: as above.
        16 => unsafe { gather_words::<PACK, u128>(runs, origin, packed) },
        // SAFETY: as above.
        24 => unsafe { gather_words::<PACK, [u64; 3]>(runs, origin, packed) },
        _ => {
            for (index, run) in runs.iter().enumerate() {
                let packed = at(packed, (index as u64 * block_bytes) as i64);
                // SAFETY: the caller's promise.
                unsafe { move_block::<PACK>(at(origin, run.displacement), packed, block_bytes as usize) };
            }
        }
    }
}

/// # Safety
/// As [`gather`], for blocks of the size of `Word`.
unsafe fn gather_words<const PACK: bool, Word>(runs: &[Run], origin: *mut u8, packed: *mut u8) {
    for (index, run) in runs.iter().enumerate() {
        let packed = packed.wrapping_add(index * size_of::<Word>());
        // SAFETY: the caller's promise.
        unsafe { move_word::<PACK, Word>(at(origin, run.displacement), packed) };
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

/// Packs or unpacks a block of the size of `Word`.
///
/// # Safety
/// As [`Blocks::transfer`].
#[inline(always)]
unsafe fn move_word<const PACK: bool, Word>(memory: *mut u8, packed: *mut u8) {
    let (from, into) = if PACK { (memory, packed) } else { (packed, memory) };
    // SAFETY: the caller's promise.
    let word = unsafe { from.cast::<Word>().read_unaligned() };
    // SAFETY: as above.
    unsafe { into.cast::<Word>().write_unaligned(word) };
}
