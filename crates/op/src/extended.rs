//! The 80-bit numbers of the x87 unit: C's `long double` on x86-64, for which Rust has no type.

use std::arch::asm;

use oxmpi_mem::copy::Plain;

use crate::number::{Arithmetic, Ordered};
use crate::recovery::Real;

/// An extended-precision number: ten bytes, and six of padding, which are 0 in what is computed.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Extended([u8; 16]);

// SAFETY: bytes; the unit takes any.
unsafe impl Plain for Extended {}

/// Both operands are pushed, left first; the instruction leaves the result in the place of both.
macro_rules! x87 {
    ($instruction:literal, $left:expr, $right:expr) => {{
        let mut result = Self([0; 16]);
        // SAFETY: the three pointers are to numbers, of which 10 bytes are used; the x87 stack, empty before
        // because all its registers are clobbered, is empty again behind.
        unsafe {
            asm!(
                "fld tbyte ptr [{left}]",
                "fld tbyte ptr [{right}]",
                $instruction,
                "fstp tbyte ptr [{result}]",
                left = in(reg) &raw const $left,
                right = in(reg) &raw const $right,
                result = in(reg) &raw mut result,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        result
    }};
}

impl Arithmetic for Extended {
    fn add(self, other: Self) -> Self {
        x87!("faddp st(1), st", self, other)
    }

    fn subtract(self, other: Self) -> Self {
        x87!("fsubp st(1), st", self, other)
    }

    fn multiply(self, other: Self) -> Self {
        x87!("fmulp st(1), st", self, other)
    }
}

impl Real for Extended {
    const ZERO: Self = Self([0; 16]);
    const ONE: Self = Self([0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 0, 0, 0, 0, 0, 0]);
    const INFINITY: Self = Self([0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x7f, 0, 0, 0, 0, 0, 0]);
}

/// How two numbers compare.
struct Comparison {
    /// The first is not greater than the second, or the two cannot be compared.
    not_above: bool,
    /// They are equal, or cannot be compared.
    equal: bool,
    unordered: bool,
}

impl Extended {
    fn compare(self, other: Self) -> Comparison {
        let (not_above, equal, unordered): (u8, u8, u8);
        // SAFETY: as in `x87`.
        unsafe {
            asm!(
                "fld tbyte ptr [{right}]",
                "fld tbyte ptr [{left}]",
                "fucomip st, st(1)",
                "fstp st(0)",
                "setbe {not_above}",
                "sete {equal}",
                "setp {unordered}",
                left = in(reg) &raw const self,
                right = in(reg) &raw const other,
                not_above = lateout(reg_byte) not_above,
                equal = lateout(reg_byte) equal,
                unordered = lateout(reg_byte) unordered,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack, readonly),
            );
        }
        Comparison { not_above: not_above != 0, equal: equal != 0, unordered: unordered != 0 }
    }
}

impl Ordered for Extended {
    fn exceeds(self, other: Self) -> bool {
        !self.compare(other).not_above
    }

    fn equals(self, other: Self) -> bool {
        let comparison = self.compare(other);
        comparison.equal && !comparison.unordered
    }
}

#[cfg(test)]
mod tests;
