//! Memory that a typemap fits into.

use oxmpi_datatype::{Buffer, Datatype, Elements};
use oxmpi_mem::Region;

/// Memory around an origin, each byte with a value of its own kind.
pub struct Memory {
    pub bytes: Vec<u8>,
    origin: usize,
}

impl Memory {
    /// Room for bytes at these displacements.
    pub fn around(displacements: &[i64]) -> Self {
        let lowest = displacements.iter().copied().min().unwrap_or(0).min(0);
        let highest = displacements.iter().copied().max().unwrap_or(0).max(0);
        let bytes = (0..highest - lowest + 9).map(|index| (index * 37 % 251) as u8).collect();
        Self { bytes, origin: (4 - lowest) as usize }
    }

    /// The index of the byte at a displacement.
    pub fn at(&self, displacement: i64) -> usize {
        (self.origin as i64 + displacement) as usize
    }

    /// The bytes at these displacements.
    pub fn gathered(&self, displacements: &[i64]) -> Vec<u8> {
        displacements.iter().map(|byte| self.bytes[self.at(*byte)]).collect()
    }

    pub fn buffer(&mut self, count: u64, datatype: &Datatype) -> Buffer {
        let origin = self.bytes.as_mut_ptr().wrapping_add(self.origin);
        // SAFETY: `around` has made room for the whole typemap, and the tests look at the bytes only between
        // two uses of the buffer.
        unsafe { Buffer::new(origin, count, datatype) }.expect("the datatype is committed and small")
    }

    pub fn elements<'a>(&mut self, count: u64, datatype: &'a Datatype) -> Elements<'a> {
        let origin = self.bytes.as_mut_ptr().wrapping_add(self.origin);
        // SAFETY: as in `buffer`.
        unsafe { Elements::new(origin, count, datatype) }.expect("the datatype is committed and small")
    }
}

pub fn claim(bytes: &mut [u8]) -> Region {
    // SAFETY: the tests use `bytes` only through the region until they read it back.
    unsafe { Region::claim(bytes.as_mut_ptr(), bytes.len()) }
}
