use oxmpi_base::{BasicType, ReduceOp, Scalar, TypeClass};
use oxmpi_mem::Region;

use super::*;
use crate::Reducer;

const INFINITY: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn product(left: (f64, f64), right: (f64, f64)) -> (f64, f64) {
    let complex = |(re, im)| Complex { re, im };
    let product = complex(left).multiply_recovering(complex(right));
    (product.re, product.im)
}

/// Parts of all kinds: what annex G speaks of depends on nothing else.
const PARTS: [f64; 9] = [-INFINITY, -f64::MAX, -2.0, -0.0, 0.0, 3.0, f64::MAX, INFINITY, NAN];

fn all() -> impl Iterator<Item = (f64, f64)> {
    PARTS.into_iter().flat_map(|re| PARTS.map(|im| (re, im)))
}

fn is_infinite((re, im): (f64, f64)) -> bool {
    re.is_infinite() || im.is_infinite()
}

fn is_finite((re, im): (f64, f64)) -> bool {
    re.is_finite() && im.is_finite()
}

fn is_zero((re, im): (f64, f64)) -> bool {
    re == 0.0 && im == 0.0
}

#[test]
fn an_infinity_times_what_is_neither_0_nor_nan_is_an_infinity() {
    // C, annex G, Multiplicative operators: what holds of `*` and `/`.
    for (left, right) in all().flat_map(|left| all().map(move |right| (left, right))) {
        for (one, other) in [(left, right), (right, left)] {
            let is_number = is_infinite(other) || is_finite(other) && !is_zero(other);
            if is_infinite(one) && is_number {
                assert!(is_infinite(product(one, other)), "{one:?} x {other:?} = {:?}", product(one, other));
            }
        }
    }
}

#[test]
fn a_product_that_has_a_number_by_definition_is_that() {
    for (left, right) in all().flat_map(|left| all().map(move |right| (left, right))) {
        let complex = |(re, im)| Complex { re, im };
        let defined = complex(left).multiply(complex(right));
        if !defined.re.is_nan() || !defined.im.is_nan() {
            let (re, im) = product(left, right);
            assert_eq!((re.to_bits(), im.to_bits()), (defined.re.to_bits(), defined.im.to_bits()));
        }
    }
}

#[test]
fn what_is_recovered_points_where_the_operands_point() {
    assert_eq!(product((INFINITY, INFINITY), (1.0, 1.0)).1, INFINITY);
    assert_eq!(product((INFINITY, NAN), (0.0, 2.0)).1, INFINITY);
    assert_eq!(product((-INFINITY, NAN), (3.0, 0.0)).0, -INFINITY);
    // What overflows is infinite, though both parts are NaN by definition.
    assert!(is_infinite(product((f64::MAX, f64::MAX), (f64::MAX, NAN))));
    // 0 and NaN stay what they are.
    let (re, im) = product((INFINITY, INFINITY), (0.0, 0.0));
    assert!(re.is_nan() && im.is_nan());
    let (re, im) = product((NAN, NAN), (1.0, 1.0));
    assert!(re.is_nan() && im.is_nan());
}

/// 0 and infinity, by their bytes.
fn numbers(basic: BasicType) -> [Vec<u8>; 2] {
    let bytes = basic.size() / 2;
    let (exponent, leading): (&[u8], &[u8]) = match bytes {
        2 => (&[0x7c], &[]),
        4 => (&[0x80, 0x7f], &[]),
        8 => (&[0xf0, 0x7f], &[]),
        _ if basic.scalar() == Scalar::ComplexLongDouble && cfg!(target_arch = "x86_64") => {
            (&[0x80, 0xff, 0x7f], &[0; 6])
        }
        _ => (&[0xff, 0x7f], &[]),
    };
    let mut infinity = vec![0; bytes - exponent.len() - leading.len()];
    infinity.extend_from_slice(exponent);
    infinity.extend_from_slice(leading);
    [vec![0; bytes], infinity]
}

fn multiply(basic: BasicType, left: &[u8], right: &[u8]) -> Vec<u8> {
    let reducer = Reducer::predefined(ReduceOp::Prod, basic).expect("it is defined");
    let (mut left, mut right) = (left.to_vec(), right.to_vec());
    let [first, second] = [&mut left, &mut right].map(|bytes| {
        // SAFETY: the vector is used through the region alone until the product is there.
        unsafe { Region::claim(bytes.as_mut_ptr(), bytes.len()) }
    });
    reducer.combine(&first, &second, &first);
    left
}

#[test]
fn reducers_recover_in_every_complex_type_if_they_are_to() {
    let complex = BasicType::ALL.into_iter().filter(|basic| basic.class() == Some(TypeClass::Complex));
    for basic in complex {
        let [zero, infinity] = numbers(basic);
        let (left, right) = (infinity.repeat(2), [infinity.clone(), zero].concat());
        assert_ne!(multiply(basic, &left, &right), left, "{basic:?}: NaN by definition");
        recover_infinities(true);
        let product = multiply(basic, &left, &right);
        recover_infinities(false);
        assert_eq!(product, left, "{basic:?}");
    }
}
