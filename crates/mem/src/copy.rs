//! The copy of memory that others may change meanwhile.
//!
//! **What is defined.** A user's buffer may be written by the user's threads, a slot by a peer that does not keep
//! the rules. An ordinary access to such memory would be a data race, and what a program with a data race does is
//! not defined, however little the bytes matter. So bytes are moved by `asm!`, which the language allows wherever
//! the machine does: the compiler knows that the block reads and writes memory, not what, and assumes nothing about
//! what it finds there afterwards. A racing copy gives each byte some value that it had meanwhile, and nothing else
//! happens. Where such bytes mean something to us, they are read after the acquiring load of a flag that is stored
//! after them, and what they say is checked before use; for the user's data, the standard leaves it to the user
//! not to race. Where no instructions can be followed (Miri, sanitizers, loom; `--cfg portable`), bytes are moved
//! as atomics, one by one, which is as well defined.
//!
//! **What it costs.** Up to `SHORT_BYTES` a copy is a few loads and as many stores, in line where the size is
//! known. Beyond, a `Body` made of the widest vectors of the processor, chosen once. Its loops never run into
//! their own stores (see `vector`), so that their speed does not depend on where the two ranges lie. The C library
//! leaves long copies to `rep movsb`, which on some processors is ten times slower if the two ranges begin at
//! nearly the same place in a page; we use it where it is the fastest, and never there.
//! What was measured stands in docs/performance.md, what was tried in docs/decisions.

// `copy/machine.rs` serves where there is nothing better.
#[cfg_attr(all(target_arch = "aarch64", not(any(loom, miri, portable))), path = "copy/aarch64.rs")]
#[cfg_attr(all(target_arch = "x86_64", not(any(loom, miri, portable))), path = "copy/x86_64.rs")]
mod machine;
mod portable;
mod value;

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use oxmpi_base::{Error, ErrorClass, Result};

pub use self::machine::{ends, word, word_at};
pub use self::value::*;

/// When somebody will read what a copy writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Soon, and by another processor, which has read what was there before: it is written past all caches, so that
    /// none is asked for that.
    Elsewhere,
    /// So late that it is out of the caches by then.
    Late,
    /// While it is in a cache.
    Soon,
}

/// The longest copy that all bodies do alike.
const SHORT_BYTES: usize = 256;

/// One way to copy more than `SHORT_BYTES`.
#[derive(Debug)]
struct Body {
    name: &'static str,
    /// Whether this processor has the instructions.
    runs_here: fn() -> bool,
    /// See [`copy`].
    copy: unsafe fn(dst: *mut u8, src: *const u8, bytes: usize, next: Next),
}

/// The body in use; only ever one of `'static`.
static CHOSEN: AtomicPtr<Body> = AtomicPtr::new(ptr::from_ref(&UNDECIDED).cast_mut());
static UNDECIDED: Body = Body { name: "", runs_here: || true, copy: choose_and_copy };

/// The names of the bodies that run on this processor, the best one first.
pub fn copies() -> impl Iterator<Item = &'static str> {
    machine::BODIES.iter().filter(|body| (body.runs_here)()).map(|body| body.name)
}

/// Uses the body called `name` from now on, in the whole process; with no name, the best one.
///
/// # Errors
/// [`ErrorClass::Arg`] if there is none of this name, or this processor cannot run it.
pub fn choose_copy(name: &str) -> Result<()> {
    let mut runs = machine::BODIES.iter().filter(|body| (body.runs_here)());
    let Some(body) = runs.find(|body| name.is_empty() || body.name == name) else {
        let names = copies().collect::<Vec<_>>().join(", ");
        let text = format!("there is no copy \"{name}\" on this processor; there are {names}");
        return Err(Error::new(ErrorClass::Arg, text));
    };
    CHOSEN.store(ptr::from_ref(body).cast_mut(), Ordering::Relaxed);
    Ok(())
}

unsafe fn choose_and_copy(dst: *mut u8, src: *const u8, bytes: usize, next: Next) {
    choose_copy("").expect("the portable body runs everywhere");
    // SAFETY: the caller's promise.
    unsafe { copy(dst, src, bytes, next) };
}

/// Copies `bytes` bytes from `src` to `dst`; the two ranges may overlap. What is written is visible to whoever
/// sees what is published afterwards, even if it was written past the caches; there, it may be seen before what was
/// stored earlier.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `bytes` bytes, and no Rust reference to any of them is used
/// meanwhile. Anybody may read and write them meanwhile.
pub unsafe fn copy(dst: *mut u8, src: *const u8, bytes: usize, next: Next) {
    if bytes > SHORT_BYTES {
        // SAFETY: only references to bodies that live for ever are stored there.
        let body = unsafe { &*CHOSEN.load(Ordering::Relaxed) };
        // SAFETY: the caller's promise; so below.
        unsafe { (body.copy)(dst, src, bytes, next) };
    } else if bytes >= 32 {
        match bytes {
            // SAFETY: as above.
            128.. => unsafe { ends::<128>(dst, src, bytes) },
            // SAFETY: as above.
            64.. => unsafe { ends::<64>(dst, src, bytes) },
            // SAFETY: as above.
            _ => unsafe { ends::<32>(dst, src, bytes) },
        }
    } else {
        match bytes {
            // SAFETY: as above.
            16.. => unsafe { ends::<16>(dst, src, bytes) },
            // SAFETY: as above.
            8.. => unsafe { ends::<8>(dst, src, bytes) },
            // SAFETY: as above.
            4.. => unsafe { ends::<4>(dst, src, bytes) },
            // SAFETY: as above.
            2.. => unsafe { ends::<2>(dst, src, bytes) },
            // SAFETY: as above.
            1 => unsafe { word::<1>(dst, src) },
            0 => {}
        }
    }
}

#[cfg(test)]
mod tests;
