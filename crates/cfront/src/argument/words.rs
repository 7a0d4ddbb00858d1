//! Lists of strings: commands, and the arguments of programs.

use std::ffi::{CStr, c_char};
use std::ptr;

use oxmpi_base::Result;

use super::array::ArrayIn;
use super::scalar::null;
use super::text::TextIn;

/// Strings before a null pointer; none at all if it is null (`MPI_ARGV_NULL`).
#[derive(Clone, Copy, Debug)]
pub struct Words(*const *mut c_char);

/// An array of strings.
#[derive(Clone, Copy, Debug)]
pub struct Texts(ArrayIn<*mut c_char>);

/// An array of lists of strings; a null pointer (`MPI_ARGVS_NULL`) is as many empty ones.
#[derive(Clone, Copy, Debug)]
pub struct WordLists {
    base: *const *mut *mut c_char,
    lists: ArrayIn<*mut *mut c_char>,
}

impl Words {
    /// # Safety
    /// Until the last use, a list that is not null is one of strings, each of which ends with a zero byte, and ends
    /// with a null pointer.
    #[inline]
    pub unsafe fn new(list: *const *mut c_char) -> Self {
        Self(list)
    }

    /// The strings, without their zero bytes.
    pub fn words(self) -> Vec<Vec<u8>> {
        let mut words = Vec::new();
        if self.0.is_null() {
            return words;
        }
        loop {
            // SAFETY: `new` was promised that the list goes on to its null pointer, before which this is.
            let word = unsafe { self.0.wrapping_add(words.len()).read() };
            if word.is_null() {
                return words;
            }
            // SAFETY: `new` was promised that a string is there.
            words.push(unsafe { CStr::from_ptr(word) }.to_bytes().to_vec());
        }
    }
}

impl Texts {
    /// # Safety
    /// As for [`ArrayIn::new`], and as for [`TextIn::new`] of each item.
    #[inline]
    pub unsafe fn new(base: *const *mut c_char, len: impl Into<i64>) -> Self {
        // SAFETY: the same promise.
        Self(unsafe { ArrayIn::new(base, len) })
    }

    /// The strings, without their zero bytes.
    ///
    /// # Errors
    /// As [`ArrayIn::counted`] and [`TextIn::bytes`].
    pub fn counted(self, argument: &str, length: &str) -> Result<Vec<Vec<u8>>> {
        let texts = self.0.counted(argument, length)?;
        // SAFETY: `new` was promised this of each item.
        let text = |place: usize| unsafe { TextIn::new(texts.get(place)) };
        (0..texts.len()).map(|place| text(place).bytes(&format!("{argument}[{place}]"))).collect()
    }
}

impl WordLists {
    /// # Safety
    /// As for [`ArrayIn::new`], and as for [`Words::new`] of each item.
    #[inline]
    pub unsafe fn new(base: *const *mut *mut c_char, len: impl Into<i64>) -> Self {
        // SAFETY: the same promise.
        Self { base, lists: unsafe { ArrayIn::new(base, len) } }
    }

    /// The list at `place`.
    ///
    /// # Errors
    /// `Arg` if there are no lists there.
    pub fn list(self, argument: &str, place: usize) -> Result<Words> {
        if self.base.is_null() {
            // SAFETY: null asks for no promise.
            return Ok(unsafe { Words::new(ptr::null()) });
        }
        let lists = self.lists.named(argument)?;
        if place >= lists.len() {
            return Err(null(&format!("{argument}[{place}]")));
        }
        // SAFETY: `new` was promised this of each item.
        Ok(unsafe { Words::new(lists.get(place)) })
    }
}
