//! A value and where it was found: the elements of `MPI_MINLOC` and `MPI_MAXLOC`.
//!
//! MPI-5.0: Collective Communication, MINLOC and MAXLOC.

use std::cmp::Ordering;

use oxmpi_base::{ReduceOp, Scalar};
use oxmpi_mem::Region;
use oxmpi_mem::copy::{Common, Plain, Registers};

use crate::number::Ordered;
use crate::operation::Operation;
use crate::table;

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

/// One of the two things that a pair is: how it is compared, and how long it is.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    compare: unsafe fn(*const u8, *const u8) -> Option<Ordering>,
    bytes: usize,
}

/// The order of two elements; `None` if they have none.
///
/// # Safety
/// Both are valid for reads of an element, and no Rust reference to any of it is used meanwhile.
unsafe fn compare<T: Ordered>(left: *const u8, right: *const u8) -> Option<Ordering> {
    // SAFETY: the caller's promise.
    let left = unsafe { Common::load_value::<T>(left, 0) };
    // SAFETY: as above.
    let right = unsafe { Common::load_value::<T>(right, 0) };
    match (left.exceeds(right), right.exceeds(left)) {
        (true, _) => Some(Ordering::Greater),
        (_, true) => Some(Ordering::Less),
        _ => left.equals(right).then_some(Ordering::Equal),
    }
}

impl Part {
    pub(crate) fn of<T: Ordered>() -> Self {
        Self { compare: compare::<T>, bytes: size_of::<T>() }
    }

    /// The order of the elements with which two regions begin.
    fn order(self, left: &Region, right: &Region) -> Option<Ordering> {
        let [left, right] = [left, right].map(|region| region.part(0, self.bytes).as_ptr());
        // SAFETY: the regions promise so many bytes, which are those of an element.
        unsafe { (self.compare)(left, right) }
    }
}

/// `MPI_MAXLOC` or `MPI_MINLOC` on pairs of any two types. There are too many of these for a kernel each.
#[derive(Clone, Copy)]
pub(crate) struct Pairs {
    /// What the value that is wanted is to the other one.
    wanted: Ordering,
    value: Part,
    index: Part,
}

impl Pairs {
    /// `None` if there is no such operation.
    pub(crate) fn new(op: ReduceOp, value: Scalar, index: Scalar) -> Option<Self> {
        let wanted = match op {
            ReduceOp::Maxloc => Ordering::Greater,
            ReduceOp::Minloc => Ordering::Less,
            _ => return None,
        };
        Some(Self { wanted, value: table::value(value)?, index: table::index(index)? })
    }

    /// As [`Reducer::combine`](crate::Reducer::combine).
    pub(crate) fn combine(&self, left: &Region, right: &Region, into: &Region) {
        let bytes = self.value.bytes + self.index.bytes;
        for at in (0..into.len()).step_by(bytes) {
            let [left, right] = [left, right].map(|pairs| pairs.part(at, bytes));
            let is_left = self.is_left(&left, &right);
            into.part(at, bytes).copy_from(if is_left { &left } else { &right });
        }
    }

    /// Whether the left one of two pairs is the result.
    fn is_left(&self, left: &Region, right: &Region) -> bool {
        match self.value.order(left, right) {
            Some(Ordering::Equal) => {
                let [left, right] = [left, right].map(|pair| pair.part(self.value.bytes, self.index.bytes));
                self.index.order(&left, &right) != Some(Ordering::Greater)
            }
            order => order == Some(self.wanted),
        }
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_base::Pair as PairKind;

    use super::*;

    /// The result on vectors of pairs of a float and an index.
    fn result(combine: impl FnOnce(&Region, &Region, &Region), pairs: [&[(f32, i32)]; 2]) -> Vec<u8> {
        let bytes = |pairs: &[(f32, i32)]| -> Vec<u8> {
            pairs
                .iter()
                .flat_map(|(value, index)| [value.to_le_bytes(), index.to_le_bytes()].concat())
                .collect()
        };
        let [mut left, mut right] = pairs.map(bytes);
        let mut into = vec![0; left.len()];
        // SAFETY: the vectors outlive the regions, and are used through them alone.
        let [left, right, result] = [&mut left, &mut right, &mut into]
            .map(|bytes| unsafe { Region::claim(bytes.as_mut_ptr(), bytes.len()) });
        combine(&left, &right, &result);
        result.to_vec()
    }

    #[test]
    fn pairs_without_a_kernel_are_combined_as_those_with_one() {
        let values = [f32::NAN, -1.0, -0.0, 0.0, 1.0, f32::INFINITY];
        let all = values.iter().flat_map(|&value| [-1, 0, 1].map(|index| (value, index)));
        let all: Vec<(f32, i32)> = all.collect();
        for op in [ReduceOp::Maxloc, ReduceOp::Minloc] {
            let pairs = Pairs::new(op, Scalar::F32, Scalar::I32).expect("it is one of them");
            let kernel = table::kernel(op, Scalar::Pair(PairKind::F32I32)).expect("it has one");
            for turn in 0..all.len() {
                let mut others = all.clone();
                others.rotate_left(turn);
                let expected = result(
                    // SAFETY: the regions are equally long, and a kernel for one pair at a time runs everywhere.
                    |left, right, into| unsafe {
                        kernel(left.as_ptr(), right.as_ptr(), into.as_ptr(), into.len());
                    },
                    [&all, &others],
                );
                let combined = result(|left, right, into| pairs.combine(left, right, into), [&all, &others]);
                assert_eq!(combined, expected, "{op:?}, {turn}");
            }
        }
    }

    #[test]
    fn an_index_without_a_sign_is_compared_as_such() {
        let pairs = |index| Pairs::new(ReduceOp::Maxloc, Scalar::F32, index).expect("it is one of them");
        let operands: [&[(f32, i32)]; 2] = [&[(1.0, -1)], &[(1.0, 1)]];
        let index_of = |kind| {
            let bytes = result(|left, right, into| pairs(kind).combine(left, right, into), operands);
            i32::from_le_bytes(bytes[4..].try_into().expect("four bytes"))
        };
        assert_eq!((index_of(Scalar::I32), index_of(Scalar::U32)), (-1, 1));
        assert!(Pairs::new(ReduceOp::Maxloc, Scalar::F32, Scalar::F32).is_none());
        assert!(Pairs::new(ReduceOp::Sum, Scalar::F32, Scalar::I32).is_none());
    }
}
