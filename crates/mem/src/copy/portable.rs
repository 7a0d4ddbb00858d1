//! The copy of any machine, and of tools that cannot follow its instructions: byte by byte.

use std::sync::atomic::{AtomicU8, Ordering};

use super::{Body, Next};

/// What is there everywhere.
pub const PORTABLE: Body = Body { name: "portable", runs_here: || true, copy };

/// See [`copy`](crate::copy::copy).
pub unsafe fn copy(dst: *mut u8, src: *const u8, bytes: usize, _next: Next) {
    let byte = |place: usize| {
        // SAFETY: the caller's promise. It is only loaded from: `AtomicU8::from_ptr` would ask for a right to write,
        // which a source need not have (decision 53).
        let from = unsafe { &*src.wrapping_add(place).cast::<AtomicU8>() };
        // SAFETY: as above, and it may be written.
        let into = unsafe { AtomicU8::from_ptr(dst.wrapping_add(place)) };
        into.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
    };
    if dst.addr().wrapping_sub(src.addr()) < bytes {
        (0..bytes).rev().for_each(byte);
    } else {
        (0..bytes).for_each(byte);
    }
}
