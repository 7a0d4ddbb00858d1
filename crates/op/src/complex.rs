//! Complex numbers.

use oxmpi_mem::copy::Plain;

use crate::half::Half;
use crate::number::Arithmetic;
use crate::recovery::Recovering;

/// Real and imaginary part, as C and Fortran store them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct Complex<T> {
    pub re: T,
    pub im: T,
}

// SAFETY: two of a type follow each other without gaps.
unsafe impl<T: Plain> Plain for Complex<T> {}

impl<T> Complex<T> {
    pub(crate) fn map(self, part: impl Fn(T) -> T) -> Self {
        Self { re: part(self.re), im: part(self.im) }
    }
}

impl<T: Arithmetic> Arithmetic for Complex<T> {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { re: self.re.add(other.re), im: self.im.add(other.im) }
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        Self { re: self.re.subtract(other.re), im: self.im.subtract(other.im) }
    }

    /// The product by its definition; infinities are not recovered from NaN (see `recovery`).
    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        Self {
            re: self.re.multiply(other.re).subtract(self.im.multiply(other.im)),
            im: self.re.multiply(other.im).add(self.im.multiply(other.re)),
        }
    }
}

/// A complex number of two halves. What is computed of it is rounded once, at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub(crate) struct ComplexHalf(Complex<Half>);

// SAFETY: as that inside.
unsafe impl Plain for ComplexHalf {}

impl ComplexHalf {
    fn widen(self) -> Complex<f32> {
        Complex { re: self.0.re.to_f32(), im: self.0.im.to_f32() }
    }

    fn narrow(wide: Complex<f32>) -> Self {
        Self(Complex { re: Half::from_f32(wide.re), im: Half::from_f32(wide.im) })
    }
}

impl Arithmetic for ComplexHalf {
    fn add(self, other: Self) -> Self {
        Self::narrow(self.widen().add(other.widen()))
    }

    fn subtract(self, other: Self) -> Self {
        Self::narrow(self.widen().subtract(other.widen()))
    }

    fn multiply(self, other: Self) -> Self {
        Self::narrow(self.widen().multiply(other.widen()))
    }
}

impl Recovering for ComplexHalf {
    fn multiply_recovering(self, other: Self) -> Self {
        Self::narrow(self.widen().multiply_recovering(other.widen()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_square_of_i_is_minus_one() {
        let i = Complex { re: 0.0, im: 1.0 };
        assert_eq!(i.multiply(i), Complex { re: -1.0, im: 0.0 });
    }

    #[test]
    fn a_product_of_halves_is_rounded_once() {
        // 255 * 257 - 256 * 256 is -1, but neither product has a half of its own.
        let number = |re: f32, im: f32| ComplexHalf::narrow(Complex { re, im });
        let product = number(255.0, 256.0).multiply(number(257.0, 256.0));
        assert_eq!(product.widen().re, -1.0);
    }
}
