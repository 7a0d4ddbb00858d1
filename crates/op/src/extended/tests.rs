//! What the x87 unit makes of numbers whose results are known.

use super::*;

/// `significand * 2^(exponent - 63)`; the first bit of the significand is set, unless the number is 0.
fn number(negative: bool, exponent: i32, significand: u64) -> Extended {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&significand.to_le_bytes());
    let head = u16::from(negative) << 15 | (exponent + 0x3fff) as u16;
    bytes[8..10].copy_from_slice(&head.to_le_bytes());
    Extended(bytes)
}

const FIRST: u64 = 1 << 63;

#[test]
fn all_64_bits_of_a_sum_count() {
    let (one, least) = (number(false, 0, FIRST), number(false, -63, FIRST));
    assert_eq!(one.add(least).0, number(false, 0, FIRST | 1).0);
}

#[test]
fn the_right_operand_is_taken_from_the_left_one() {
    let (one, three) = (number(false, 0, FIRST), number(false, 1, FIRST | FIRST >> 1));
    assert_eq!(three.subtract(one).0, number(false, 1, FIRST).0);
    assert_eq!(one.subtract(three).0, number(true, 1, FIRST).0);
    assert_eq!(three.multiply(three).0, number(false, 3, FIRST | FIRST >> 3).0);
}

#[test]
fn numbers_are_ordered_and_a_nan_is_not() {
    let (one, two, nan) =
        (number(false, 0, FIRST), number(false, 1, FIRST), number(false, 0x4000, FIRST | FIRST >> 1));
    assert!(two.exceeds(one) && !one.exceeds(two) && !one.exceeds(one));
    assert!(one.equals(one) && !one.equals(two));
    assert!(!nan.exceeds(one) && !one.exceeds(nan) && !nan.equals(nan) && !nan.equals(one));
    let (zero, minus_zero) = (number(false, -0x3fff, 0), number(true, -0x3fff, 0));
    assert!(zero.equals(minus_zero) && !zero.exceeds(minus_zero));
}
