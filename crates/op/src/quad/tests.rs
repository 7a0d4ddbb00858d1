//! Against the C compiler's arithmetic where it can be called, and against the definition elsewhere.

use proptest::prelude::*;

use super::*;

const ONE: Quad = Quad((BIAS as u128) << FRACTION_BITS);
const LEAST_SUBNORMAL: Quad = Quad(1);
const GREATEST: Quad = Quad(INFINITY - 1);

fn same(left: Quad, right: Quad) -> bool {
    left.0 == right.0 || left.is_nan() && right.is_nan()
}

#[test]
fn what_is_too_great_becomes_infinite_and_what_is_too_small_rounds_to_even() {
    let half = Quad(((BIAS - 1) as u128) << FRACTION_BITS);
    assert!(same(GREATEST.add(GREATEST), Quad(INFINITY)));
    assert!(same(LEAST_SUBNORMAL.multiply(half), Quad(0)));
    assert!(same(Quad(3).multiply(half), Quad(2)));
    assert!(same(Quad(INFINITY).subtract(Quad(INFINITY)), NAN));
    assert!(same(Quad(INFINITY).multiply(Quad(0)), NAN));
}

#[test]
fn zeros_are_equal_and_a_nan_is_equal_to_nothing() {
    assert!(Quad(0).equals(Quad(SIGN)) && !Quad(0).exceeds(Quad(SIGN)));
    assert!(!NAN.equals(NAN) && !NAN.exceeds(ONE) && !ONE.exceeds(NAN));
    assert!(ONE.exceeds(ONE.negate()) && LEAST_SUBNORMAL.exceeds(Quad(0)));
}

#[cfg(target_arch = "x86_64")]
mod against_the_runtime_library {
    use std::arch::asm;
    use std::arch::x86_64::__m128i;

    use super::*;

    // Their operands are in SSE registers, where no type of stable Rust that can be passed is.
    unsafe extern "C" {
        fn __addtf3();
        fn __multf3();
        fn __subtf3();
    }

    macro_rules! call {
        ($function:ident, $left:expr, $right:expr) => {{
            // SAFETY: both types are 16 plain bytes.
            let (left, right): (__m128i, __m128i) = unsafe { std::mem::transmute(($left.0, $right.0)) };
            let result: __m128i;
            // SAFETY: the function takes its operands from and leaves its result in these registers.
            unsafe {
                asm!("call {}", sym $function, inlateout("xmm0") left => result, in("xmm1") right,
                    clobber_abi("C"));
            }
            // SAFETY: both types are 16 plain bytes.
            Quad(unsafe { std::mem::transmute::<__m128i, u128>(result) })
        }};
    }

    /// Any bits; and numbers of like magnitude, of which the differences cancel; and extremes.
    fn pairs() -> impl Strategy<Value = (Quad, Quad)> {
        let near = (any::<u128>(), any::<u128>(), 0..240u32, -120..120i32).prop_map(
            |(left, right, zeros, apart)| {
                let exponent =
                    ((left >> FRACTION_BITS) as i32 & 0x7fff).saturating_add(apart).clamp(0, 0x7fff);
                let fraction = right.checked_shr(zeros).unwrap_or(left) & (HIDDEN - 1);
                (Quad(left), Quad(right & SIGN | (exponent as u128) << FRACTION_BITS | fraction))
            },
        );
        let any_bits = (any::<u128>(), any::<u128>()).prop_map(|(left, right)| (Quad(left), Quad(right)));
        let middle = (any::<u128>(), any::<u128>(), -120..120i32).prop_map(|(left, right, apart)| {
            let tiny = |bits: u128, exponent: i32| {
                Quad(bits & (SIGN | (HIDDEN - 1)) | (exponent as u128) << FRACTION_BITS)
            };
            (tiny(left, BIAS / 2), tiny(right, BIAS / 2 + 1 + apart))
        });
        prop_oneof![near, any_bits, middle]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn sums_differences_and_products_have_the_same_bits((left, right) in pairs()) {
            prop_assert!(same(left.add(right), call!(__addtf3, left, right)), "{left:?} + {right:?}");
            prop_assert!(same(left.subtract(right), call!(__subtf3, left, right)), "{left:?} - {right:?}");
            prop_assert!(same(left.multiply(right), call!(__multf3, left, right)), "{left:?} * {right:?}");
        }
    }
}
