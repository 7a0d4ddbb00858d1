//! What a rank has called lately, for its peers to read when something seems wrong.
//!
//! A word for each of the last [`CALLS`] numbers, on cache lines that nobody reads as long as all is well: noting a
//! call costs the writer a plain store. A word says itself which number it belongs to, so no order is needed.

use crate::sync::{AtomicU64, Ordering};

/// Calls that are remembered.
pub const CALLS: usize = 16;

/// See the module. One writer, many readers.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Calls([AtomicU64; CALLS]);

#[cfg(not(loom))]
const _: () = assert!(size_of::<Calls>() == size_of::<crate::Line>());

impl Calls {
    /// Forgets everything. No peer may know of it yet.
    pub fn clear(&self) {
        self.0.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Notes `word` for `number`; forgets what was noted [`CALLS`] numbers before.
    #[inline]
    pub fn note(&self, number: u64, word: u64) {
        self.0[number as usize % CALLS].store(word, Ordering::Relaxed);
    }

    /// What is noted for `number`, or for one that is a multiple of [`CALLS`] away; 0 if nothing was.
    pub fn at(&self, number: u64) -> u64 {
        self.0[number as usize % CALLS].load(Ordering::Relaxed)
    }
}
