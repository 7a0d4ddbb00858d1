//! The loops that combine vectors in memory.
//!
//! Elements are loaded in blocks of as many as fill a few vector registers, combined, and stored. Loads of a
//! block come before its stores, so a compiler may use vector instructions without asking whether the result
//! overlaps an operand, and in place is as fast as out of place. Nothing has to be aligned. A peer or the user may
//! write to any operand meanwhile: what they write is combined or is not, by bytes, and nothing else happens.

use std::mem::transmute_copy;

use oxmpi_mem::copy::{Block, Common, Plain, Registers};

#[cfg(target_arch = "x86_64")]
use crate::instructions::Instructions;
use crate::operation::Operation;

/// `into = left op right` for `bytes` bytes of each. `into` is `left` or `right`, or overlaps neither; else
/// the result is unspecified.
///
/// # Panics
/// If `bytes` is not a multiple of the size of an element.
///
/// # Safety
/// - `left` and `right` are valid for reads, and `into` for writes, of `bytes` bytes, and no Rust reference to any of
///   them is used meanwhile;
/// - the processor has the instructions that the kernel was built for.
pub(crate) type Kernel = unsafe fn(left: *const u8, right: *const u8, into: *mut u8, bytes: usize);

/// The kernel that combines `LANES` elements at once, built for the [instructions](Instructions) that are chosen.
/// With one lane vector instructions are no help, and every processor gets the same.
pub(crate) fn select<T: Plain, O: Operation<T>, const LANES: usize>() -> Kernel {
    #[cfg(target_arch = "x86_64")]
    if const { LANES > 1 } {
        match Instructions::chosen() {
            Instructions::Avx512 => return elementwise_avx512::<T, O, LANES>,
            Instructions::Avx2 => return elementwise_avx2::<T, O, LANES>,
            Instructions::Common => {}
        }
    }
    elementwise::<Common, T, O, LANES>
}

/// [`elementwise`], built for more instructions.
#[cfg(target_arch = "x86_64")]
macro_rules! elementwise_with {
    ($name:ident, $registers:ident, $features:literal) => {
        /// # Safety
        /// As [`Kernel`].
        #[target_feature(enable = $features)]
        unsafe fn $name<T: Plain, O: Operation<T>, const LANES: usize>(
            left: *const u8,
            right: *const u8,
            into: *mut u8,
            bytes: usize,
        ) {
            // SAFETY: the caller's promise.
            unsafe { elementwise::<oxmpi_mem::copy::$registers, T, O, LANES>(left, right, into, bytes) };
        }
    };
}

#[cfg(target_arch = "x86_64")]
elementwise_with!(elementwise_avx512, Widest, "avx512f,avx512bw,avx512dq,avx512vl");
#[cfg(target_arch = "x86_64")]
elementwise_with!(elementwise_avx2, Wide, "avx2");

/// # Safety
/// As [`Kernel`].
#[inline(always)]
unsafe fn elementwise<R: Registers, T: Plain, O: Operation<T>, const LANES: usize>(
    left: *const u8,
    right: *const u8,
    into: *mut u8,
    bytes: usize,
) {
    assert!(bytes.is_multiple_of(size_of::<T>()), "only whole elements are combined");
    let mut at = 0;
    // Where it is known not to be there, none of it is compiled.
    if const { LANES > 1 } {
        let blocks = bytes - bytes % size_of::<Block>();
        while at < blocks {
            // SAFETY: the caller's promise; this block ends by `bytes`.
            unsafe { combine_block::<R, T, O, LANES>(left, right, into, at) };
            at += size_of::<Block>();
        }
    }
    while at < bytes {
        // SAFETY: the caller's promise; what is left has whole elements.
        let a = unsafe { R::load_value(left, at) };
        // SAFETY: as above.
        let b = unsafe { R::load_value(right, at) };
        // SAFETY: as above.
        unsafe { R::store_value(into, at, O::combine(a, b)) };
        at += size_of::<T>();
    }
}

/// Combines the `LANES` elements that lie `at` bytes behind each pointer.
///
/// # Safety
/// As [`Kernel`], for these elements.
#[inline(always)]
unsafe fn combine_block<R: Registers, T: Plain, O: Operation<T>, const LANES: usize>(
    left: *const u8,
    right: *const u8,
    into: *mut u8,
    at: usize,
) {
    // SAFETY: the caller's promise.
    let left = unsafe { R::load(left, at) };
    // SAFETY: as above.
    let right = unsafe { R::load(right, at) };
    let (left, right) = (elements::<T, LANES>(&left), elements::<T, LANES>(&right));
    let mut result = left;
    let mut lane = 0;
    while lane < LANES {
        result[lane] = O::combine(left[lane], right[lane]);
        lane += 1;
    }
    // SAFETY: all bytes of the elements have a value, and they are as many.
    let result = unsafe { transmute_copy::<[T; LANES], Block>(&result) };
    // SAFETY: the caller's promise.
    unsafe { R::store(into, at, result) };
}

/// The elements that a block is.
#[inline(always)]
fn elements<T: Plain, const LANES: usize>(block: &Block) -> [T; LANES] {
    // SAFETY: any bytes are elements; that there are enough is asserted inside.
    unsafe { transmute_copy::<Block, [T; LANES]>(block) }
}
