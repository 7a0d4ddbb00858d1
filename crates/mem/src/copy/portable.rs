//! The copy of any machine, and of tools that cannot follow its instructions: byte by byte.

use std::sync::atomic::{AtomicU8, Ordering};

use super::{Body, Next};

/// What is there everywhere.
pub const PORTABLE: Body = Body { name: "portable", runs_here: || true, copy };

/// See [`copy`](crate::copy::copy).
pub unsafe fn copy(dst: *mut u8, src: *const u8, bytes: usize, _next: Next) {
    let byte = |place: usize| {
        // SAFETY: the caller's promise.
        let from = unsafe { AtomicU8::from_ptr(src.wrapping_add(place).cast_mut()) };
        // SAFETY: as above.
        let into = unsafe { AtomicU8::from_ptr(dst.wrapping_add(place)) };
        into.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
    };
    if dst.addr().wrapping_sub(src.addr()) < bytes {
        (0..bytes).rev().for_each(byte);
    } else {
        (0..bytes).for_each(byte);
    }
}
