//! A value and where it was found: the elements of `MPI_MINLOC` and `MPI_MAXLOC`.
//!
//! MPI-5.0: Collective Communication, MINLOC and MAXLOC.

use oxmpi_mem::copy::Plain;

use crate::number::Ordered;
use crate::operation::Operation;

/// A value and its index, packed: without the gaps that C's structure has.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed)]
pub(crate) struct Pair<V, I> {
    value: V,
    index: I,
}

// SAFETY: the two follow each other without gaps.
unsafe impl<V: Plain, I: Plain> Plain for Pair<V, I> {}

/// The greatest value; of equal ones that with the least index.
pub(crate) struct Maxloc;

/// The least value; of equal ones that with the least index.
pub(crate) struct Minloc;

impl<V: Ordered, I: Ordered> Pair<V, I> {
    /// The equal values of both, with the lesser index.
    fn tie(self, other: Self) -> Self {
        let Self { index, .. } = self;
        if index.exceeds(other.index) { other } else { self }
    }
}

impl<V: Ordered, I: Ordered> Operation<Pair<V, I>> for Maxloc {
    fn combine(left: Pair<V, I>, right: Pair<V, I>) -> Pair<V, I> {
        let (left_value, right_value) = (left.value, right.value);
        if left_value.equals(right_value) {
            left.tie(right)
        } else if left_value.exceeds(right_value) {
            left
        } else {
            right
        }
    }
}

impl<V: Ordered, I: Ordered> Operation<Pair<V, I>> for Minloc {
    fn combine(left: Pair<V, I>, right: Pair<V, I>) -> Pair<V, I> {
        let (left_value, right_value) = (left.value, right.value);
        if left_value.equals(right_value) {
            left.tie(right)
        } else if right_value.exceeds(left_value) {
            left
        } else {
            right
        }
    }
}
