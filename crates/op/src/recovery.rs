//! Infinities that a product of complex numbers loses, recovered if the user wishes it.
//!
//! By the definition of the product an infinite operand may give NaN in both parts: `(inf + inf i)(inf + 0 i)` does,
//! for `inf * 0` is NaN. Annex G of C takes a number with an infinite part for an infinity, whatever the other part is,
//! and wants its product with all but 0 and NaN to be one. That is looked for only where both parts are NaN, and only
//! if it has been asked for: it keeps the loop out of vectors.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::complex::Complex;
use crate::number::{Arithmetic, Ordered};

/// Products that recover infinities.
pub(crate) trait Recovering: Arithmetic {
    fn multiply_recovering(self, other: Self) -> Self;
}

/// Numbers with infinities.
pub(crate) trait Real: Arithmetic + Ordered {
    const ZERO: Self;
    const ONE: Self;
    const INFINITY: Self;

    fn is_nan(self) -> bool {
        !self.equals(self)
    }

    fn is_infinite(self) -> bool {
        !self.is_nan() && self.subtract(self).is_nan()
    }
}

static RECOVERS: AtomicBool = AtomicBool::new(false);

/// Whether the reducers that are made from now on, in the whole process, recover infinities in products of complex
/// numbers.
pub fn recover_infinities(recovers: bool) {
    RECOVERS.store(recovers, Ordering::Relaxed);
}

pub(crate) fn recovers_infinities() -> bool {
    RECOVERS.load(Ordering::Relaxed)
}

impl<T: Real> Recovering for Complex<T> {
    #[inline(always)]
    fn multiply_recovering(self, other: Self) -> Self {
        let product = self.multiply(other);
        if product.re.is_nan() && product.im.is_nan() {
            recovered(self, other).unwrap_or(product)
        } else {
            product
        }
    }
}

/// The product of two numbers by whose definition both of its parts are NaN, if it is infinite.
#[cold]
fn recovered<T: Real>(left: Complex<T>, right: Complex<T>) -> Option<Complex<T>> {
    let by_operands = is_infinite(left) || is_infinite(right);
    let overflows = || {
        let (a, b, c, d) = (left.re, left.im, right.re, right.im);
        [(a, c), (b, d), (a, d), (b, c)].into_iter().any(|(one, other)| one.multiply(other).is_infinite())
    };
    if !by_operands && !overflows() {
        return None;
    }
    let [left, right] = [left, right].map(|number| match is_infinite(number) {
        true => number.map(direction),
        false => number.map(|part| if part.is_nan() { T::ZERO } else { part }),
    });
    Some(left.multiply(right).map(|part| part.multiply(T::INFINITY)))
}

fn is_infinite<T: Real>(number: Complex<T>) -> bool {
    number.re.is_infinite() || number.im.is_infinite()
}

/// Where a part of an infinite number points to: 1 or -1 if it is infinite itself, else 0.
fn direction<T: Real>(part: T) -> T {
    match part.is_infinite() {
        false => T::ZERO,
        true if part.exceeds(T::ZERO) => T::ONE,
        true => T::ZERO.subtract(T::ONE),
    }
}

macro_rules! real {
    ($($number:ident)*) => {$(
        impl Real for $number {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const INFINITY: Self = $number::INFINITY;
        }
    )*};
}

real!(f32 f64);

#[cfg(test)]
mod tests;
