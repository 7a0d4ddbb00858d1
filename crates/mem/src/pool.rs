//! Private memory for messages that came early and for intermediate results.
//!
//! Blocks are never unmapped: a [`Region`] into one stays valid for ever. What is free is kept at first: a large
//! temporary is faulted in once instead of at every call (an `mmap` and its page faults cost more than the copy that
//! the memory is wanted for). When it is more than a pool is to keep, all pages in which everything is free go back to
//! the system.
//! Cost: a pop or a push; for what goes back, to sort the free blocks.

use std::ops::Deref;
use std::ptr;

#[cfg(not(miri))]
use oxmpi_system::memory;

use crate::Region;
use crate::reserve::give_up_reserve;

/// Blocks of memory by powers of two.
#[derive(Debug)]
pub struct Pool {
    /// By the logarithm of their size.
    free: Vec<Free>,
    /// What is left of the memory that the last short block was cut from.
    rest: Region,
    /// Bytes in blocks, and in those of them that are given out.
    bytes: usize,
    used: usize,
    /// Bytes in free blocks that have memory.
    idle: usize,
    /// So many of them are too many.
    limit: usize,
    /// See [`Pool::keeping`].
    keeps: usize,
    /// Bytes of a page of the system: what goes back to it are whole ones.
    page: usize,
}

/// The free blocks of one size.
#[derive(Debug, Default)]
struct Free {
    /// Those that have memory.
    idle: Vec<Region>,
    /// Those whose memory has gone back, in runs of several side by side.
    bare: Vec<Region>,
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
/// Short blocks are cut from so many bytes.
const CHUNK: usize = 1 << 20;
/// So long a block is not cut from others.
const LONG: usize = CHUNK / 8;

impl Pool {
    /// A pool that keeps so many bytes that are free, beside those which were free the last time it gave some back, in
    /// pages with others.
    pub fn keeping(keeps: usize) -> Self {
        Self::of_pages(page_bytes(), keeps)
    }

    fn of_pages(page: usize, keeps: usize) -> Self {
        Self { free: Vec::new(), rest: Region::EMPTY, bytes: 0, used: 0, idle: 0, limit: keeps, keeps, page }
    }

    /// A region of exactly `bytes` bytes, aligned to 64; its contents are unspecified.
    ///
    /// # Panics
    /// If they are more than any memory can hold.
    pub fn take(&mut self, bytes: usize) -> Taken {
        if bytes == 0 {
            return Taken::EMPTY;
        }
        let size = bytes.max(SMALLEST).checked_next_power_of_two().expect("bytes that memory can hold");
        self.used = self.used.wrapping_add(size);
        if let Some(free) = self.free.get_mut(class(size)) {
            if let Some(block) = free.idle.pop() {
                self.idle -= size;
                return Taken(block.part(0, bytes));
            }
            if let Some(block) = free.take_bare(size) {
                return Taken(block.part(0, bytes));
            }
        }
        Taken(self.fresh(size).part(0, bytes))
    }

    /// The same, if the system has the memory: it is asked for what it may refuse.
    pub fn try_take(&mut self, bytes: usize) -> Option<Taken> {
        let size = bytes.max(SMALLEST).checked_next_power_of_two()?;
        let is_there = self.free.get(class(size)).is_some_and(Free::has_any);
        if size < LONG || is_there {
            return Some(self.take(bytes));
        }
        let block = try_mapped(size)?;
        self.bytes += size;
        self.used = self.used.wrapping_add(size);
        Some(Taken(block.part(0, bytes)))
    }

    /// Bytes of the blocks that are given out, if no other pool has taken any of them back.
    #[inline]
    pub fn used_bytes(&self) -> usize {
        self.used
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
            self.free.resize_with(class(size) + 1, Free::default);
        }
        // SAFETY: `take` cut the region from the beginning of a block of this size, which stays mapped for ever.
        self.free[class(size)].idle.push(unsafe { Region::claim(region.as_ptr(), size) });
        self.used = self.used.wrapping_sub(size);
        self.idle += size;
        if self.used == 0 {
            self.limit = self.keeps; // no page has anything in it that is not free
        }
        if self.idle > self.limit {
            self.trim();
        }
    }

    /// Gives all pages back to the system in which everything is free.
    #[cold]
    fn trim(&mut self) {
        self.free.iter_mut().for_each(|free| free.trim(self.page));
        let idle = |(class, free): (usize, &Free)| free.idle.len() << class;
        self.idle = self.free.iter().enumerate().map(idle).sum();
        self.limit = self.keeps.saturating_add(self.idle);
    }

    /// A block that there was not before.
    #[cold]
    fn fresh(&mut self, size: usize) -> Region {
        self.bytes += size;
        if size >= LONG {
            return mapped(size);
        }
        // Those of a page and more begin with one, so that each can go back alone.
        let skipped = |rest: &Region| rest.as_ptr().addr().wrapping_neg() % size.min(self.page);
        if self.rest.len() < skipped(&self.rest) + size {
            self.rest = mapped(CHUNK);
        }
        let begin = skipped(&self.rest);
        let block = self.rest.part(begin, size);
        self.rest = self.rest.part(begin + size, self.rest.len() - begin - size);
        block
    }
}

impl Default for Pool {
    /// A pool that keeps everything.
    fn default() -> Self {
        Self::keeping(usize::MAX)
    }
}

impl Free {
    fn has_any(&self) -> bool {
        !self.idle.is_empty() || !self.bare.is_empty()
    }

    fn take_bare(&mut self, size: usize) -> Option<Region> {
        let run = self.bare.pop()?;
        let left = run.len() - size;
        self.bare.extend((left != 0).then(|| run.part(0, left)));
        Some(run.part(left, size))
    }

    fn trim(&mut self, page: usize) {
        let begin = |block: &Region| block.as_ptr().addr();
        let end = |block: &Region| begin(block) + block.len();
        let mut blocks = std::mem::take(&mut self.idle);
        blocks.sort_unstable_by_key(begin);
        for run in blocks.chunk_by(|block, next| end(block) == begin(next)) {
            let (first, last) = (begin(&run[0]), end(&run[run.len() - 1]));
            let pages = first.next_multiple_of(page)..last / page * page;
            let is_bare = |block: &&Region| pages.start <= begin(block) && end(block) <= pages.end;
            self.idle.extend(run.iter().filter(|block| !is_bare(block)));
            let mut bare = run.iter().filter(is_bare);
            if let Some(from) = bare.next() {
                let to = end(bare.next_back().unwrap_or(from));
                let base = ptr::with_exposed_provenance_mut(begin(from));
                // SAFETY: free blocks side by side, which stay mapped for ever; `mapped` has exposed them.
                let bare = unsafe { Region::claim(base, to - begin(from)) };
                release(&bare, page);
                self.bare.push(bare);
            }
        }
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

/// Memory of the system: zeroes, from the beginning of a page.
fn mapped(bytes: usize) -> Region {
    let again = || {
        give_up_reserve();
        try_mapped(bytes)
    };
    let block = try_mapped(bytes).or_else(again);
    block.unwrap_or_else(|| std::alloc::handle_alloc_error(layout(bytes)))
}

/// The same, if the system has any without what is set aside.
#[cfg(not(miri))]
fn try_mapped(bytes: usize) -> Option<Region> {
    let base = memory::map(bytes, memory::Shows::Zeroes).ok()?;
    base.expose_provenance();
    // SAFETY: just mapped, known to nobody else, and never unmapped.
    Some(unsafe { Region::claim(base, bytes) })
}

/// Gives all pages back that lie in free blocks: they read as zeroes then.
#[cfg(not(miri))]
fn release(free: &Region, page: usize) {
    let begin = free.as_ptr().addr().next_multiple_of(page) - free.as_ptr().addr();
    let pages = free.part(begin, (free.len() - begin) / page * page);
    // SAFETY: nobody counts on what is in free blocks.
    let released = unsafe { memory::discard(pages.as_ptr(), pages.len()) };
    // Where the system refuses, because the program has locked its memory say, they stay as they are.
    let _ = released;
}

/// The same where nothing can be mapped.
#[cfg(miri)]
fn try_mapped(bytes: usize) -> Option<Region> {
    // SAFETY: there is at least a page.
    let base = unsafe { std::alloc::alloc_zeroed(layout(bytes)) };
    // Of memory that nobody uses a compiler may say that there is enough.
    let base = std::hint::black_box(base);
    base.expose_provenance();
    // SAFETY: just allocated, known to nobody else, and never freed.
    (!base.is_null()).then(|| unsafe { Region::claim(base, bytes) })
}

#[cfg(miri)]
fn release(_: &Region, _: usize) {}

fn page_bytes() -> usize {
    if cfg!(miri) { 4096 } else { oxmpi_system::memory::page_bytes() }
}

fn layout(bytes: usize) -> std::alloc::Layout {
    std::alloc::Layout::from_size_align(bytes, page_bytes()).expect("bytes that memory can hold")
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
    fn what_the_system_may_refuse_comes_from_the_pool_and_goes_back_there() {
        let mut pool = Pool::default();
        for bytes in [1, 64, 5000, 1 << 20].map(|bytes| if cfg!(miri) { bytes.min(300) } else { bytes }) {
            let taken = pool.try_take(bytes).expect("there is as much");
            taken.write(&vec![1; bytes]);
            let first = taken.as_ptr();
            pool.give(taken);
            let again = pool.try_take(bytes).expect("it was given back");
            assert_eq!((again.as_ptr(), again.len()), (first, bytes));
            pool.give(again);
        }
        assert_eq!(pool.used_bytes(), 0);
        assert!(pool.try_take(usize::MAX).is_none());
        assert!(cfg!(miri) || pool.try_take(1 << 60).is_none(), "Miri ends there");
    }

    #[test]
    #[should_panic(expected = "that memory can hold")]
    fn more_than_any_memory_holds_is_refused() {
        drop(Pool::default().take(usize::MAX));
    }

    #[test]
    fn blocks_of_all_sizes_lie_apart() {
        let mut pool = Pool::keeping(1 << 16);
        let (rounds, blocks, sizes) = if cfg!(miri) { (2, 8, 7) } else { (3, 600, 18) };
        for round in 0..rounds {
            let taken: Vec<Taken> = (0..blocks).map(|number| pool.take(1 << (number * 7 % sizes))).collect();
            for (number, taken) in (0..).zip(&taken) {
                assert_eq!(taken.as_ptr().addr() % SMALLEST, 0);
                taken.write(&vec![number as u8; taken.len()]);
            }
            for (number, taken) in (0..).zip(&taken) {
                assert!(taken.to_vec().iter().all(|&byte| byte == number as u8), "round {round}");
            }
            taken.into_iter().for_each(|taken| pool.give(taken));
        }
    }

    /// What reads as zero has no memory.
    #[test]
    #[cfg_attr(miri, ignore = "it is about the system")]
    fn what_is_free_beyond_what_is_kept_goes_back() {
        const KEEPS: usize = 1 << 20;
        for bytes in [64, 1000, 5000, 1 << 17, 3 << 20] {
            let mut pool = Pool::keeping(KEEPS);
            let taken: Vec<Taken> = (0..(4 * KEEPS).div_ceil(bytes)).map(|_| pool.take(bytes)).collect();
            taken.iter().for_each(|taken| taken.write(&vec![1; bytes]));
            let regions: Vec<Region> = taken.iter().map(|taken| **taken).collect();
            let (even, odd): (Vec<_>, Vec<_>) =
                taken.into_iter().enumerate().partition(|(place, _)| place % 2 == 0);
            let peak = pool.peak_bytes();
            even.into_iter().for_each(|(_, taken)| pool.give(taken));
            assert!(odd.iter().all(|(_, taken)| taken.to_vec() == vec![1; bytes]), "they are not free");
            odd.into_iter().for_each(|(_, taken)| pool.give(taken));
            let left = regions.iter().filter(|region| region.to_vec().contains(&1)).count();
            assert!(left * bytes <= 2 * KEEPS, "{left} of {bytes} bytes");
            let again: Vec<Taken> = regions.iter().map(|_| pool.take(bytes)).collect();
            assert_eq!(pool.peak_bytes(), peak, "blocks serve again");
            assert_eq!(pool.used_bytes(), again.len() * bytes.next_power_of_two());
            again.into_iter().for_each(|taken| pool.give(taken));
            assert_eq!(pool.used_bytes(), 0);
        }
    }

    /// As where a system has such pages: to give a part of one back would take the rest along.
    #[test]
    #[cfg_attr(miri, ignore = "it is about the system")]
    fn what_goes_back_are_whole_pages_of_the_system() {
        const LARGE: usize = 64 << 10;
        for bytes in [64, 5000, 1 << 15, 60_000] {
            let mut pool = Pool::of_pages(LARGE, 1 << 20);
            let taken: Vec<Taken> = (0..(4 << 20) / bytes).map(|_| pool.take(bytes)).collect();
            taken.iter().for_each(|taken| taken.write(&vec![1; bytes]));
            let seldom = (1 << 20) / bytes.next_power_of_two();
            let (few, most): (Vec<_>, Vec<_>) =
                taken.into_iter().enumerate().partition(|(place, _)| place % seldom == seldom / 2);
            most.into_iter().for_each(|(_, taken)| pool.give(taken));
            pool.trim();
            assert!(few.iter().all(|(_, taken)| taken.to_vec() == vec![1; bytes]), "they are not free");
            let bare: Vec<Region> = pool.free.iter().flat_map(|free| &free.bare).copied().collect();
            assert!(!bare.is_empty(), "{bytes} bytes");
            for (_, taken) in &few {
                let page = taken.as_ptr().addr() / LARGE;
                let shares = |bare: &Region| {
                    let begin = bare.as_ptr().addr();
                    begin / LARGE == page || (begin + bare.len() - 1) / LARGE == page
                };
                assert!(!bare.iter().any(shares), "a page with {bytes} bytes that are in use");
            }
        }
    }
}
