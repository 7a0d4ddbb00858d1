//! The copy of more than a few vectors, for any kind of vector.

use std::mem::MaybeUninit;

use crate::copy::Next;

/// A kind of vector register, and how memory moves through it.
///
/// # Safety
/// For all functions: as [`copy`](crate::copy::copy), for the bytes moved.
pub(super) trait Vector {
    /// Bytes of a vector.
    const BYTES: usize;

    /// Moves one vector.
    unsafe fn one(dst: *mut u8, src: *const u8);

    /// Moves four vectors: all are loaded before the first is stored.
    unsafe fn four(dst: *mut u8, src: *const u8);

    /// As `four`, but stores past the caches. `dst` is aligned to a vector.
    unsafe fn stream_four(dst: *mut u8, src: *const u8);

    /// To be called when a copy is over.
    fn finish();

    /// Orders what was streamed before what is stored from now on.
    fn fence();
}

/// The largest block that [`Vector::four`] moves.
const LARGEST_BLOCK: usize = 256;

/// Loads wait for older stores whose addresses have the same lower 12 bits, as long as these are on their way to
/// the cache. Upwards, that happens if `dst` is a little above `src` modulo a page: by less than this.
const ALIAS_BYTES: usize = 1024;
const PAGE: usize = 4096;

/// Below this, streaming is not worth its fence.
const STREAM_FROM_BYTES: usize = 4096;

/// Copies `bytes` bytes, more than four vectors; the two ranges may overlap.
///
/// # Safety
/// As [`copy`](crate::copy::copy); so for all functions here.
#[inline(always)]
pub(super) unsafe fn copy<V: Vector>(dst: *mut u8, src: *const u8, bytes: usize, next: Next) {
    let ahead = dst.addr().wrapping_sub(src.addr());
    if ahead < bytes || ahead.wrapping_neg() < bytes {
        // SAFETY: the caller's promise; so below.
        unsafe { overlapping::<V>(dst, src, bytes) };
    } else if bytes <= 8 * V::BYTES {
        let last = bytes - 4 * V::BYTES;
        // SAFETY: as above.
        unsafe { V::four(dst, src) };
        // SAFETY: as above.
        unsafe { V::four(dst.wrapping_add(last), src.wrapping_add(last)) };
        V::finish();
    } else if next != Next::Soon && bytes >= STREAM_FROM_BYTES {
        // SAFETY: as above.
        unsafe { stream::<V>(dst, src, bytes) };
    } else if (ahead % PAGE).wrapping_sub(1) < ALIAS_BYTES {
        // SAFETY: as above.
        unsafe { downwards::<V>(dst, src, bytes) };
    } else {
        // SAFETY: as above.
        unsafe { upwards::<V>(dst, src, bytes) };
    }
}

/// Stores to aligned addresses, but for the first vector and the last four, which have bytes in common with others.
#[inline(always)]
unsafe fn upwards<V: Vector>(dst: *mut u8, src: *const u8, bytes: usize) {
    let last = bytes - 4 * V::BYTES;
    // SAFETY: the caller's promise; what begins before the last four vectors ends in the range. So below.
    unsafe { V::one(dst, src) };
    let mut place = V::BYTES - dst.addr() % V::BYTES;
    while place < last {
        // SAFETY: as above.
        unsafe { V::four(dst.wrapping_add(place), src.wrapping_add(place)) };
        place += 4 * V::BYTES;
    }
    // SAFETY: as above.
    unsafe { V::four(dst.wrapping_add(last), src.wrapping_add(last)) };
    V::finish();
}

/// As [`upwards`], from the end.
#[inline(never)] // here and below, so that the common way needs few registers
unsafe fn downwards<V: Vector>(dst: *mut u8, src: *const u8, bytes: usize) {
    let last = bytes - V::BYTES;
    // SAFETY: the caller's promise; what ends behind the first four vectors begins in the range. So below.
    unsafe { V::one(dst.wrapping_add(last), src.wrapping_add(last)) };
    let mut place = bytes - dst.wrapping_add(bytes).addr() % V::BYTES;
    while place > 4 * V::BYTES {
        place -= 4 * V::BYTES;
        // SAFETY: as above.
        unsafe { V::four(dst.wrapping_add(place), src.wrapping_add(place)) };
    }
    // SAFETY: as above.
    unsafe { V::four(dst, src) };
    V::finish();
}

/// As [`upwards`], past the caches.
#[inline(never)]
unsafe fn stream<V: Vector>(dst: *mut u8, src: *const u8, bytes: usize) {
    let last = bytes - 4 * V::BYTES;
    // SAFETY: the caller's promise; what begins before the last four vectors ends in the range. So below.
    unsafe { V::one(dst, src) };
    let mut place = V::BYTES - dst.addr() % V::BYTES;
    while place < last {
        // SAFETY: as above; `dst + place` is aligned.
        unsafe { V::stream_four(dst.wrapping_add(place), src.wrapping_add(place)) };
        place += 4 * V::BYTES;
    }
    // SAFETY: as above.
    unsafe { V::four(dst.wrapping_add(last), src.wrapping_add(last)) };
    V::fence();
    V::finish();
}

/// Goes away from where the source would be overwritten. The last four vectors to be stored may have bytes in common
/// with others, so they are put aside first.
#[cold]
unsafe fn overlapping<V: Vector>(dst: *mut u8, src: *const u8, bytes: usize) {
    let mut aside = MaybeUninit::<[u8; LARGEST_BLOCK]>::uninit();
    let aside = aside.as_mut_ptr().cast::<u8>();
    let last = bytes - 4 * V::BYTES;
    if dst.addr() < src.addr() {
        // SAFETY: the caller's promise; every place has four vectors behind it. So below.
        unsafe { V::four(aside, src.wrapping_add(last)) };
        for place in (0..last).step_by(4 * V::BYTES) {
            // SAFETY: as above.
            unsafe { V::four(dst.wrapping_add(place), src.wrapping_add(place)) };
        }
        // SAFETY: as above.
        unsafe { V::four(dst.wrapping_add(last), aside) };
    } else {
        // SAFETY: as above.
        unsafe { V::four(aside, src) };
        for place in (1..=last).rev().step_by(4 * V::BYTES) {
            // SAFETY: as above.
            unsafe { V::four(dst.wrapping_add(place), src.wrapping_add(place)) };
        }
        // SAFETY: as above.
        unsafe { V::four(dst, aside) };
    }
    V::finish();
}
