//! Integers that are `int` in `X`, and have 64 bits in `X_c`.

use std::ffi::c_int;

use oxmpi_base::Result;

use super::array::{Array, ArrayIn, Unmeasured};
use super::scalar::{InOut, Out, Place, Slot};
use crate::generated::constants::MPI_UNDEFINED;

/// An array that a function reads.
#[derive(Clone, Copy, Debug)]
pub enum Integers {
    /// From `X`.
    Int(ArrayIn<c_int>),
    /// From `X_c`: `MPI_Count` or `MPI_Aint`.
    Large(ArrayIn<i64>),
}

impl Integers {
    /// The integers in the argument of this name.
    ///
    /// # Errors
    /// As [`ArrayArgument::named`](super::ArrayArgument::named).
    pub fn named(self, argument: &str) -> Result<IntegerArray> {
        Ok(match self {
            Self::Int(array) => IntegerArray::Int(array.named(argument)?),
            Self::Large(array) => IntegerArray::Large(array.named(argument)?),
        })
    }
}

/// As [`Integers`], of which only words of the standard say how many there are.
#[derive(Clone, Copy, Debug)]
pub enum UnmeasuredIntegers {
    /// From `X`.
    Int(Unmeasured<c_int>),
    /// From `X_c`.
    Large(Unmeasured<i64>),
}

impl UnmeasuredIntegers {
    /// The array.
    ///
    /// # Safety
    /// These are no more integers than the standard says that it has.
    pub unsafe fn of_len(self, len: impl Into<i64>) -> Integers {
        match self {
            // SAFETY: the same promise.
            Self::Int(array) => Integers::Int(unsafe { array.of_len(len) }),
            // SAFETY: the same promise.
            Self::Large(array) => Integers::Large(unsafe { array.of_len(len) }),
        }
    }
}

/// The items of an array of integers of either width.
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

    /// Number of integers.
    pub fn len(&self) -> usize {
        match self {
            Self::Int(array) => array.len(),
            Self::Large(array) => array.len(),
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

/// Where a function writes an integer.
#[derive(Clone, Copy, Debug)]
pub enum IntegerOut {
    /// From `X`.
    Int(Out<c_int>),
    /// From `X_c`: `MPI_Count` or `MPI_Aint`.
    Large(Out<i64>),
}

impl IntegerOut {
    /// The argument of this name.
    ///
    /// # Errors
    /// As [`Out::named`].
    #[inline]
    pub fn named(self, argument: &str) -> Result<IntegerPlace> {
        Ok(match self {
            Self::Int(out) => IntegerPlace::Int(out.named(argument)?),
            Self::Large(out) => IntegerPlace::Large(out.named(argument)?),
        })
    }
}

/// Where an integer of either width goes.
#[derive(Clone, Copy, Debug)]
pub enum IntegerPlace {
    /// From `X`.
    Int(Place<c_int>),
    /// From `X_c`.
    Large(Place<i64>),
}

impl IntegerPlace {
    /// Writes `value`; `MPI_UNDEFINED` if it does not fit.
    #[inline]
    pub fn set(self, value: i64) {
        match self {
            Self::Int(place) => place.set(narrow(value)),
            Self::Large(place) => place.set(value),
        }
    }
}

/// An integer that a function reads and changes.
#[derive(Clone, Copy, Debug)]
pub enum IntegerInOut {
    /// From `X`.
    Int(InOut<c_int>),
    /// From `X_c`: `MPI_Count` or `MPI_Aint`.
    Large(InOut<i64>),
}

impl IntegerInOut {
    /// The argument of this name.
    ///
    /// # Errors
    /// As [`InOut::named`].
    #[inline]
    pub fn named(self, argument: &str) -> Result<IntegerSlot> {
        Ok(match self {
            Self::Int(inout) => IntegerSlot::Int(inout.named(argument)?),
            Self::Large(inout) => IntegerSlot::Large(inout.named(argument)?),
        })
    }
}

/// An integer of either width in the program's memory.
#[derive(Clone, Copy, Debug)]
pub enum IntegerSlot {
    /// From `X`.
    Int(Slot<c_int>),
    /// From `X_c`.
    Large(Slot<i64>),
}

impl IntegerSlot {
    /// The integer.
    #[inline]
    pub fn get(self) -> i64 {
        match self {
            Self::Int(slot) => slot.get().into(),
            Self::Large(slot) => slot.get(),
        }
    }

    /// Changes it; `MPI_UNDEFINED` if `value` does not fit.
    #[inline]
    pub fn set(self, value: i64) {
        match self {
            Self::Int(slot) => slot.set(narrow(value)),
            Self::Large(slot) => slot.set(value),
        }
    }
}

fn narrow(value: i64) -> c_int {
    c_int::try_from(value).unwrap_or(MPI_UNDEFINED)
}
