//! A claim on bytes that somebody else owns.

use std::ptr;

use crate::copy::{Next, copy, word};

/// `bytes` bytes at `base` that may be read and written through this value.
///
/// Copies of a region claim the same bytes. A region is never a Rust slice, because its owner may write at
/// any time; racing with the owner gives unspecified bytes, as the standard says of erroneous programs.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: a region is an address and a promise about it that `claim` extends to all threads.
unsafe impl Send for Region {}
// SAFETY: as above; there is no interior state.
unsafe impl Sync for Region {}

impl Region {
    /// The region of no bytes.
    pub const EMPTY: Self = Self { base: ptr::dangling_mut(), bytes: 0 };

    /// Claims `bytes` bytes at `base`.
    ///
    /// # Safety
    /// Until the last use of the region or of any part of it, if `bytes` is not 0:
    /// - `base` is valid for reads and for the writes that will be made through the region, for `bytes` bytes;
    /// - no Rust reference to any of these bytes is used.
    pub const unsafe fn claim(base: *mut u8, bytes: usize) -> Self {
        Self { base, bytes }
    }

    /// The same bytes, of whatever is there now: for who has kept a region beyond the promise of [`Region::claim`], and
    /// uses it again when somebody has made that promise once more, of memory at the same address that he has
    /// exposed (`expose_provenance`).
    #[inline]
    pub fn renewed(&self) -> Self {
        Self { base: ptr::with_exposed_provenance_mut(self.base.addr()), bytes: self.bytes }
    }

    /// Length in bytes.
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are no bytes.
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Address of the first byte; to use it is to take over the promise of [`Region::claim`].
    pub const fn as_ptr(&self) -> *mut u8 {
        self.base
    }

    /// The `bytes` bytes from `offset`.
    ///
    /// # Panics
    /// If they do not lie inside the region.
    #[inline]
    pub fn part(&self, offset: usize, bytes: usize) -> Self {
        assert!(offset <= self.bytes && bytes <= self.bytes - offset, "part lies inside its region");
        Self { base: self.base.wrapping_add(offset), bytes }
    }

    /// Whether some byte is part of both.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        let end = |region: &Self| region.base.addr().saturating_add(region.bytes);
        self.base.addr().max(other.base.addr()) < end(self).min(end(other))
    }

    /// Copies all of `from` over the beginning of `self`; the two may overlap.
    ///
    /// # Panics
    /// If `from` is longer than `self`.
    #[inline(always)] // a few bytes take less than a call
    pub fn copy_from(&self, from: &Self) {
        self.copy_hinted(from, Next::Soon);
    }

    /// As [`Region::copy_from`]; `next` says when somebody will read the copy.
    ///
    /// # Panics
    /// If `from` is longer than `self`.
    #[inline(always)]
    pub fn copy_hinted(&self, from: &Self, next: Next) {
        assert!(from.bytes <= self.bytes, "the source fits into the target");
        // SAFETY: `claim` promised both ranges, and `from` fits into `self`.
        unsafe { copy_inline(self.base, from.base, from.bytes, next) };
    }

    /// Overwrites the beginning of the region.
    ///
    /// # Panics
    /// If `from` is longer than the region.
    pub fn write(&self, from: &[u8]) {
        assert!(from.len() <= self.bytes, "the source fits into the target");
        // SAFETY: `claim` promised the target; `from` is a reference to other bytes and fits.
        unsafe { copy_inline(self.base, from.as_ptr(), from.len(), Next::Soon) };
    }

    /// Reads the beginning of the region.
    ///
    /// # Panics
    /// If `into` is longer than the region.
    pub fn read(&self, into: &mut [u8]) {
        assert!(into.len() <= self.bytes, "the target is no longer than the source");
        // SAFETY: `claim` promised the source; `into` is an exclusive reference to other bytes.
        unsafe { copy_inline(into.as_mut_ptr(), self.base, into.len(), Next::Soon) };
    }

    /// The bytes, copied out.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes];
        self.read(&mut bytes);
        bytes
    }
}

/// One load and one store for the sizes that latency is made of.
///
/// # Safety
/// As [`copy`].
#[inline(always)]
unsafe fn copy_inline(dst: *mut u8, src: *const u8, bytes: usize, next: Next) {
    match bytes {
        0 => {}
        // SAFETY: the caller's promise.
        4 => unsafe { word::<4>(dst, src) },
        // SAFETY: as above.
        8 => unsafe { word::<8>(dst, src) },
        // SAFETY: as above.
        _ => unsafe { copy(dst, src, bytes, next) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(bytes: &mut [u8]) -> Region {
        // SAFETY: the tests use `bytes` only through the region until they read it back.
        unsafe { Region::claim(bytes.as_mut_ptr(), bytes.len()) }
    }

    #[test]
    fn a_part_is_copied_and_its_neighbours_are_left_alone() {
        let (mut a, mut b) = ([1u8, 2, 3, 4, 5], [9u8; 5]);
        claim(&mut b).part(1, 3).copy_from(&claim(&mut a).part(2, 3));
        assert_eq!(b, [9, 3, 4, 5, 9]);
    }

    #[test]
    #[should_panic(expected = "inside its region")]
    fn a_part_beyond_the_end_is_refused() {
        let mut a = [0u8; 4];
        let _ = claim(&mut a).part(3, 2);
    }
}
