//! The arguments of a collective, by which it is known when it is called again.
//!
//! Only what means the same for ever counts: addresses, numbers, and handles of what is predefined. Arrays may hold
//! other values the next time, and handles of what the program makes may be used for something else.

use std::ffi::c_int;

use oxmpi_base::Function;
use oxmpi_mem::Arguments;

/// A call whose arguments are noted.
pub struct Noted(Words);

/// What has been noted.
pub struct Words {
    words: [u64; Arguments::WORDS],
    number: usize,
}

/// An argument that can be noted.
///
/// # Safety
/// What is noted names no memory, or memory that the call may access as the words of this argument say: whoever made
/// the argument has promised that. Equal words of calls on the same communicator say the same.
pub unsafe trait Argument {
    /// Notes what it says, or that this may change.
    fn note(&self, words: &mut Words);
}

impl Noted {
    /// A call of a function.
    #[inline]
    pub fn new(function: Function) -> Self {
        let mut words = [0; Arguments::WORDS];
        words[0] = function.index() as u64;
        Self(Words { words, number: 1 })
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
    pub unsafe fn claim(self) -> Option<Arguments> {
        // SAFETY: each word is that of an `Argument`, which names no other memory than the call may access; the caller
        // promises the rest.
        (self.0.number <= Arguments::WORDS).then(|| unsafe { Arguments::claim(self.0.words) })
    }
}

impl Words {
    /// Notes a number, or where something is.
    #[inline]
    pub fn push(&mut self, word: u64) {
        if let Some(place) = self.words.get_mut(self.number) {
            *place = word;
        }
        self.number += 1;
    }

    /// Notes that the call may mean something else the next time.
    #[inline]
    pub fn give_up(&mut self) {
        self.number = Arguments::WORDS + 1;
    }
}

// SAFETY: a number.
unsafe impl Argument for c_int {
    #[inline]
    fn note(&self, words: &mut Words) {
        words.push(u64::from(self.cast_unsigned()));
    }
}
