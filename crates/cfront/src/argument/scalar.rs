//! Single values by their addresses.

use std::ptr::NonNull;

use oxmpi_base::{Error, ErrorClass, Result};

/// A value that a function reads by its address.
#[derive(Clone, Copy, Debug)]
pub struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// # Safety
    /// Until the last use, a pointer that is not null is valid for reads of an initialised `T`.
    #[inline]
    pub unsafe fn new(pointer: *const T) -> Self {
        Self(pointer)
    }

    /// The value of the argument of this name.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if it is null.
    #[inline]
    pub fn get(self, argument: &str) -> Result<T> {
        let pointer = NonNull::new(self.0.cast_mut()).ok_or_else(|| null(argument))?;
        // SAFETY: `new` was promised that it is valid for reads.
        Ok(unsafe { pointer.as_ptr().read() })
    }
}

/// Where a function writes one result.
#[derive(Clone, Copy, Debug)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Safety
    /// Until the last use, a pointer that is not null is valid for writes of a `T`.
    #[inline]
    pub unsafe fn new(pointer: *mut T) -> Self {
        Self(pointer)
    }

    /// The argument of this name.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if it is null.
    #[inline]
    pub fn named(self, argument: &str) -> Result<Place<T>> {
        self.place().ok_or_else(|| null(argument))
    }

    /// The place, unless it is null.
    #[inline]
    pub fn place(self) -> Option<Place<T>> {
        NonNull::new(self.0).map(Place)
    }
}

/// Where a result goes.
#[derive(Clone, Copy, Debug)]
pub struct Place<T>(NonNull<T>);

impl<T> Place<T> {
    /// Writes the result.
    #[inline]
    pub fn set(self, value: T) {
        // SAFETY: who made the argument has promised that it is valid for writes.
        unsafe { self.0.as_ptr().write(value) };
    }
}

/// A value that a function reads and may change, such as a handle that it frees.
#[derive(Clone, Copy, Debug)]
pub struct InOut<T>(*mut T);

impl<T: Copy> InOut<T> {
    /// # Safety
    /// Until the last use, a pointer that is not null is valid for reads and writes of an initialised `T`.
    #[inline]
    pub unsafe fn new(pointer: *mut T) -> Self {
        Self(pointer)
    }

    /// The argument of this name.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if it is null.
    #[inline]
    pub fn named(self, argument: &str) -> Result<Slot<T>> {
        NonNull::new(self.0).map(Slot).ok_or_else(|| null(argument))
    }
}

/// A value in the program's memory.
#[derive(Clone, Copy, Debug)]
pub struct Slot<T>(pub(super) NonNull<T>);

impl<T: Copy> Slot<T> {
    /// The value.
    #[inline]
    pub fn get(self) -> T {
        // SAFETY: who made the argument has promised that it is valid for reads.
        unsafe { self.0.as_ptr().read() }
    }

    /// Changes the value.
    #[inline]
    pub fn set(self, value: T) {
        // SAFETY: who made the argument has promised that it is valid for writes.
        unsafe { self.0.as_ptr().write(value) };
    }
}

/// The error of passing a null pointer as `argument`.
#[cold]
pub fn null(argument: &str) -> Error {
    Error::new(ErrorClass::Arg, format!("{argument} is a null pointer"))
}
