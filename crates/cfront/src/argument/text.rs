//! Strings.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::NonNull;

use oxmpi_base::{Error, ErrorClass, Result};

use super::scalar::{InOut, Out, Place, Slot, null};

/// A string that the program gives.
#[derive(Clone, Copy, Debug)]
pub struct TextIn(*const c_char);

impl TextIn {
    /// # Safety
    /// Until the last use, a pointer that is not null is that of a string that ends with a zero byte.
    #[inline]
    pub unsafe fn new(pointer: *const c_char) -> Self {
        Self(pointer)
    }

    /// The string in the argument of this name, without its zero byte.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if it is null.
    pub fn bytes(self, argument: &str) -> Result<Vec<u8>> {
        if self.0.is_null() {
            return Err(null(argument));
        }
        // SAFETY: `new` was promised that a string is there.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes().to_vec())
    }

    /// As [`TextIn::bytes`], of a string that only the library looks at. Bytes that are no UTF-8 are replaced.
    ///
    /// # Errors
    /// As [`TextIn::bytes`].
    pub fn string(self, argument: &str) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.bytes(argument)?).into_owned())
    }

    /// As [`TextIn::bytes`], fewer than `capacity`.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if it is null or too long.
    pub fn short_bytes(self, argument: &str, capacity: c_int) -> Result<Vec<u8>> {
        let text = self.bytes(argument)?;
        if text.len() >= capacity as usize {
            let (bytes, most) = (text.len(), capacity - 1);
            return Err(Error::new(
                ErrorClass::Arg,
                format!("{argument} has {bytes} bytes, more than {most}"),
            ));
        }
        Ok(text)
    }
}

/// Where a function writes a string, and how many bytes there is room for, the zero byte among them.
#[derive(Clone, Copy, Debug)]
pub struct TextOut {
    base: *mut c_char,
    capacity: i64,
}

impl TextOut {
    /// # Safety
    /// Until the last use, a pointer that is not null is valid for writes of `capacity` bytes, if that is positive.
    #[inline]
    pub unsafe fn new(base: *mut c_char, capacity: impl Into<i64>) -> Self {
        Self { base, capacity: capacity.into() }
    }

    /// The argument of this name.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if it is null.
    ///
    /// # Panics
    /// If there is no room for the zero byte.
    pub fn named(self, argument: &str) -> Result<Text> {
        assert!(self.capacity > 0, "a string ends with a zero byte");
        let base = NonNull::new(self.base).ok_or_else(|| null(argument))?;
        Ok(Text { base, capacity: self.capacity as usize })
    }

    /// The argument of this name, and the one called `resultlen`, where the length of the string goes.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if one is null.
    pub fn with_length(self, argument: &str, resultlen: Out<c_int>) -> Result<StringOut> {
        Ok(StringOut { text: self.named(argument)?, len: resultlen.named("resultlen")? })
    }
}

/// Where a function writes a string for which there is as much room as another argument says by its address.
#[derive(Clone, Copy, Debug)]
pub struct SizedText {
    capacity: InOut<c_int>,
    base: *mut c_char,
}

impl SizedText {
    /// # Safety
    /// Until the last use, a string that is not null is valid for writes of as many bytes as `capacity` points to when
    /// the function is called, and `capacity` is as for [`InOut::new`].
    #[inline]
    pub unsafe fn new(capacity: *mut c_int, base: *mut c_char) -> Self {
        // SAFETY: the same promise.
        Self { capacity: unsafe { InOut::new(capacity) }, base }
    }

    /// The arguments of these names: where the capacity is, and the string, if there is room for any.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if the capacity is negative, or a pointer null that is needed.
    pub fn named(self, capacity: &str, argument: &str) -> Result<(Slot<c_int>, Option<Text>)> {
        let slot = self.capacity.named(capacity)?;
        let room = slot.get();
        if room < 0 {
            return Err(Error::new(ErrorClass::Arg, format!("*{capacity} is {room}")));
        }
        // SAFETY: `new` was promised room for so many bytes.
        let text = unsafe { TextOut::new(self.base, room) };
        Ok((slot, if room == 0 { None } else { Some(text.named(argument)?) }))
    }
}

/// Where a string goes.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    base: NonNull<c_char>,
    capacity: usize,
}

impl Text {
    /// Writes as much of `value` as there is room for, up to a whole character; gives its length.
    pub fn set(self, value: &str) -> usize {
        let mut len = value.len().min(self.capacity - 1);
        while !value.is_char_boundary(len) {
            len -= 1;
        }
        self.set_bytes(&value.as_bytes()[..len])
    }

    /// Writes as much of `value` as there is room for; gives its length.
    pub fn set_bytes(self, value: &[u8]) -> usize {
        let len = value.len().min(self.capacity - 1);
        let base = self.base.as_ptr().cast::<u8>();
        // SAFETY: who made the argument has promised room for more than `len` bytes.
        unsafe { base.copy_from_nonoverlapping(value.as_ptr(), len) };
        // SAFETY: as above.
        unsafe { base.wrapping_add(len).write(0) };
        len
    }
}

/// Where a string and its length go.
#[derive(Clone, Copy, Debug)]
pub struct StringOut {
    text: Text,
    len: Place<c_int>,
}

impl StringOut {
    /// Writes as much of `value` as there is room for, up to a whole character, and its length.
    pub fn set(self, value: &str) {
        let len = self.text.set(value);
        self.set_len(len);
    }

    /// Writes as much of `value` as there is room for, and its length.
    pub fn set_bytes(self, value: &[u8]) {
        let len = self.text.set_bytes(value);
        self.set_len(len);
    }

    fn set_len(self, len: usize) {
        self.len.set(c_int::try_from(len).expect("strings of MPI are short"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_that_is_too_long_is_cut_between_characters() {
        let (mut text, mut len) = ([1 as c_char; 8], -1);
        // SAFETY: both live until the end of the test.
        let name = unsafe { TextOut::new(text.as_mut_ptr(), 6) };
        // SAFETY: as above.
        let resultlen = unsafe { Out::new(&raw mut len) };
        name.with_length("name", resultlen).expect("not null").set("abcd\u{e9}f");
        assert_eq!(len, 4);
        assert_eq!(text.map(|byte| byte as u8), [b'a', b'b', b'c', b'd', 0, 1, 1, 1]);
    }
}
