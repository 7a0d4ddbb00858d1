//! The loops that combine vectors in memory.
//!
//! Elements are loaded in blocks of as many as fill a few vector registers, combined, and stored. Loads of a
//! block come before its stores, so a compiler may use vector instructions without asking whether the result
//! overlaps an operand, and in place is as fast as out of place. Nothing has to be aligned.

use std::array;

use crate::operation::Operation;

/// `into = left op right` for `bytes` bytes of each. `into` is `left` or `right`, or overlaps neither; else
/// the result is unspecified.
///
/// # Panics
/// If `bytes` is not a multiple of the size of an element.
///
/// # Safety
/// - `left` and `right` are valid for reads, and `into` for writes, of `bytes` bytes;
/// - the processor has the instructions that the kernel was built for.
pub(crate) type Kernel = unsafe fn(left: *const u8, right: *const u8, into: *mut u8, bytes: usize);

/// The kernel that combines `LANES` elements at once, built for the best instructions of this processor.
/// With one lane vector instructions are no help, and every processor gets the same.
pub(crate) fn select<T: Copy, O: Operation<T>, const LANES: usize>() -> Kernel {
    #[cfg(target_arch = "x86_64")]
    if LANES > 1 && std::arch::is_x86_feature_detected!("avx2") {
        return elementwise_avx2::<T, O, LANES>;
    }
    elementwise::<T, O, LANES>
}

/// # Safety
/// As [`Kernel`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn elementwise_avx2<T: Copy, O: Operation<T>, const LANES: usize>(
    left: *const u8,
    right: *const u8,
    into: *mut u8,
    bytes: usize,
) {
    // SAFETY: the caller's promise.
    unsafe { elementwise::<T, O, LANES>(left, right, into, bytes) };
}

/// # Safety
/// As [`Kernel`].
#[inline(always)]
unsafe fn elementwise<T: Copy, O: Operation<T>, const LANES: usize>(
    left: *const u8,
    right: *const u8,
    into: *mut u8,
    bytes: usize,
) {
    assert!(bytes.is_multiple_of(size_of::<T>()), "only whole elements are combined");
    let tail = bytes % size_of::<[T; LANES]>();
    let mut offset = 0;
    while offset < bytes - tail {
        let (left, right) = (left.wrapping_add(offset), right.wrapping_add(offset));
        // SAFETY: the caller's promise; this block ends before the tail.
        unsafe { combine_block::<T, O, LANES>(left, right, into.wrapping_add(offset)) };
        offset += size_of::<[T; LANES]>();
    }
    while offset < bytes {
        let (left, right) = (left.wrapping_add(offset), right.wrapping_add(offset));
        // SAFETY: the caller's promise; the tail has whole elements.
        unsafe { combine_block::<T, O, 1>(left, right, into.wrapping_add(offset)) };
        offset += size_of::<T>();
    }
}

/// # Safety
/// As [`Kernel`], for `LANES` elements.
#[inline(always)]
unsafe fn combine_block<T: Copy, O: Operation<T>, const LANES: usize>(
    left: *const u8,
    right: *const u8,
    into: *mut u8,
) {
    // SAFETY: the caller's promise.
    let left = unsafe { left.cast::<[T; LANES]>().read_unaligned() };
    // SAFETY: as above.
    let right = unsafe { right.cast::<[T; LANES]>().read_unaligned() };
    let result: [T; LANES] = array::from_fn(|lane| O::combine(left[lane], right[lane]));
    // SAFETY: as above.
    unsafe { into.cast::<[T; LANES]>().write_unaligned(result) };
}
