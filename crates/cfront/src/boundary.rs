//! What an export hands to a body besides C's own types.

use std::ffi::c_int;

use oxmpi_base::Result;

use crate::generated::constants::MPI_UNDEFINED;
use crate::pointer::{Array, Out, null};

/// An array of integers that the caller of `X` has as `int`, and the caller of `X_c` as 64-bit integers.
#[derive(Clone, Copy, Debug)]
pub enum Integers {
    /// From `X`.
    Int(*const c_int),
    /// From `X_c`: `MPI_Count` or `MPI_Aint`.
    Large(*const i64),
}

impl Integers {
    /// The `len` integers.
    ///
    /// # Errors
    /// `Arg`, naming `argument`, if `len` is negative, or they should be at the null pointer.
    ///
    /// # Safety
    /// Until the last use, an array that is not null holds `len` initialised integers.
    pub unsafe fn array(self, argument: &str, len: impl Into<i64>) -> Result<IntegerArray> {
        Ok(match self {
            // SAFETY: the caller's promise; nothing is written.
            Self::Int(base) => IntegerArray::Int(unsafe { Array::new(argument, base.cast_mut(), len) }?),
            // SAFETY: as above.
            Self::Large(base) => IntegerArray::Large(unsafe { Array::new(argument, base.cast_mut(), len) }?),
        })
    }
}

/// An array of integers of either width.
#[derive(Clone, Copy, Debug)]
pub enum IntegerArray {
    /// From `X`.
    Int(Array<c_int>),
    /// From `X_c`.
    Large(Array<i64>),
}

impl IntegerArray {
    /// The integer at `index`.
    ///
    /// # Panics
    /// If there is none.
    pub fn get(&self, index: usize) -> i64 {
        match self {
            Self::Int(array) => array.get(index).into(),
            Self::Large(array) => array.get(index),
        }
    }

    /// All integers, copied.
    pub fn to_vec(self) -> Vec<i64> {
        match self {
            Self::Int(array) => array.iter().map(i64::from).collect(),
            Self::Large(array) => array.iter().collect(),
        }
    }
}

/// Where a body writes an integer that is an `int` in `X` and has 64 bits in `X_c`.
#[derive(Clone, Copy, Debug)]
pub enum IntegerOut {
    /// From `X`.
    Int(*mut c_int),
    /// From `X_c`: `MPI_Count` or `MPI_Aint`.
    Large(*mut i64),
}

impl IntegerOut {
    /// Refuses a null pointer.
    ///
    /// # Errors
    /// `Arg`, naming `argument`, if it is one.
    #[inline]
    pub fn check(self, argument: &str) -> Result<()> {
        let is_null = match self {
            Self::Int(pointer) => pointer.is_null(),
            Self::Large(pointer) => pointer.is_null(),
        };
        if is_null { Err(null(argument)) } else { Ok(()) }
    }

    /// The value that is there, of an argument that is also an input.
    ///
    /// # Errors
    /// As [`IntegerOut::check`].
    ///
    /// # Safety
    /// A pointer that is not null is that of an initialised integer.
    #[inline]
    pub unsafe fn read(self, argument: &str) -> Result<i64> {
        self.check(argument)?;
        Ok(match self {
            // SAFETY: the caller's promise; it is not null.
            Self::Int(pointer) => i64::from(unsafe { pointer.read() }),
            // SAFETY: as above.
            Self::Large(pointer) => unsafe { pointer.read() },
        })
    }

    /// Writes `value`; `MPI_UNDEFINED` if it does not fit.
    ///
    /// # Errors
    /// As [`IntegerOut::check`].
    ///
    /// # Safety
    /// A pointer that is not null is valid for writes.
    #[inline]
    pub unsafe fn write(self, argument: &str, value: i64) -> Result<()> {
        match self {
            Self::Int(pointer) => {
                // SAFETY: the caller's promise.
                unsafe { Out::new(argument, pointer) }?.set(c_int::try_from(value).unwrap_or(MPI_UNDEFINED));
            }
            Self::Large(pointer) => {
                // SAFETY: the caller's promise.
                unsafe { Out::new(argument, pointer) }?.set(value);
            }
        }
        Ok(())
    }
}
