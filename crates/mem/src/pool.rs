//! Private memory for messages that came early and for intermediate results.
//!
//! Blocks are never returned to the system, only to the pool: a [`Region`] into one stays valid for ever, and a
//! large temporary is faulted in once instead of at every call (an `mmap` and its page faults cost more than
//! the copy that the memory is wanted for).

use std::alloc::{self, Layout};
use std::ops::Deref;

use crate::Region;

/// Blocks of memory by powers of two.
#[derive(Debug, Default)]
pub struct Pool {
    free: Vec<Vec<Region>>,
    /// Bytes taken from the system.
    bytes: usize,
}

/// A region that a [`Pool`] gave. Only such a one, and once, can be given back: it is the beginning of a block.
///
/// ```compile_fail,E0308
/// let mut pool = oxmpi_mem::Pool::default();
/// let taken = pool.take(100);
/// pool.give(taken.part(90, 10)); // the next 64 bytes would reach beyond the block
/// ```
#[derive(Debug)]
#[must_use = "what is not given back is lost to the pool"]
pub struct Taken(Region);

const SMALLEST: usize = 64;

impl Pool {
    /// A region of exactly `bytes` bytes, aligned to 64; its contents are unspecified.
    ///
    /// # Panics
    /// If they are more than any memory can hold.
    pub fn take(&mut self, bytes: usize) -> Taken {
        if bytes == 0 {
            return Taken::EMPTY;
        }
        let size = bytes.max(SMALLEST).checked_next_power_of_two().expect("bytes that memory can hold");
        let free = self.free.get_mut(class(size)).and_then(Vec::pop);
        let block = free.unwrap_or_else(|| {
            self.bytes += size;
            fresh(size)
        });
        Taken(block.part(0, bytes))
    }

    /// Bytes that were ever given out; those given back and out again count once.
    pub fn peak_bytes(&self) -> usize {
        self.bytes
    }

    /// Takes back what this pool or another one gave.
    pub fn give(&mut self, Taken(region): Taken) {
        if region.is_empty() {
            return;
        }
        let size = region.len().max(SMALLEST).next_power_of_two();
        if self.free.len() <= class(size) {
            self.free.resize_with(class(size) + 1, Vec::new);
        }
        // SAFETY: `take` cut the region from the beginning of a block of this size, which is never freed.
        self.free[class(size)].push(unsafe { Region::claim(region.as_ptr(), size) });
    }
}

impl Taken {
    /// The region of no bytes, which comes from no block.
    pub const EMPTY: Self = Self(Region::EMPTY);
}

impl Deref for Taken {
    type Target = Region;

    #[inline]
    fn deref(&self) -> &Region {
        &self.0
    }
}

fn class(size: usize) -> usize {
    size.trailing_zeros() as usize
}

#[cold]
fn fresh(size: usize) -> Region {
    let layout = Layout::from_size_align(size, SMALLEST).expect("bytes that memory can hold");
    // SAFETY: the size is not 0.
    let base = unsafe { alloc::alloc_zeroed(layout) };
    if base.is_null() {
        alloc::handle_alloc_error(layout);
    }
    // SAFETY: just allocated, known to nobody else, and never freed.
    unsafe { Region::claim(base, size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_given_back_serves_the_next_of_its_size() {
        let mut pool = Pool::default();
        let (block, second) = (pool.take(100), pool.take(100));
        let first = block.as_ptr();
        assert_ne!(first, second.as_ptr());
        pool.give(block);
        let third = pool.take(70);
        assert_eq!((third.as_ptr(), third.len()), (first, 70));
    }

    #[test]
    #[should_panic(expected = "that memory can hold")]
    fn more_than_any_memory_holds_is_refused() {
        drop(Pool::default().take(usize::MAX));
    }
}
