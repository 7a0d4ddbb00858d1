//! IEEE binary128 in software: no processor we build for has it, and Rust has no stable type for it.
//!
//! Rounds to nearest, ties to even; raises no flags. A sum takes some 10 ns.

use oxmpi_mem::copy::Plain;

use crate::number::{Arithmetic, Ordered};
use crate::recovery::Real;

/// A quadruple-precision number, by its bits.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Quad(u128);

// SAFETY: a number of the machine's.
unsafe impl Plain for Quad {}

/// A finite number: `significand * 2^(exponent - BIAS - FRACTION_BITS)`.
#[derive(Clone, Copy)]
struct Finite {
    negative: bool,
    /// At least 1.
    exponent: i32,
    /// Less than [`HIDDEN`] only if the number is subnormal or 0.
    significand: u128,
}

const FRACTION_BITS: u32 = 112;
const BIAS: i32 = 0x3fff;
const EXPONENT_OF_INFINITY: i32 = 0x7fff;
/// The bit that stands before the fraction and is not stored.
const HIDDEN: u128 = 1 << FRACTION_BITS;
const SIGN: u128 = 1 << 127;
const INFINITY: u128 = (EXPONENT_OF_INFINITY as u128) << FRACTION_BITS;
const NAN: Quad = Quad(INFINITY | HIDDEN >> 1);
/// Bits that a significand has behind its last place before it is rounded: two, and one that stands for all
/// that were shifted out.
const GUARD_BITS: u32 = 3;

impl Quad {
    fn magnitude(self) -> u128 {
        self.0 & !SIGN
    }

    fn is_negative(self) -> bool {
        self.0 & SIGN != 0
    }

    fn is_nan(self) -> bool {
        self.magnitude() > INFINITY
    }

    fn is_infinite(self) -> bool {
        self.magnitude() == INFINITY
    }

    fn negate(self) -> Self {
        Self(self.0 ^ SIGN)
    }

    fn signed(negative: bool, magnitude: u128) -> Self {
        Self(if negative { SIGN | magnitude } else { magnitude })
    }

    /// Of a number that is neither infinite nor NaN.
    fn finite(self) -> Finite {
        let (exponent, fraction) = ((self.magnitude() >> FRACTION_BITS) as i32, self.0 & (HIDDEN - 1));
        let negative = self.is_negative();
        match exponent {
            0 => Finite { negative, exponent: 1, significand: fraction },
            _ => Finite { negative, exponent, significand: fraction | HIDDEN },
        }
    }

    /// A key in whose order numbers are; both zeros have the same.
    fn order(self) -> i128 {
        let magnitude = self.magnitude() as i128;
        if self.is_negative() { -magnitude } else { magnitude }
    }

    /// Rounds a number whose significand is followed by [`GUARD_BITS`] bits and fills its place, or is less
    /// if the exponent is 1. The exponent may be less than 1.
    fn round(negative: bool, exponent: i32, significand: u128) -> Self {
        let (exponent, significand) = match exponent {
            1.. => (exponent, significand),
            _ => (1, shift_right(significand, exponent.abs_diff(1))),
        };
        let (guard, kept) = (significand & 7, significand >> GUARD_BITS);
        let up = guard > 4 || guard == 4 && kept & 1 == 1;
        // The hidden bit counts as 1 of the exponent, and so does a carry out of the fraction.
        let magnitude = ((exponent as u128 - 1) << FRACTION_BITS) + kept + u128::from(up);
        Self::signed(negative, magnitude.min(INFINITY))
    }
}

impl Real for Quad {
    const ZERO: Self = Self(0);
    const ONE: Self = Self((BIAS as u128) << FRACTION_BITS);
    const INFINITY: Self = Self(INFINITY);
}

impl Arithmetic for Quad {
    fn add(self, other: Self) -> Self {
        if self.is_nan() || other.is_nan() {
            return NAN;
        }
        match (self.is_infinite(), other.is_infinite()) {
            (true, true) if self.is_negative() != other.is_negative() => NAN,
            (true, _) => self,
            (_, true) => other,
            // The greater magnitude first: it gives the sign, and the other one is shifted.
            _ if self.magnitude() < other.magnitude() => add_finite(other.finite(), self.finite()),
            _ => add_finite(self.finite(), other.finite()),
        }
    }

    fn subtract(self, other: Self) -> Self {
        self.add(other.negate())
    }

    fn multiply(self, other: Self) -> Self {
        let negative = self.is_negative() != other.is_negative();
        let zero = self.magnitude() == 0 || other.magnitude() == 0;
        if self.is_nan() || other.is_nan() {
            return NAN;
        }
        match self.is_infinite() || other.is_infinite() {
            true if zero => NAN,
            true => Self::signed(negative, INFINITY),
            false if zero => Self::signed(negative, 0),
            false => multiply_finite(negative, self.finite().normalized(), other.finite().normalized()),
        }
    }
}

impl Ordered for Quad {
    fn exceeds(self, other: Self) -> bool {
        !self.is_nan() && !other.is_nan() && self.order() > other.order()
    }

    fn equals(self, other: Self) -> bool {
        !self.is_nan() && !other.is_nan() && self.order() == other.order()
    }
}

impl Finite {
    /// With the hidden bit set, and the exponent as low as that takes. The number is not 0.
    fn normalized(self) -> Self {
        let shift = self.significand.leading_zeros() - HIDDEN.leading_zeros();
        Self { exponent: self.exponent - shift as i32, significand: self.significand << shift, ..self }
    }
}

/// The sum, of which `great` has the greater magnitude or the same.
fn add_finite(great: Finite, small: Finite) -> Quad {
    let place = HIDDEN << GUARD_BITS;
    let left = great.significand << GUARD_BITS;
    let right = shift_right(small.significand << GUARD_BITS, great.exponent.abs_diff(small.exponent));
    if great.negative == small.negative {
        return match left + right {
            sum if sum >= place << 1 => Quad::round(great.negative, great.exponent + 1, shift_right(sum, 1)),
            sum => Quad::round(great.negative, great.exponent, sum),
        };
    }
    let difference = left - right;
    if difference == 0 {
        return Quad(0);
    }
    let shift = (difference.leading_zeros() - place.leading_zeros()).min(great.exponent as u32 - 1);
    Quad::round(great.negative, great.exponent - shift as i32, difference << shift)
}

/// The product of two numbers whose hidden bits are set.
fn multiply_finite(negative: bool, left: Finite, right: Finite) -> Quad {
    const LOW: u128 = u64::MAX as u128;
    let (left_high, left_low) = (left.significand >> 64, left.significand & LOW);
    let (right_high, right_low) = (right.significand >> 64, right.significand & LOW);
    let middle = left_high * right_low + left_low * right_high;
    let (low, carry) = (left_low * right_low).overflowing_add(middle << 64);
    let high = left_high * right_high + (middle >> 64) + u128::from(carry);

    // The product has 225 or 226 bits in `high` and `low`: keep the first 116 or 117.
    let dropped = FRACTION_BITS - GUARD_BITS;
    let significand = high << (128 - dropped) | low >> dropped | u128::from(low << (128 - dropped) != 0);
    let exponent = left.exponent + right.exponent - BIAS;
    if significand >= HIDDEN << (GUARD_BITS + 1) {
        return Quad::round(negative, exponent + 1, shift_right(significand, 1));
    }
    Quad::round(negative, exponent, significand)
}

/// Shifts, and sets the last bit if any bit was lost.
fn shift_right(significand: u128, bits: u32) -> u128 {
    match bits {
        0 => significand,
        1..=127 => significand >> bits | u128::from(significand << (128 - bits) != 0),
        _ => u128::from(significand != 0),
    }
}

#[cfg(test)]
mod tests;
