//! The arguments of a collective, by which it is known when it is called again.
//!
//! Only what means the same for ever counts: addresses, numbers, and handles of what is predefined. Arrays may hold
//! other values the next time, and handles of what the program makes may be used for something else.

use std::ffi::c_int;

use oxmpi_base::Function;
use oxmpi_mem::Arguments;

/// What has been noted of a call's arguments.
pub struct Noted {
    words: [u64; Arguments::WORDS],
    number: usize,
}

/// An argument that can be noted.
pub trait Argument {
    /// Notes what it says, or that this may change.
    fn note(&self, noted: &mut Noted);
}

impl Noted {
    /// A call of a function.
    #[inline]
    pub fn new(function: Function) -> Self {
        let mut words = [0; Arguments::WORDS];
        words[0] = function.index() as u64;
        Self { words, number: 1 }
    }

    /// The same with one more argument.
    #[inline]
    pub fn and(mut self, argument: &impl Argument) -> Self {
        argument.note(&mut self);
        self
    }

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

    /// The arguments, if they say all.
    #[inline]
    pub fn claim(self) -> Option<Arguments> {
        // SAFETY: whatever memory is named, a `Message` has named it; whoever made that has promised that the call may
        // access as much of it as the other words say.
        (self.number <= Arguments::WORDS).then(|| unsafe { Arguments::claim(self.words) })
    }
}

impl Argument for c_int {
    #[inline]
    fn note(&self, noted: &mut Noted) {
        noted.push(u64::from(self.cast_unsigned()));
    }
}

/// The arguments of a call.
macro_rules! arguments {
    ($function:ident $(, $argument:ident)*) => {
        $crate::again::Noted::new($function)$(.and(&$argument))*.claim()
    };
}

pub(crate) use arguments;
