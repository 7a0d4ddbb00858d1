//! Every operation on every type, against arithmetic on integers that all types can hold exactly; then the
//! full range of the types that processors have; then operands in place, unaligned and empty; then the user's
//! functions.

use std::sync::Mutex;

use oxmpi_base::{Pair, Scalar, TypeClass};
use proptest::prelude::*;

use super::*;

/// Both parts of an element; a single number is the first.
type Number = (i64, i64);

/// The left and the right one.
type Operands = [Number; 2];

fn claim(bytes: &mut [u8]) -> Region {
    // SAFETY: the tests use `bytes` only through the region until they read it back.
    unsafe { Region::claim(bytes.as_mut_ptr(), bytes.len()) }
}

fn combine(reducer: &Reducer, left: &[u8], right: &[u8]) -> Vec<u8> {
    let (mut left, mut right, mut into) = (left.to_vec(), right.to_vec(), vec![0; left.len()]);
    reducer.combine(&claim(&mut left), &claim(&mut right), &claim(&mut into));
    into
}

/// `value` in a binary format with `fraction` stored bits behind a hidden one, and the exponent's `bias`.
fn float_bits(value: i64, fraction: u32, bias: u128, sign_at: u32) -> u128 {
    let magnitude = u128::from(value.unsigned_abs());
    let Some(exponent) = magnitude.checked_ilog2() else { return 0 };
    let significand = (magnitude << fraction >> exponent) & ((1 << fraction) - 1);
    u128::from(value < 0) << sign_at | (bias + u128::from(exponent)) << fraction | significand
}

/// `value` as the 80 bits of the x87, which stores the bit that other formats hide.
fn extended_bytes(value: i64) -> Vec<u8> {
    let Some(exponent) = value.unsigned_abs().checked_ilog2() else { return vec![0; 16] };
    let head = u128::from(value < 0) << 79 | (0x3fff + u128::from(exponent)) << 64;
    let significand = value.unsigned_abs() << (63 - exponent);
    (head | u128::from(significand)).to_le_bytes().to_vec()
}

/// A number that every type can hold, in the bytes of one scalar.
fn encode(kind: Scalar, value: i64) -> Vec<u8> {
    let long_double = if cfg!(target_arch = "x86_64") { extended_bytes } else { |v| encode(Scalar::F128, v) };
    match kind {
        Scalar::I8 | Scalar::U8 | Scalar::Bool | Scalar::Logical8 => (value as i8).to_le_bytes().to_vec(),
        Scalar::I16 | Scalar::U16 | Scalar::Logical16 => (value as i16).to_le_bytes().to_vec(),
        Scalar::I32 | Scalar::U32 | Scalar::Logical32 => (value as i32).to_le_bytes().to_vec(),
        Scalar::I64 | Scalar::U64 | Scalar::Logical64 => value.to_le_bytes().to_vec(),
        Scalar::I128 | Scalar::Logical128 => i128::from(value).to_le_bytes().to_vec(),
        Scalar::F16 => (float_bits(value, 10, 15, 15) as u16).to_le_bytes().to_vec(),
        Scalar::F32 => (value as f32).to_le_bytes().to_vec(),
        Scalar::F64 => (value as f64).to_le_bytes().to_vec(),
        Scalar::F128 => float_bits(value, 112, 0x3fff, 127).to_le_bytes().to_vec(),
        Scalar::LongDouble => long_double(value),
        _ => panic!("{kind:?} is no single number"),
    }
}

/// The parts of an element that is not a single number.
fn parts(kind: Scalar) -> Option<(Scalar, Scalar)> {
    Some(match kind {
        Scalar::ComplexF16 => (Scalar::F16, Scalar::F16),
        Scalar::ComplexF32 => (Scalar::F32, Scalar::F32),
        Scalar::ComplexF64 => (Scalar::F64, Scalar::F64),
        Scalar::ComplexF128 => (Scalar::F128, Scalar::F128),
        Scalar::ComplexLongDouble => (Scalar::LongDouble, Scalar::LongDouble),
        Scalar::Pair(Pair::F32F32) => (Scalar::F32, Scalar::F32),
        Scalar::Pair(Pair::F32I32) => (Scalar::F32, Scalar::I32),
        Scalar::Pair(Pair::F64F64) => (Scalar::F64, Scalar::F64),
        Scalar::Pair(Pair::F64I32) => (Scalar::F64, Scalar::I32),
        Scalar::Pair(Pair::I16I32) => (Scalar::I16, Scalar::I32),
        Scalar::Pair(Pair::I32I32) => (Scalar::I32, Scalar::I32),
        Scalar::Pair(Pair::I64I32) => (Scalar::I64, Scalar::I32),
        Scalar::Pair(Pair::LongDoubleI32) => (Scalar::LongDouble, Scalar::I32),
        _ => return None,
    })
}

/// An element made of two numbers, of which a single number takes the first.
fn element(kind: Scalar, value: Number) -> Vec<u8> {
    match parts(kind) {
        Some((first, second)) => [encode(first, value.0), encode(second, value.1)].concat(),
        None => encode(kind, value.0),
    }
}

fn expected(op: ReduceOp, complex: bool, left: Number, right: Number) -> Number {
    let truth = |value: Number| value.0 != 0;
    let single = |value: i64| (value, 0);
    match op {
        ReduceOp::Sum => (left.0 + right.0, left.1 + right.1),
        ReduceOp::Prod if complex => {
            (left.0 * right.0 - left.1 * right.1, left.0 * right.1 + left.1 * right.0)
        }
        ReduceOp::Prod => single(left.0 * right.0),
        ReduceOp::Max => single(left.0.max(right.0)),
        ReduceOp::Min => single(left.0.min(right.0)),
        ReduceOp::Band => single(left.0 & right.0),
        ReduceOp::Bor => single(left.0 | right.0),
        ReduceOp::Bxor => single(left.0 ^ right.0),
        ReduceOp::Land => single(i64::from(truth(left) && truth(right))),
        ReduceOp::Lor => single(i64::from(truth(left) || truth(right))),
        ReduceOp::Lxor => single(i64::from(truth(left) != truth(right))),
        ReduceOp::Minloc => left.min(right),
        ReduceOp::Maxloc if left.0 == right.0 => left.min(right),
        ReduceOp::Maxloc => left.max(right),
        ReduceOp::NoOp | ReduceOp::Replace => panic!("{op:?} reduces nothing"),
    }
}

fn is_unsigned(kind: Scalar) -> bool {
    use Scalar::{Bool, Logical8, Logical16, Logical32, Logical64, Logical128, U8, U16, U32, U64};
    matches!(kind, Bool | Logical8 | Logical16 | Logical32 | Logical64 | Logical128 | U8 | U16 | U32 | U64)
}

/// What an operation on `basic` gives for small numbers, and should give.
fn check_small(
    op: ReduceOp,
    basic: BasicType,
    values: &[Operands],
) -> std::result::Result<(), TestCaseError> {
    let kind = basic.scalar();
    let fractional = matches!(basic.class(), Some(TypeClass::Complex | TypeClass::FloatingPoint));
    let fit = |value: i64| match value {
        // A product with 0 may be -0, which this arithmetic does not know.
        0 if fractional => 6,
        _ if is_unsigned(kind) => value.abs(),
        _ => value,
    };
    let fit = |value: Number| (fit(value.0), fit(value.1));
    let elements = |of: &dyn Fn(&Operands) -> Number| -> Vec<u8> {
        values.iter().flat_map(|pair| element(kind, of(pair))).collect()
    };
    let (left, right) = (elements(&|pair| fit(pair[0])), elements(&|pair| fit(pair[1])));
    let reducer = Reducer::predefined(op, basic).expect("legal");
    prop_assert_eq!(reducer.unit_bytes() * values.len() as u64, left.len() as u64);
    let complex = basic.class() == Some(TypeClass::Complex);
    let result = elements(&|pair| expected(op, complex, fit(pair[0]), fit(pair[1])));
    prop_assert_eq!(combine(&reducer, &left, &right), result, "{:?} on {:?}", op, basic);
    Ok(())
}

/// Numbers whose products, of complex ones too, are exact in every type.
fn small() -> impl Strategy<Value = Number> {
    (-5..6i64, -5..6i64)
}

proptest! {
    #[test]
    fn every_legal_operation_is_right_on_small_numbers(
        values in proptest::collection::vec([small(), small()], 0..70),
    ) {
        for basic in BasicType::ALL {
            for op in ReduceOp::ALL.into_iter().filter(|op| basic.allows(*op)) {
                check_small(op, basic, &values)?;
            }
        }
    }

    #[test]
    fn integers_wrap_and_compare_over_their_whole_range(
        left in proptest::collection::vec(any::<i64>(), 0..40), seed in any::<i64>(),
    ) {
        let right: Vec<i64> = left.iter().map(|value| value.rotate_left(7) ^ seed).collect();
        check_integers(&left, &right, i64::wrapping_add, ReduceOp::Sum, BasicType::Int64T, i64::to_le_bytes)?;
        check_integers(
            &left,
            &right,
            i64::wrapping_mul,
            ReduceOp::Prod,
            BasicType::Int64T,
            i64::to_le_bytes,
        )?;
        check_integers(&left, &right, i64::max, ReduceOp::Max, BasicType::Int64T, i64::to_le_bytes)?;
        let unsigned = |values: &[i64]| -> Vec<u64> { values.iter().map(|value| *value as u64).collect() };
        let (left_u64, right_u64) = (unsigned(&left), unsigned(&right));
        check_integers(&left_u64, &right_u64, u64::min, ReduceOp::Min, BasicType::Uint64T, u64::to_le_bytes)?;
        let short = |values: &[i64]| -> Vec<i16> { values.iter().map(|value| *value as i16).collect() };
        let (left, right) = (short(&left), short(&right));
        check_integers(
            &left,
            &right,
            i16::wrapping_mul,
            ReduceOp::Prod,
            BasicType::Int16T,
            i16::to_le_bytes,
        )?;
    }

    #[test]
    fn doubles_are_added_and_compared_as_c_does(
        values in proptest::collection::vec((any::<f64>(), any::<f64>()), 0..40),
    ) {
        let bytes = |of: &dyn Fn(&(f64, f64)) -> f64| -> Vec<u8> {
            values.iter().flat_map(|pair| of(pair).to_le_bytes()).collect()
        };
        let (left, right) = (bytes(&|pair| pair.0), bytes(&|pair| pair.1));
        let result = |op| combine(&Reducer::predefined(op, BasicType::Double).expect("legal"), &left, &right);
        prop_assert_eq!(result(ReduceOp::Max), bytes(&|pair| if pair.1 > pair.0 { pair.1 } else { pair.0 }));
        prop_assert_eq!(result(ReduceOp::Min), bytes(&|pair| if pair.1 < pair.0 { pair.1 } else { pair.0 }));
        for (sum, pair) in result(ReduceOp::Sum).chunks_exact(8).zip(&values) {
            let sum = f64::from_le_bytes(sum.try_into().expect("8 bytes"));
            prop_assert!(sum == pair.0 + pair.1 || sum.is_nan() && (pair.0 + pair.1).is_nan());
        }
    }

    #[test]
    fn operands_may_be_in_place_and_unaligned(
        values in proptest::collection::vec((any::<i32>(), any::<i32>()), 0..80), shift in 0..8usize,
    ) {
        let reducer = Reducer::predefined(ReduceOp::Sum, BasicType::Int).expect("legal");
        let shifted = |of: &dyn Fn(&(i32, i32)) -> i32| -> Vec<u8> {
            let bytes = values.iter().flat_map(|pair| of(pair).to_le_bytes());
            std::iter::repeat_n(0, shift).chain(bytes).collect()
        };
        let sums = shifted(&|pair| pair.0.wrapping_add(pair.1));
        let (left, right) = (shifted(&|pair| pair.0), shifted(&|pair| pair.1));
        for in_left in [false, true] {
            let (mut left, mut right) = (left.clone(), right.clone());
            let (left_region, right_region) = (claim(&mut left[shift..]), claim(&mut right[shift..]));
            let into = if in_left { left_region } else { right_region };
            reducer.combine(&left_region, &right_region, &into);
            prop_assert_eq!(if in_left { left } else { right }, sums.clone());
        }
    }
}

fn check_integers<T: Copy, const BYTES: usize>(
    left: &[T],
    right: &[T],
    reference: fn(T, T) -> T,
    op: ReduceOp,
    basic: BasicType,
    to_bytes: fn(T) -> [u8; BYTES],
) -> std::result::Result<(), TestCaseError> {
    let bytes = |values: &[T]| -> Vec<u8> { values.iter().flat_map(|value| to_bytes(*value)).collect() };
    let results: Vec<T> = left.iter().zip(right).map(|(left, right)| reference(*left, *right)).collect();
    let reducer = Reducer::predefined(op, basic).expect("legal");
    prop_assert_eq!(combine(&reducer, &bytes(left), &bytes(right)), bytes(&results));
    Ok(())
}

#[test]
fn an_operation_is_predefined_on_the_types_the_standard_says_and_a_few_beyond() {
    let integral = |op| BasicType::Int.allows(op);
    for basic in BasicType::ALL {
        for op in ReduceOp::ALL {
            let made = Reducer::predefined(op, basic);
            let beyond = basic == BasicType::Char || basic.class() == Some(TypeClass::MultiLanguage);
            assert_eq!(made.is_ok(), basic.allows(op) || beyond && integral(op), "{op:?} on {basic:?}");
        }
    }
}

#[test]
fn an_illegal_operation_is_refused_by_name_and_type() {
    let error = Reducer::predefined(ReduceOp::Band, BasicType::Double).expect_err("no bits");
    assert_eq!(error.class(), ErrorClass::Op);
    assert_eq!(error.text(), "op MPI_BAND is not defined on datatype MPI_DOUBLE");
}

#[test]
fn any_nonzero_logical_is_true_and_true_is_one() {
    let or = Reducer::predefined(ReduceOp::Lor, BasicType::Logical).expect("legal");
    let (left, right) = ([-1i32, 0].map(i32::to_le_bytes), [0i32, 0].map(i32::to_le_bytes));
    let expected = [1i32, 0].map(i32::to_le_bytes);
    assert_eq!(combine(&or, left.as_flattened(), right.as_flattened()), expected.as_flattened());
}

#[test]
#[should_panic(expected = "only whole elements")]
fn half_an_element_is_refused() {
    combine(&Reducer::predefined(ReduceOp::Sum, BasicType::Int).expect("legal"), &[0; 6], &[0; 6]);
}

/// An ordered operation on bytes that shows which operand was on which side: `10 * left + right`.
fn append(commutative: bool) -> Reducer {
    let function = |from: &mut [u8], into: &mut [u8], count: u64| {
        assert_eq!(count, from.len() as u64);
        from.iter().zip(into).for_each(|(left, right)| *right += 10 * *left);
    };
    Reducer::user(1, commutative, Arc::new(function))
}

#[test]
fn the_users_function_gets_the_left_operand_as_its_first_wherever_the_result_goes() {
    let reducer = append(false);
    assert_eq!(combine(&reducer, &[1, 2], &[3, 4]), [13, 24]);
    for in_left in [false, true] {
        let (mut left, mut right) = ([1u8, 2], [3u8, 4]);
        let (left_region, right_region) = (claim(&mut left), claim(&mut right));
        reducer.combine(&left_region, &right_region, if in_left { &left_region } else { &right_region });
        assert_eq!((left, right), if in_left { ([13, 24], [3, 4]) } else { ([1, 2], [13, 24]) });
    }
}

#[test]
fn the_users_function_is_not_called_for_no_elements() {
    let called = Arc::new(Mutex::new(false));
    let flag = Arc::clone(&called);
    let function = move |_: &mut [u8], _: &mut [u8], _: u64| *flag.lock().expect("not poisoned") = true;
    Reducer::user(0, false, Arc::new(function)).combine(&Region::EMPTY, &Region::EMPTY, &Region::EMPTY);
    assert!(!*called.lock().expect("not poisoned"));
}

#[test]
fn operands_are_combined_whole_however_long_they_and_their_elements_are() {
    for unit in [1, 3, 8, 24, PIECE_BYTES, PIECE_BYTES + 1] {
        for count in [1, 2, PIECE_BYTES / unit, PIECE_BYTES / unit + 1, 2 * PIECE_BYTES / unit + 1] {
            let bytes = unit * count;
            let function = move |from: &mut [u8], into: &mut [u8], count: u64| {
                assert_eq!([from.len(), into.len()], [unit * count as usize; 2]);
                from.iter().zip(into).for_each(|(left, right)| *right = right.wrapping_add(*left));
            };
            let reducer = Reducer::user(unit as u64, false, Arc::new(function));
            let left: Vec<u8> = (0..bytes).map(|place| (place % 251) as u8).collect();
            let sums = left.iter().map(|&byte| byte.wrapping_add(9)).collect::<Vec<u8>>();
            assert!(combine(&reducer, &left, &vec![9; bytes]) == sums, "{count} elements of {unit} bytes");
        }
    }
}

/// A contribution that travels in a line lies behind its sequence number, 8 bytes off.
#[test]
fn the_users_function_gets_elements_of_sixteen_bytes_aligned_as_c_wants_them() {
    let function = |left: &mut [u8], inout: &mut [u8], _: u64| {
        assert!([left.as_ptr(), inout.as_ptr()].iter().all(|base| base.addr().is_multiple_of(16)));
        inout.copy_from_slice(left);
    };
    for commutative in [false, true] {
        let reducer = Reducer::user(16, commutative, Arc::new(function));
        let (mut memory, mut result) = ([0u128; 3], [0u128; 2]);
        // SAFETY: the array is used through the region alone.
        let memory = unsafe { Region::claim(memory.as_mut_ptr().cast(), 48) };
        // SAFETY: as above.
        let result = unsafe { Region::claim(result.as_mut_ptr().cast(), 32) };
        let posted = memory.part(8, 32);
        posted.write(&[7; 32]);
        reducer.combine(&posted, &result, &result);
        assert_eq!(result.to_vec(), [7; 32]);
    }
}

/// Tools that look for data races find none here (built for any machine, by `--cfg portable`).
#[test]
fn operands_may_be_written_to_while_they_are_combined() {
    const BYTES: usize = 200;
    let user = |left: &mut [u8], inout: &mut [u8], _: u64| {
        left.iter().zip(inout).for_each(|(left, right)| *right |= *left);
    };
    let bits = |basic| Reducer::predefined(ReduceOp::Bor, basic).expect("legal");
    let reducers =
        [bits(BasicType::Uint8T), bits(BasicType::Uint64T), Reducer::user(8, true, Arc::new(user))];
    let (mut left, mut right, mut into) = ([0; BYTES], [1; BYTES], [0; BYTES]);
    let [left, right, into] = [&mut left, &mut right, &mut into].map(|bytes| claim(bytes));
    let rounds = if cfg!(miri) { 3 } else { 1000 };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..rounds {
                left.write(&[[2, 4][round % 2]; BYTES]);
                into.write(&[1; BYTES]);
            }
        });
        for reducer in reducers.iter().cycle().take(rounds) {
            reducer.combine(&left, &right, &into);
            assert!(into.to_vec().iter().all(|byte| [1, 3, 5].contains(byte)));
        }
    });
}

#[test]
fn codes_tell_operations_apart() {
    let mut codes: Vec<u8> = ReduceOp::ALL.into_iter().map(super::code).collect();
    codes.extend([super::USER, super::USER_IN_ORDER]);
    assert!(codes.iter().all(|&code| code > 0 && code < 1 << super::CODE_BITS));
    let names: std::collections::BTreeSet<_> = codes.iter().map(|&code| Reducer::name_of(code)).collect();
    assert_eq!(names.len(), codes.len());
    assert_eq!(Reducer::name_of(super::code(ReduceOp::Max)), "MPI_MAX");
}
