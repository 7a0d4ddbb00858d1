//! Pointers into the program's memory, for arguments that are not message buffers.
//!
//! A value of these types is made at the boundary, where the program's promise is taken over once; from then
//! on reading and writing through it is safe. None of them is a Rust reference.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

use oxmpi_base::{Error, ErrorClass, Result};

/// Where a function writes one result.
#[derive(Clone, Copy, Debug)]
pub struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// The argument of this name.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if it is null.
    ///
    /// # Safety
    /// Until the last use, a pointer that is not null is valid for writes of a `T`.
    #[inline]
    pub unsafe fn new(argument: &str, pointer: *mut T) -> Result<Self> {
        NonNull::new(pointer).map(Self).ok_or_else(|| null(argument))
    }

    /// Writes the result.
    #[inline]
    pub fn set(self, value: T) {
        // SAFETY: `new` was promised that it is valid for writes.
        unsafe { self.0.as_ptr().write(value) };
    }
}

/// A value that a function reads and may change, such as a handle that it frees.
#[derive(Clone, Copy, Debug)]
pub struct InOut<T>(NonNull<T>);

impl<T: Copy> InOut<T> {
    /// The argument of this name.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if it is null.
    ///
    /// # Safety
    /// Until the last use, a pointer that is not null is valid for reads and writes of an initialised `T`.
    #[inline]
    pub unsafe fn new(argument: &str, pointer: *mut T) -> Result<Self> {
        NonNull::new(pointer).map(Self).ok_or_else(|| null(argument))
    }

    /// The value.
    #[inline]
    pub fn get(self) -> T {
        // SAFETY: `new` was promised that it is valid for reads.
        unsafe { self.0.as_ptr().read() }
    }

    /// Changes the value.
    #[inline]
    pub fn set(self, value: T) {
        // SAFETY: `new` was promised that it is valid for writes.
        unsafe { self.0.as_ptr().write(value) };
    }
}

/// A pointer of the program's that is only kept and handed back: what it means is the program's affair.
#[derive(Clone, Copy, Debug)]
pub struct Word(usize);

impl Word {
    /// The pointer as a number.
    pub fn of(pointer: *mut c_void) -> Self {
        Self(pointer.expose_provenance())
    }

    /// The same pointer.
    pub fn pointer(self) -> *mut c_void {
        ptr::with_exposed_provenance_mut(self.0)
    }
}

/// An array of the program's.
#[derive(Clone, Copy, Debug)]
pub struct Array<T> {
    base: *mut T,
    len: usize,
}

impl<T: Copy> Array<T> {
    /// The array argument of this name, of `count` items.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if `count` is negative, or the array is null but should have items.
    ///
    /// # Safety
    /// Until the last use, an array that is not null is valid for `count` items: for reads of initialised items
    /// before [`Array::get`], for writes before [`Array::set`].
    #[inline]
    pub unsafe fn new(argument: &str, base: *mut T, count: impl Into<i64>) -> Result<Self> {
        let count = count.into();
        let Ok(len) = usize::try_from(count) else { return Err(negative(argument, count)) };
        if base.is_null() && len != 0 {
            return Err(null(argument));
        }
        Ok(Self { base, len })
    }

    /// As [`Array::new`], where C calls the number of items `length.0`.
    ///
    /// # Errors
    /// As [`Array::new`].
    ///
    /// # Safety
    /// As [`Array::new`].
    #[inline]
    pub unsafe fn counted(argument: &str, base: *mut T, length: (&str, impl Into<i64>)) -> Result<Self> {
        let (name, count) = (length.0, length.1.into());
        if count < 0 {
            return Err(Error::new(ErrorClass::Arg, format!("{name} is {count}")));
        }
        // SAFETY: the caller's promise.
        unsafe { Self::new(argument, base, count) }
    }

    /// As [`Array::counted`], of an array with room for `length.1` items, of which `needed` are written.
    ///
    /// # Errors
    /// As [`Array::new`]; [`ErrorClass::Arg`] if there is too little room.
    ///
    /// # Safety
    /// As [`Array::new`].
    pub unsafe fn with_room(
        argument: &str,
        base: *mut T,
        room: (&str, c_int),
        needed: usize,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        let array = unsafe { Self::counted(argument, base, room) }?;
        if array.len() < needed {
            let text = format!("{} is {}, but {argument} gets {needed} items", room.0, room.1);
            return Err(Error::new(ErrorClass::Arg, text));
        }
        Ok(array)
    }

    /// Number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The item at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn get(&self, index: usize) -> T {
        // SAFETY: `at` is inside the array, which `new` was promised to be valid for reads.
        unsafe { self.at(index).read() }
    }

    /// Changes the item at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn set(&self, index: usize, value: T) {
        // SAFETY: `at` is inside the array, which `new` was promised to be valid for writes.
        unsafe { self.at(index).write(value) };
    }

    /// Changes the first items.
    ///
    /// # Panics
    /// If there are more values than items.
    pub fn fill(&self, values: impl IntoIterator<Item = T>) {
        for (index, value) in values.into_iter().enumerate() {
            self.set(index, value);
        }
    }

    /// The place of the item at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn item(&self, index: usize) -> InOut<T> {
        InOut(NonNull::new(self.at(index)).expect("an array with items is not null"))
    }

    /// All items, copied one by one.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len).map(|index| self.get(index))
    }

    #[inline]
    fn at(&self, index: usize) -> *mut T {
        assert!(index < self.len, "the index is inside the array");
        self.base.wrapping_add(index)
    }
}

/// A string that the program gives, without its zero byte.
///
/// # Errors
/// [`ErrorClass::Arg`] if it is null.
///
/// # Safety
/// A pointer that is not null is that of a string that ends with a zero byte.
pub unsafe fn bytes(argument: &str, pointer: *const c_char) -> Result<Vec<u8>> {
    if pointer.is_null() {
        return Err(null(argument));
    }
    // SAFETY: the caller promises that a string is there.
    Ok(unsafe { CStr::from_ptr(pointer) }.to_bytes().to_vec())
}

/// As [`bytes`], of a string that only the library looks at. Bytes that are no UTF-8 are replaced.
///
/// # Errors
/// As [`bytes`].
///
/// # Safety
/// As for [`bytes`].
pub unsafe fn string(argument: &str, pointer: *const c_char) -> Result<String> {
    // SAFETY: the caller's promise.
    Ok(String::from_utf8_lossy(&unsafe { bytes(argument, pointer) }?).into_owned())
}

/// As [`bytes`], fewer than `capacity`.
///
/// # Errors
/// [`ErrorClass::Arg`] if it is null or too long.
///
/// # Safety
/// As for [`bytes`].
pub unsafe fn short_bytes(argument: &str, pointer: *const c_char, capacity: c_int) -> Result<Vec<u8>> {
    // SAFETY: the caller's promise.
    let text = unsafe { bytes(argument, pointer) }?;
    if text.len() >= capacity as usize {
        let (bytes, most) = (text.len(), capacity - 1);
        return Err(Error::new(ErrorClass::Arg, format!("{argument} has {bytes} bytes, more than {most}")));
    }
    Ok(text)
}

/// Where a function writes a string.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    base: NonNull<c_char>,
    capacity: usize,
}

impl Text {
    /// The argument of this name, with room for `capacity` bytes, the zero byte among them.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if it is null.
    ///
    /// # Panics
    /// If there is no room for the zero byte.
    ///
    /// # Safety
    /// Until the last use, a pointer that is not null is valid for writes of `capacity` bytes.
    pub unsafe fn new(argument: &str, pointer: *mut c_char, capacity: usize) -> Result<Self> {
        assert!(capacity > 0, "a string ends with a zero byte");
        let base = NonNull::new(pointer).ok_or_else(|| null(argument))?;
        Ok(Self { base, capacity })
    }

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
        // SAFETY: `new` was promised room for more than `len` bytes.
        unsafe { base.copy_from_nonoverlapping(value.as_ptr(), len) };
        // SAFETY: as above.
        unsafe { base.wrapping_add(len).write(0) };
        len
    }
}

/// Where a function writes a string and its length.
#[derive(Clone, Copy, Debug)]
pub struct StringOut {
    text: Text,
    len: Out<c_int>,
}

impl StringOut {
    /// The arguments `argument` and `resultlen`, for a string of at most `capacity` bytes with its zero byte.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if one is null.
    ///
    /// # Safety
    /// Until the last use, a string that is not null is valid for writes of `capacity` bytes, and a length that
    /// is not null for writes.
    pub unsafe fn new(argument: &str, text: *mut c_char, capacity: c_int, len: *mut c_int) -> Result<Self> {
        // SAFETY: the caller's promise.
        let text = unsafe { Text::new(argument, text, capacity as usize) }?;
        // SAFETY: the caller's promise.
        let len = unsafe { Out::new("resultlen", len) }?;
        Ok(Self { text, len })
    }

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

/// The error of passing a null pointer as `argument`.
#[cold]
pub fn null(argument: &str) -> Error {
    Error::new(ErrorClass::Arg, format!("{argument} is a null pointer"))
}

#[cold]
fn negative(argument: &str, count: i64) -> Error {
    Error::new(ErrorClass::Arg, format!("the length of {argument} is {count}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_that_is_too_long_is_cut_between_characters() {
        let (mut text, mut len) = ([1 as c_char; 8], -1);
        // SAFETY: both live until the end of the test.
        let out = unsafe { StringOut::new("name", text.as_mut_ptr(), 6, &raw mut len) }.expect("not null");
        out.set("abcd\u{e9}f");
        assert_eq!(len, 4);
        assert_eq!(text.map(|byte| byte as u8), [b'a', b'b', b'c', b'd', 0, 1, 1, 1]);
    }

    #[test]
    fn null_pointers_and_negative_lengths_are_named() {
        // SAFETY: null asks for no promise.
        let error = unsafe { Out::<c_int>::new("size", std::ptr::null_mut()) }.expect_err("null");
        assert_eq!((error.class(), error.text()), (ErrorClass::Arg, "size is a null pointer"));
        // SAFETY: as above.
        let error = unsafe { Array::<c_int>::new("ranks", std::ptr::null_mut(), -2) }.expect_err("negative");
        assert_eq!(error.text(), "the length of ranks is -2");
        // SAFETY: as above.
        let empty = unsafe { Array::<c_int>::new("ranks", std::ptr::null_mut(), 0) }.expect("no items");
        assert_eq!(empty.iter().count(), 0);
    }
}
