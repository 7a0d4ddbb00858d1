//! The predefined operations, on one pair of elements.
//!
//! MPI-5.0: Collective Communication, Predefined Reduction Operations.

use crate::number::{Arithmetic, Bits, Ordered, Truth};
use crate::recovery::Recovering;

/// One operation on elements of type `T`.
pub(crate) trait Operation<T> {
    fn combine(left: T, right: T) -> T;
}

macro_rules! operations {
    ($($operation:ident on $number:ident: |$left:ident, $right:ident| $result:expr;)*) => {$(
        pub(crate) struct $operation;

        impl<T: $number> Operation<T> for $operation {
            #[inline(always)]
            fn combine($left: T, $right: T) -> T {
                $result
            }
        }
    )*};
}

operations! {
    Band on Bits: |left, right| left.and(right);
    Bor on Bits: |left, right| left.or(right);
    Bxor on Bits: |left, right| left.xor(right);
    Land on Truth: |left, right| T::of(left.is_true() & right.is_true());
    Lor on Truth: |left, right| T::of(left.is_true() | right.is_true());
    Lxor on Truth: |left, right| T::of(left.is_true() ^ right.is_true());
    Max on Ordered: |left, right| if right.exceeds(left) { right } else { left };
    Min on Ordered: |left, right| if left.exceeds(right) { right } else { left };
    Prod on Arithmetic: |left, right| left.multiply(right);
    ProdRecovering on Recovering: |left, right| left.multiply_recovering(right);
    Sum on Arithmetic: |left, right| left.add(right);
}
