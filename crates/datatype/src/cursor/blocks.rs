//! Moving many blocks of one size: the inner loops.
//!
//! The block size is a constant wherever it is small, so that a block is a load and a store or two.

use oxmpi_mem::copy::{Next, copy, ends, word, word_at};

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
            8 if !PACK && self.crowds_cache() => unsafe { self.pairs::<PACK, 4>(bytes, count) },
            // SAFETY: as above.
            16 if !PACK && self.crowds_cache() => unsafe { self.pairs::<PACK, 8>(bytes, count) },
            // SAFETY: as above.
            1 => unsafe { self.words::<PACK, 1>(count) },
            // SAFETY: as above.
            2 => unsafe { self.words::<PACK, 2>(count) },
            // SAFETY: as above.
            3 => unsafe { self.pairs::<PACK, 2>(3, count) },
            // SAFETY: as above.
            4 => unsafe { self.words::<PACK, 4>(count) },
            // SAFETY: as above.
            5..8 => unsafe { self.pairs::<PACK, 4>(bytes, count) },
            // SAFETY: as above.
            8 => unsafe { self.words::<PACK, 8>(count) },
            // SAFETY: as above.
            9..16 => unsafe { self.pairs::<PACK, 8>(bytes, count) },
            // SAFETY: as above.
            16 => unsafe { self.words::<PACK, 16>(count) },
            // SAFETY: as above.
            24 => unsafe { self.pairs::<PACK, 16>(24, count) },
            // SAFETY: as above.
            17..=32 => unsafe { self.pairs::<PACK, 16>(bytes, count) },
            // SAFETY: as above.
            33..=64 => unsafe { self.pairs::<PACK, 32>(bytes, count) },
            // SAFETY: as above.
            65..=128 => unsafe { self.pairs::<PACK, 64>(bytes, count) },
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
    /// As [`Blocks::transfer`], for blocks of `BYTES` bytes.
    unsafe fn words<const PACK: bool, const BYTES: usize>(self, count: u64) {
        // SAFETY: the caller's promise.
        self.each::<PACK>(count, |dst, to, src, from| unsafe { word_at::<BYTES>(dst, to, src, from) });
    }

    /// Moves blocks as two ends, which may have bytes in common.
    ///
    /// # Safety
    /// As [`Blocks::transfer`], for blocks of one to two times `BYTES` bytes.
    #[inline]
    unsafe fn pairs<const PACK: bool, const BYTES: usize>(self, block_bytes: usize, count: u64) {
        self.each::<PACK>(count, |dst, to, src, from| {
            // SAFETY: the caller's promise.
            unsafe { ends::<BYTES>(dst.wrapping_offset(to), src.wrapping_offset(from), block_bytes) };
        });
    }

    /// # Safety
    /// As [`Blocks::transfer`].
    unsafe fn any<const PACK: bool>(self, block_bytes: usize, count: u64) {
        self.each::<PACK>(count, |dst, to, src, from| {
            let (dst, src) = (dst.wrapping_offset(to), src.wrapping_offset(from));
            // SAFETY: the caller's promise.
            unsafe { copy(dst, src, block_bytes, Next::Soon) };
        });
    }

    /// Calls `move_one` with where each block goes to and where it comes from: a place, and the distance from there.
    #[inline(always)]
    fn each<const PACK: bool>(self, count: u64, move_one: impl Fn(*mut u8, isize, *const u8, isize)) {
        let (mut dst, mut src) = direct::<PACK>(self.memory, self.packed);
        let (memory_stride, packed_stride) = (self.stride as isize, self.packed_stride as isize);
        let (to, from) = if PACK { (packed_stride, memory_stride) } else { (memory_stride, packed_stride) };
        for _ in 0..count / 4 {
            (0..4).for_each(|index| move_one(dst, to.wrapping_mul(index), src, from.wrapping_mul(index)));
            (dst, src) = (dst.wrapping_offset(to.wrapping_mul(4)), src.wrapping_offset(from.wrapping_mul(4)));
        }
        for index in 0..(count % 4) as isize {
            move_one(dst, to.wrapping_mul(index), src, from.wrapping_mul(index));
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
    let bytes = block_bytes as usize;
    match bytes {
        // SAFETY: the caller's promise; here and below, for each of the blocks.
        4 => gather_each::<PACK>(runs, bytes, origin, packed, |dst, src| unsafe { word::<4>(dst, src) }),
        // SAFETY: as above.
        8 => gather_each::<PACK>(runs, bytes, origin, packed, |dst, src| unsafe { word::<8>(dst, src) }),
        // SAFETY: as above.
        16 => gather_each::<PACK>(runs, bytes, origin, packed, |dst, src| unsafe { word::<16>(dst, src) }),
        24 => gather_each::<PACK>(runs, bytes, origin, packed, |dst, src| {
            // SAFETY: as above.
            unsafe { ends::<16>(dst, src, 24) }
        }),
        _ => gather_each::<PACK>(runs, bytes, origin, packed, |dst, src| {
            // SAFETY: as above.
            unsafe { copy(dst, src, bytes, Next::Soon) }
        }),
    }
}

/// Calls `move_one` with where each of `runs` goes to and where it comes from.
#[inline(always)]
fn gather_each<const PACK: bool>(
    runs: &[Run],
    block_bytes: usize,
    origin: *mut u8,
    packed: *mut u8,
    move_one: impl Fn(*mut u8, *const u8),
) {
    for (index, run) in runs.iter().enumerate() {
        let packed = packed.wrapping_add(index * block_bytes);
        let (dst, src) = direct::<PACK>(at(origin, run.displacement), packed);
        move_one(dst, src);
    }
}

/// Packs or unpacks one block.
///
/// # Safety
/// As [`Blocks::transfer`].
#[inline]
pub(super) unsafe fn move_block<const PACK: bool>(memory: *mut u8, packed: *mut u8, bytes: usize) {
    let (dst, src) = direct::<PACK>(memory, packed);
    // SAFETY: the caller's promise.
    unsafe { copy(dst, src, bytes, Next::Soon) };
}

/// Where bytes go to and where they come from.
#[inline(always)]
fn direct<const PACK: bool>(memory: *mut u8, packed: *mut u8) -> (*mut u8, *const u8) {
    if PACK { (packed, memory) } else { (memory, packed) }
}
