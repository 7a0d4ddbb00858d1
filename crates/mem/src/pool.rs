//! Private memory for messages that came early and for intermediate results.
//!
//! Blocks are never returned to the system, only to the pool: a [`Region`] into one stays valid for ever, and a
//! large temporary is faulted in once instead of at every call (an `mmap` and its page faults cost more than
//! the copy that the memory is wanted for).

use std::alloc::{self, Layout};

use crate::Region;

/// Blocks of memory by powers of two.
#[derive(Debug, Default)]
pub struct Pool {
    free: Vec<Vec<Region>>,
    /// Bytes taken from the system.
    bytes: usize,
}

const SMALLEST: usize = 64;

impl Pool {
    /// A region of exactly `bytes` bytes, aligned to 64; its contents are unspecified.
    pub fn take(&mut self, bytes: usize) -> Region {
        if bytes == 0 {
            return Region::EMPTY;
        }
        let size = bytes.max(SMALLEST).next_power_of_two();
        let free = self.free.get_mut(class(size)).and_then(Vec::pop);
        let block = free.unwrap_or_else(|| {
            self.bytes += size;
            fresh(size)
        });
        block.part(0, bytes)
    }

    /// Bytes that were ever given out; those given back and out again count once.
    pub fn peak_bytes(&self) -> usize {
        self.bytes
    }

    /// Takes back a region that [`Pool::take`] gave, whole.
    pub fn give(&mut self, region: Region) {
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

fn class(size: usize) -> usize {
    size.trailing_zeros() as usize
}

#[cold]
fn fresh(size: usize) -> Region {
    let layout = Layout::from_size_align(size, SMALLEST).expect("a power of two that memory can hold");
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
        let first = pool.take(100);
        let second = pool.take(100);
        assert_ne!(first.as_ptr(), second.as_ptr());
        pool.give(first);
        let third = pool.take(70);
        assert_eq!((third.as_ptr(), third.len()), (first.as_ptr(), 70));
    }
}
