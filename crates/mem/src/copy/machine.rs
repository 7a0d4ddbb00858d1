//! The moves of a machine that nothing is known about.

use super::portable::{PORTABLE, copy};
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
