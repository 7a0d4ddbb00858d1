//! What an element must be able to do so that an operation can be applied to it.

use oxmpi_mem::copy::Plain;

/// Sums and products. Integers wrap, and those with a sign are computed as those without.
pub(crate) trait Arithmetic: Plain {
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
}

/// Comparison as in C: everything about a NaN is false.
pub(crate) trait Ordered: Plain {
    fn exceeds(self, other: Self) -> bool;
    fn equals(self, other: Self) -> bool;
}

/// Operations on each bit.
pub(crate) trait Bits: Plain {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}

/// Truth values: whatever is not 0 is true, and what is computed is 0 or 1.
pub(crate) trait Truth: Plain {
    fn is_true(self) -> bool;
    fn of(truth: bool) -> Self;
}

macro_rules! ordered {
    ($($number:ty)*) => {$(
        impl Ordered for $number {
            #[inline(always)]
            fn exceeds(self, other: Self) -> bool {
                self > other
            }
            #[inline(always)]
            fn equals(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}

macro_rules! real {
    ($($number:ty)*) => {$(
        impl Arithmetic for $number {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}

macro_rules! integer {
    ($($number:ty)*) => {$(
        impl Arithmetic for $number {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }

        impl Bits for $number {
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
        }

        impl Truth for $number {
            #[inline(always)]
            fn is_true(self) -> bool {
                self != 0
            }
            #[inline(always)]
            fn of(truth: bool) -> Self {
                Self::from(truth)
            }
        }
    )*};
}

integer!(u8 u16 u32 u64 u128);
real!(f32 f64);
ordered!(i8 i16 i32 i64 i128 u8 u16 u32 u64 f32 f64);
