//! The moves of a machine that nothing is known about.

use super::portable::{PORTABLE, copy};
use super::value::{Block, Registers, Word};
use super::{Body, Next};

/// By preference.
pub const BODIES: &[Body] = &[PORTABLE];

/// Moves `BYTES` bytes.
///
/// # Safety
/// As [`copy`](crate::copy::copy).
#[inline]
pub unsafe fn word<const BYTES: usize>(dst: *mut u8, src: *const u8) {
    // SAFETY: the caller's promise.
    unsafe { copy(dst, src, BYTES, Next::Soon) };
}

/// As [`word`], `to` bytes behind `dst` and `from` bytes behind `src`.
///
/// # Safety
/// As [`word`], for these places.
#[inline]
pub unsafe fn word_at<const BYTES: usize>(dst: *mut u8, to: isize, src: *const u8, from: isize) {
    // SAFETY: the caller's promise.
    unsafe { word::<BYTES>(dst.wrapping_offset(to), src.wrapping_offset(from)) };
}

/// Moves `bytes` bytes, at least `BYTES` and at most twice as many, as if all were read before the first is written.
///
/// # Safety
/// As [`copy`](crate::copy::copy).
#[inline]
pub unsafe fn ends<const BYTES: usize>(dst: *mut u8, src: *const u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { copy(dst, src, bytes, Next::Soon) };
}

macro_rules! words {
    ($($word:ty)*) => {$(
        impl Word for $word {
            unsafe fn load(src: *const u8, at: usize) -> Self {
                let mut bytes = [0; size_of::<Self>()];
                // SAFETY: the caller's promise; the target is as long.
                unsafe { copy(bytes.as_mut_ptr(), src.wrapping_add(at), bytes.len(), Next::Soon) };
                Self::from_ne_bytes(bytes)
            }

            unsafe fn store(dst: *mut u8, at: usize, word: Self) {
                let bytes = word.to_ne_bytes();
                // SAFETY: the caller's promise; the source is as long.
                unsafe { copy(dst.wrapping_add(at), bytes.as_ptr(), bytes.len(), Next::Soon) };
            }
        }
    )*};
}

words!(u8 u16 u32 u64);

/// What every machine has.
#[derive(Debug)]
pub struct Common;

/// There are no wider ones.
pub type Wide = Common;
/// As [`Wide`].
pub type Widest = Common;

impl Registers for Common {
    unsafe fn load(src: *const u8, at: usize) -> Block {
        let mut block = [0; size_of::<Block>()];
        // SAFETY: the caller's promise; the target is as long.
        unsafe { copy(block.as_mut_ptr(), src.wrapping_add(at), block.len(), Next::Soon) };
        block
    }

    unsafe fn store(dst: *mut u8, at: usize, block: Block) {
        // SAFETY: the caller's promise; the source is as long.
        unsafe { copy(dst.wrapping_add(at), block.as_ptr(), block.len(), Next::Soon) };
    }
}
