//! Conversion between the 80-bit numbers of x87 and IEEE binary128.
//!
//! Both have 15 bits of exponent with the same bias. An x87 number has 64 bits of significand, the first of
//! which is written out; binary128 has 113, the first of which is implied. So widening is exact, and narrowing
//! rounds to nearest, ties to even.

/// Fraction bits of binary128 that an x87 number has no room for.
const EXTRA_BITS: u32 = 112 - 63;
const MAX_EXPONENT: u16 = 0x7fff;
const INTEGER_BIT: u64 = 1 << 63;
/// The first fraction bit, set in NaNs that do not signal.
const QUIET_BIT: u64 = 1 << 62;

/// The number whose x87 encoding has this significand, sign and exponent.
pub(crate) fn from_x87(significand: u64, sign_and_exponent: u16) -> u128 {
    let sign = sign_and_exponent & !MAX_EXPONENT;
    let (exponent, fraction) = match sign_and_exponent & MAX_EXPONENT {
        // With the integer bit set it is the least normal number in another encoding.
        0 if significand & INTEGER_BIT != 0 => (1, significand & !INTEGER_BIT),
        // Encodings without integer bit are no numbers to the processor either.
        1.. if significand & INTEGER_BIT == 0 => (MAX_EXPONENT, QUIET_BIT),
        exponent => (exponent, significand & !INTEGER_BIT),
    };
    u128::from(sign | exponent) << 112 | u128::from(fraction) << EXTRA_BITS
}

/// The x87 significand, and sign and exponent, of the nearest number.
pub(crate) fn to_x87(bits: u128) -> (u64, u16) {
    let sign_and_exponent = (bits >> 112) as u16;
    let sign = sign_and_exponent & !MAX_EXPONENT;
    let fraction = (bits >> EXTRA_BITS) as u64 & !INTEGER_BIT;
    let is_nan = sign_and_exponent & MAX_EXPONENT == MAX_EXPONENT && bits << 16 != 0;
    if is_nan {
        return (INTEGER_BIT | QUIET_BIT | fraction, sign_and_exponent);
    }
    // Exponent and fraction are neighbours, so that rounding up carries from one to the other.
    let magnitude = (bits & !(1 << 127)) >> EXTRA_BITS;
    let half = 1u128 << (EXTRA_BITS - 1);
    let rest = bits & ((1 << EXTRA_BITS) - 1);
    let up = rest > half || (rest == half && magnitude & 1 != 0);
    let rounded = magnitude + u128::from(up);
    let exponent = (rounded >> 63) as u16;
    let integer_bit = if exponent == 0 { 0 } else { INTEGER_BIT };
    (integer_bit | (rounded as u64 & !INTEGER_BIT), sign | exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: u128 = 0x3fff << 112;

    #[test]
    fn known_numbers_have_their_encodings() {
        let known = [
            (0, 0, 0),
            (INTEGER_BIT, 0x3fff, ONE),
            (INTEGER_BIT | QUIET_BIT, 0xc000, 0xc000_8000 << 96), // -3
            (INTEGER_BIT, 0x7fff, 0x7fff << 112),                 // infinity
            (1, 0, 1 << EXTRA_BITS),                              // the least x87 number
            (u64::MAX, 0x7ffe, (0x7ffe << 112) | ((u128::from(u64::MAX) >> 1) << EXTRA_BITS)),
        ];
        for (significand, sign_and_exponent, bits) in known {
            assert_eq!(from_x87(significand, sign_and_exponent), bits);
            assert_eq!(to_x87(bits), (significand, sign_and_exponent));
        }
    }

    #[test]
    fn narrowing_rounds_to_the_nearest_and_ties_to_even() {
        let half = 1u128 << (EXTRA_BITS - 1);
        let after = |bits: u128| to_x87(ONE | bits);
        assert_eq!(after(half), (INTEGER_BIT, 0x3fff));
        assert_eq!(after(half + 1), (INTEGER_BIT | 1, 0x3fff));
        assert_eq!(after((1 << EXTRA_BITS) + half), (INTEGER_BIT | 2, 0x3fff));
        assert_eq!(after((1 << 112) - 1), (INTEGER_BIT, 0x4000), "rounded up to 2");
        assert_eq!(to_x87((0x7fff << 112) - 1), (INTEGER_BIT, 0x7fff), "rounded up to infinity");
        assert_eq!(to_x87((1 << 112) - 1), (INTEGER_BIT, 1), "rounded up to the least normal number");
    }

    #[test]
    fn what_is_no_number_stays_none() {
        let (significand, sign_and_exponent) = to_x87((0xffff << 112) | 1);
        assert_eq!((significand, sign_and_exponent), (INTEGER_BIT | QUIET_BIT, 0xffff));
        assert_eq!(from_x87(significand, sign_and_exponent), 0xffff_8000 << 96);
        assert_eq!(from_x87(7, 0x3fff), 0x7fff_8000 << 96, "no integer bit");
        assert_eq!(from_x87(INTEGER_BIT, 0), 1 << 112, "the least normal number, encoded as a denormal");
    }
}
