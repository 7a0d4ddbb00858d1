//! Arrays of the program's.

use std::marker::PhantomData;
use std::ptr::NonNull;

use oxmpi_base::{Error, ErrorClass, Result};

use super::scalar::{Slot, null};

/// What a function does with what it is given reads.
pub trait Reads {}
/// What a function does with what it is given writes.
pub trait Writes {}

/// Only reads.
#[derive(Clone, Copy, Debug)]
pub enum Reading {}
/// Only writes.
#[derive(Clone, Copy, Debug)]
pub enum Writing {}
/// Reads and writes.
#[derive(Clone, Copy, Debug)]
pub enum Both {}

impl Reads for Reading {}
impl Writes for Writing {}
impl Reads for Both {}
impl Writes for Both {}

/// An array argument, and how many items it has.
#[derive(Clone, Copy, Debug)]
pub struct ArrayArgument<T, M> {
    base: *mut T,
    len: i64,
    mode: PhantomData<M>,
}

/// An array that a function reads.
pub type ArrayIn<T> = ArrayArgument<T, Reading>;
/// An array that a function writes.
pub type ArrayOut<T> = ArrayArgument<T, Writing>;
/// An array that a function reads and writes.
pub type ArrayInOut<T> = ArrayArgument<T, Both>;

impl<T: Copy, M> ArrayArgument<T, M> {
    /// # Safety
    /// Until the last use, an array that is not null is valid for `len` items, if that is positive: for reads of
    /// initialised items if the mode reads, for writes if it writes.
    #[inline]
    pub unsafe fn new(base: *const T, len: impl Into<i64>) -> Self {
        Self { base: base.cast_mut(), len: len.into(), mode: PhantomData }
    }

    /// The argument of this name.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if its length is negative, or the array is null but should have items.
    #[inline]
    pub fn named(self, argument: &str) -> Result<Array<T, M>> {
        match usize::try_from(self.len) {
            Ok(len) if len == 0 || !self.base.is_null() => {
                Ok(Array { base: self.base, len, mode: PhantomData })
            }
            Ok(_) => Err(null(argument)),
            Err(_) => Err(negative(&format!("the length of {argument}"), self.len)),
        }
    }

    /// As [`ArrayArgument::named`], where C calls the number of items `length`.
    ///
    /// # Errors
    /// As [`ArrayArgument::named`].
    #[inline]
    pub fn counted(self, argument: &str, length: &str) -> Result<Array<T, M>> {
        if self.len < 0 { Err(negative(length, self.len)) } else { self.named(argument) }
    }

    /// As [`ArrayArgument::counted`], of an array of which `needed` items are written.
    ///
    /// # Errors
    /// As [`ArrayArgument::named`]; [`ErrorClass::Arg`] if there is too little room.
    pub fn with_room(self, argument: &str, length: &str, needed: usize) -> Result<Array<T, M>> {
        let len = self.len;
        let array = self.counted(argument, length)?;
        if array.len() < needed {
            let text = format!("{length} is {len}, but {argument} gets {needed} items");
            return Err(Error::new(ErrorClass::Arg, text));
        }
        Ok(array)
    }
}

/// An array, of which only words of the standard say how many items it has.
#[derive(Clone, Copy, Debug)]
pub struct Unmeasured<T, M = Reading>(*const T, PhantomData<M>);

impl<T: Copy, M> Unmeasured<T, M> {
    /// # Safety
    /// Until the last use, an array that is not null is valid for as many items as the standard says: for reads of
    /// initialised items if the mode reads, for writes if it writes.
    #[inline]
    pub unsafe fn new(base: *const T) -> Self {
        Self(base, PhantomData)
    }

    /// Whether there is no array.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The array.
    ///
    /// # Safety
    /// These are no more items than the standard says that it has.
    #[inline]
    pub unsafe fn of_len(self, len: impl Into<i64>) -> ArrayArgument<T, M> {
        // SAFETY: `new` was promised that there are so many as the standard says, and this function that it says so.
        unsafe { ArrayArgument::new(self.0, len) }
    }
}

/// The items of an array.
#[derive(Clone, Copy, Debug)]
pub struct Array<T, M = Reading> {
    base: *mut T,
    len: usize,
    mode: PhantomData<M>,
}

impl<T: Copy, M> Array<T, M> {
    /// Number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn at(&self, index: usize) -> *mut T {
        assert!(index < self.len, "the index is inside the array");
        self.base.wrapping_add(index)
    }
}

impl<T: Copy, M: Reads> Array<T, M> {
    /// The item at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn get(&self, index: usize) -> T {
        // SAFETY: `at` is inside the array, which is promised to be valid for reads.
        unsafe { self.at(index).read() }
    }

    /// All items, copied one by one.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len).map(|index| self.get(index))
    }
}

impl<T: Copy, M: Writes> Array<T, M> {
    /// Changes the item at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn set(&self, index: usize, value: T) {
        // SAFETY: `at` is inside the array, which is promised to be valid for writes.
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
}

impl<T: Copy> Array<T, Both> {
    /// The place of the item at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn item(&self, index: usize) -> Slot<T> {
        Slot(NonNull::new(self.at(index)).expect("an array with items is not null"))
    }
}

#[cold]
fn negative(what: &str, count: i64) -> Error {
    Error::new(ErrorClass::Arg, format!("{what} is {count}"))
}

#[cfg(test)]
mod tests {
    use std::ffi::c_int;
    use std::ptr;

    use super::*;
    use crate::argument::scalar::Out;

    #[test]
    fn null_pointers_and_negative_lengths_are_named() {
        // SAFETY: null asks for no promise.
        let error = unsafe { Out::<c_int>::new(ptr::null_mut()) }.named("size").expect_err("null");
        assert_eq!((error.class(), error.text()), (ErrorClass::Arg, "size is a null pointer"));
        // SAFETY: as above.
        let ranks = |len: i64| unsafe { ArrayIn::<c_int>::new(ptr::null(), len) };
        assert_eq!(ranks(-2).named("ranks").expect_err("negative").text(), "the length of ranks is -2");
        assert_eq!(ranks(-2).counted("ranks", "n").expect_err("negative").text(), "n is -2");
        assert_eq!(ranks(1).named("ranks").expect_err("null").text(), "ranks is a null pointer");
        assert_eq!(ranks(0).named("ranks").expect("no items").iter().count(), 0);
    }
}
