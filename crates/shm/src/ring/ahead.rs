//! Cells that are about to be used.
//!
//! A cell comes from the cache of the other processor, which takes as long as some hundred instructions. Where one
//! message follows the other, both ends ask for a cell some messages before they need it. Where they do not, they must
//! not: a line that is asked for before it is written has to come twice.

use std::ptr;

use self::machine::{to_read, to_write};
use super::{Cell, Receiver, Sender};

/// So many cells ahead: what comes in the time that so many messages take.
const AHEAD: u64 = 4;

impl Receiver {
    /// Asks for a cell behind the head, where messages are expected to lie.
    #[inline]
    pub fn look_ahead(&self) {
        to_read(ahead(self.cells, self.position));
    }
}

impl Sender {
    /// Asks for a cell that will be written when some more messages have been sent.
    #[inline]
    pub fn prepare(&self) {
        to_write(ahead(self.cells, self.position));
    }
}

/// The address of a cell.
#[inline]
fn ahead(cells: &[Cell], position: u64) -> usize {
    ptr::from_ref(&cells[(position + AHEAD) as usize & (cells.len() - 1)]).addr()
}

#[cfg(all(target_arch = "x86_64", not(any(loom, miri, portable))))]
mod machine {
    use std::arch::asm;

    #[inline(always)]
    pub fn to_read(address: usize) {
        // SAFETY: a hint, which changes nothing that a program could see; so is the other one.
        unsafe { asm!("prefetcht0 [{}]", in(reg) address, options(nostack, preserves_flags, nomem)) };
    }

    /// Processors that do not know the instruction do nothing.
    #[inline(always)]
    pub fn to_write(address: usize) {
        // SAFETY: as above.
        unsafe { asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, nomem)) };
    }
}

#[cfg(all(target_arch = "aarch64", not(any(loom, miri, portable))))]
mod machine {
    use std::arch::asm;

    #[inline(always)]
    pub fn to_read(address: usize) {
        // SAFETY: a hint, which changes nothing that a program could see; so is the other one.
        unsafe { asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, nomem)) };
    }

    #[inline(always)]
    pub fn to_write(address: usize) {
        // SAFETY: as above.
        unsafe { asm!("prfm pstl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, nomem)) };
    }
}

#[cfg(any(loom, miri, portable, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod machine {
    pub fn to_read(_: usize) {}

    pub fn to_write(_: usize) {}
}
