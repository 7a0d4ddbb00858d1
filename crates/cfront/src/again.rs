//! The arguments of a collective, by which it is known when it is called again.

use std::ffi::c_int;

use oxmpi_base::Function;
use oxmpi_mem::{Arguments, Words};

/// A call whose arguments are noted.
pub struct Noted(Words);

/// An argument that can be noted.
///
/// # Safety
/// What is noted names no memory, or memory that the call may access as the words of this argument say: whoever made
/// the argument has promised that. Equal words of calls on the same communicator say the same; addresses are exposed.
pub unsafe trait Argument {
    /// Notes what it says, or that this may change.
    fn note(&self, words: &mut Words);
}

impl Noted {
    /// A call of a function.
    #[inline]
    pub fn new(function: Function) -> Self {
        Self(Words::new(function.index() as u64))
    }

    /// The same with one more argument.
    #[inline]
    pub fn and(mut self, argument: &impl Argument) -> Self {
        argument.note(&mut self.0);
        self
    }

    /// The arguments, if they say all.
    ///
    /// # Safety
    /// They are handed on with the communicator of the call alone, and, where something is to be kept, with what was
    /// made of them.
    #[inline]
    pub unsafe fn claim(&self) -> Option<&Arguments> {
        // SAFETY: each word is that of an `Argument`, which names no other memory than the call may access; the caller
        // promises the rest.
        unsafe { self.0.claim() }
    }
}

// SAFETY: a number.
unsafe impl Argument for c_int {
    #[inline]
    fn note(&self, words: &mut Words) {
        words.push(u64::from(self.cast_unsigned()));
    }
}
