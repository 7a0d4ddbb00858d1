//! Operations of reductions.
//!
//! MPI-5.0: Collective Communication, Predefined Reduction Operations; User-Defined Reduction Operations.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use oxmpi_base::{ReduceOp, Result};
use oxmpi_op::Reducer;

use crate::datatype::{Datatype, Integer};

/// How a reduction combines two elements of type `T`.
///
/// Operands are combined in the order of the ranks; only commutative operations are reordered, and those the
/// same way each time.
#[derive(Clone)]
pub struct Op<T> {
    kind: Kind,
    element: PhantomData<fn(T, T) -> T>,
}

#[derive(Clone)]
enum Kind {
    Predefined(ReduceOp),
    User(Reducer),
}

impl<T: Datatype> Op<T> {
    /// `MPI_MAX`.
    pub const MAX: Self = Self::predefined(ReduceOp::Max);
    /// `MPI_MIN`.
    pub const MIN: Self = Self::predefined(ReduceOp::Min);
    /// `MPI_PROD`.
    pub const PROD: Self = Self::predefined(ReduceOp::Prod);
    /// `MPI_SUM`.
    pub const SUM: Self = Self::predefined(ReduceOp::Sum);

    /// An operation that is associative but does not commute.
    ///
    /// A panic in `combine` ends the process: the other ranks count on the result.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let first = oxmpi::Op::user(|left: u32, _right| left);
    /// let (mine, mut firsts) = ([env.world().rank() as u32], [u32::MAX]);
    /// env.world().allreduce(&mine, &mut firsts, &first)?;
    /// assert_eq!(firsts, [0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn user(combine: impl Fn(T, T) -> T + Send + Sync + 'static) -> Self {
        Self::new(combine, false)
    }

    /// An operation that is associative and commutes.
    ///
    /// As [`Op::user`] otherwise; more algorithms are open to it.
    pub fn user_commutative(combine: impl Fn(T, T) -> T + Send + Sync + 'static) -> Self {
        Self::new(combine, true)
    }

    fn new(combine: impl Fn(T, T) -> T + Send + Sync + 'static, commutative: bool) -> Self {
        let function = move |left: &mut [u8], right: &mut [u8], _: u64| combine_all(&combine, left, right);
        let reducer = Reducer::user(size_of::<T>() as u64, commutative, Arc::new(function));
        Self { kind: Kind::User(reducer), element: PhantomData }
    }

    const fn predefined(op: ReduceOp) -> Self {
        Self { kind: Kind::Predefined(op), element: PhantomData }
    }

    pub(crate) fn reducer(&self) -> Result<Reducer> {
        match &self.kind {
            Kind::Predefined(op) => Reducer::predefined(*op, T::BASIC),
            Kind::User(reducer) => Ok(reducer.clone()),
        }
    }
}

impl<T: Integer> Op<T> {
    /// `MPI_BAND`.
    pub const BAND: Self = Self::predefined(ReduceOp::Band);
    /// `MPI_BOR`.
    pub const BOR: Self = Self::predefined(ReduceOp::Bor);
    /// `MPI_BXOR`.
    pub const BXOR: Self = Self::predefined(ReduceOp::Bxor);
    /// `MPI_LAND`.
    pub const LAND: Self = Self::predefined(ReduceOp::Land);
    /// `MPI_LOR`.
    pub const LOR: Self = Self::predefined(ReduceOp::Lor);
    /// `MPI_LXOR`.
    pub const LXOR: Self = Self::predefined(ReduceOp::Lxor);
}

impl<T> fmt::Debug for Op<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Predefined(op) => f.write_str(op.name()),
            Kind::User(reducer) => reducer.fmt(f),
        }
    }
}

/// `right[i] = combine(left[i], right[i])` for all elements of the two.
fn combine_all<T: Datatype>(combine: &impl Fn(T, T) -> T, left: &[u8], right: &mut [u8]) {
    let elements = right.len() / size_of::<T>();
    assert!(left.len() >= right.len(), "operands are equally long");
    let (left, right) = (left.as_ptr().cast::<T>(), right.as_mut_ptr().cast::<T>());
    for index in 0..elements {
        let (left, right) = (left.wrapping_add(index), right.wrapping_add(index));
        // SAFETY: element `index` lies in the slice, and any bits are a `T`.
        let a = unsafe { left.read_unaligned() };
        // SAFETY: as above.
        let b = unsafe { right.read_unaligned() };
        // SAFETY: as above.
        unsafe { right.write_unaligned(combine(a, b)) };
    }
}
