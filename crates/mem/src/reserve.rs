//! Memory that is set aside, so that nothing is left half done when there is no more.
//!
//! Rust ends the process when memory cannot be had for a table that grows, wherever that happens. So the library keeps
//! a [`Reserve`], twice as large as its largest table: when the system refuses, the reserve is given up and what is
//! under way goes on. Calls that begin something new ask first whether there [is room](has_room), and fail with a
//! resource error if not; those that only go on with what has begun need not ask.
//!
//! The reserve is never written to, so it costs address space and no memory. It helps where that is what is limited
//! (`ulimit -v`), not where a system promises memory that it does not have. It is mapped, not allocated: the C library
//! takes blocks as large as those that were freed from its heap from then on, where tables that grow leave holes.
//! Cost: a comparison for each allocation, a load and a branch for who asks.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use oxmpi_system::memory::{self, Shows};

/// The memory of a library, as its `#[global_allocator]`.
#[derive(Clone, Copy, Debug)]
pub struct Reserve;

/// What something new takes of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Growth {
    /// A place that was used before: there were more at the same time once.
    None,
    /// A new place, for which there is memory, or of a small table.
    Within,
    /// A larger table.
    Beyond,
}

impl Growth {
    /// Of a table of so many bytes that has a place left, or none. One that is small may grow at any time.
    #[inline]
    pub const fn of_table(has_place: bool, bytes: usize) -> Self {
        if has_place || bytes < LARGE / 2 { Self::Within } else { Self::Beyond }
    }
}

/// What is set aside.
#[derive(Debug)]
struct Held {
    /// Where it is; null if there is none.
    address: usize,
    bytes: usize,
    /// How much there should be.
    wanted: usize,
}

static HELD: Mutex<Held> = Mutex::new(Held { address: 0, bytes: 0, wanted: LEAST });

/// One of the constants below: a hint that is looked up under the lock when it is not the first. Nothing is set aside
/// before somebody asks.
static STATE: AtomicU8 = AtomicU8::new(SHORT);
const ENOUGH: u8 = 0;
/// There is less than is wanted.
const SHORT: u8 = 1;

/// What is set aside at least: for what is small and many.
const LEAST: usize = 1 << 20;
/// Into so many parts the reserve is divided, one of which will do for what needs no larger table of its own.
const GOOD_PART: usize = 4;
/// Allocations below this are no tables that grow.
const LARGE: usize = 1 << 18;

/// Whether something new may begin: the more it takes, the more of the reserve is to be there. For a table to grow
/// there is to be as much again.
#[inline]
pub fn has_room(growth: Growth) -> bool {
    growth != Growth::Beyond && STATE.load(Ordering::Relaxed) == ENOUGH || has_room_in_need(growth)
}

#[cold]
fn has_room_in_need(growth: Growth) -> bool {
    let mut held = held();
    held.fill();
    match growth {
        Growth::None => held.bytes >= LEAST,
        Growth::Within => held.bytes >= (held.wanted / GOOD_PART).max(LEAST),
        Growth::Beyond => held.bytes >= held.wanted && held.could_be_had_again(),
    }
}

// No code here panics, and what is poisoned is still right.
fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Held {
    /// Sets aside as much as is wanted, or else a half or less of it.
    fn fill(&mut self) {
        let mut bytes = self.wanted;
        while bytes > self.bytes && bytes >= LEAST {
            if let Some(address) = map(bytes) {
                let before = (self.address, self.bytes);
                (self.address, self.bytes) = (address, bytes);
                release(before);
            }
            bytes /= 2;
        }
        let state = if self.bytes < self.wanted { SHORT } else { ENOUGH };
        STATE.store(state, Ordering::Relaxed);
    }

    /// Whether the system has as much once more.
    fn could_be_had_again(&self) -> bool {
        let address = map(self.wanted);
        release((address.unwrap_or(0), address.map_or(0, |_| self.wanted)));
        address.is_some()
    }

    /// Gives all up.
    fn give_up(&mut self) {
        let before = (self.address, self.bytes);
        (self.address, self.bytes) = (0, 0);
        STATE.store(SHORT, Ordering::Relaxed);
        release(before);
    }

    /// A table has grown to so many bytes: the next time it will want twice as many.
    fn note_table(&mut self, bytes: usize) {
        let wanted = bytes.saturating_mul(2);
        if wanted > self.wanted {
            self.wanted = wanted;
            self.fill();
        }
    }
}

/// Memory of the system that nobody touches.
fn map(bytes: usize) -> Option<usize> {
    // To be read and written: other memory is not counted by all limits.
    memory::map(bytes, Shows::Zeroes).ok().map(<*mut _>::expose_provenance)
}

fn release((address, bytes): (usize, usize)) {
    if bytes != 0 {
        // SAFETY: `map` has mapped it, so long, nobody has a pointer into it, and it is given back once.
        let released = unsafe { memory::unmap(ptr::with_exposed_provenance_mut(address), bytes) };
        released.ok(); // it may refuse to cut a mapping in two: then it stays, and is not touched either
    }
}

/// Gives the reserve up for who got no memory, and is to try again: also if there is none, since another thread may
/// just have given it up.
#[cold]
pub(crate) fn give_up_reserve() {
    held().give_up();
}

/// What the system gives, or would not, at first or after the reserve was given up.
#[inline]
fn obtain(bytes: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    let base = ask();
    if !base.is_null() && bytes < LARGE { base } else { obtain_with_care(bytes, base, ask) }
}

#[cold]
fn obtain_with_care(bytes: usize, base: *mut u8, ask: impl Fn() -> *mut u8) -> *mut u8 {
    let base = if base.is_null() {
        give_up_reserve();
        ask()
    } else {
        base
    };
    if !base.is_null() && bytes >= LARGE {
        held().note_table(bytes);
    }
    base
}

// SAFETY: all is done by the system's allocator, under the same contract; and nothing here unwinds: `expect` holds by
// the check before it.
unsafe impl GlobalAlloc for Reserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        obtain(layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        obtain(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, base: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as the caller promises; what could not be done has left the block as it was.
        obtain(new_size, || unsafe { System.realloc(base, layout, new_size) })
    }

    unsafe fn dealloc(&self, base: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(base, layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_small_may_grow_at_any_time() {
        assert_eq!(Growth::of_table(false, LARGE / 2 - 1), Growth::Within);
        assert_eq!([true, false].map(|has| Growth::of_table(has, LARGE)), [Growth::Within, Growth::Beyond]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "it is about the system")]
    fn what_is_refused_is_had_from_the_reserve_and_that_is_filled_again() {
        let large = Layout::from_size_align(LARGE, 64).expect("it is a power of two");
        // SAFETY: the layout has a size, and what is allocated is given back once.
        let table = unsafe { Reserve.alloc(large) };
        assert!(!table.is_null() && has_room(Growth::Beyond));
        let tries = std::cell::Cell::new(0);
        let refused_once = || {
            tries.set(tries.get() + 1);
            if tries.get() == 1 { ptr::null_mut() } else { table }
        };
        held().fill();
        assert_eq!(obtain(8, refused_once), table);
        assert_eq!(STATE.load(Ordering::Relaxed), SHORT);
        assert!(has_room(Growth::Beyond), "the system has memory after all");
        // Another thread has given it up since the system refused.
        let refused_with_another = || {
            if !refused_once().is_null() {
                return table;
            }
            give_up_reserve();
            ptr::null_mut()
        };
        tries.set(0);
        assert_eq!(obtain(8, refused_with_another), table);
        // SAFETY: as above.
        unsafe { Reserve.dealloc(table, large) };
    }
}
