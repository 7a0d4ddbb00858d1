//! Packing in the representation `external32`, and back.

mod naive;

use oxmpi_base::{BasicType, ErrorClass, TypeClass};
use oxmpi_datatype::{Buffer, Datatype};
use proptest::prelude::*;

use naive::memory::{Memory, claim};
use naive::strategies::receivable;

/// Values of all sizes as they lie in memory, packed.
fn packed<const BYTES: usize>(basic: BasicType, mut value: [u8; BYTES]) -> oxmpi_base::Result<Vec<u8>> {
    let datatype = Datatype::basic(basic);
    let mut external = vec![0xee; datatype.external32_size() as usize];
    datatype.pack_external32(&Buffer::dense(claim(&mut value)), &claim(&mut external))?;
    let mut back = [0xee; BYTES];
    datatype.unpack_external32(&Buffer::dense(claim(&mut back)), &claim(&mut external));
    assert_eq!(back, value, "{basic:?}");
    Ok(external)
}

#[test]
fn numbers_are_big_endian_and_have_the_size_of_the_standard() {
    let bytes = |packed: oxmpi_base::Result<Vec<u8>>| packed.expect("the value fits");
    assert_eq!(bytes(packed(BasicType::Short, 0x0102i16.to_ne_bytes())), [1, 2]);
    assert_eq!(bytes(packed(BasicType::Int, (-2i32).to_ne_bytes())), [0xff, 0xff, 0xff, 0xfe]);
    assert_eq!(bytes(packed(BasicType::Long, (-2i64).to_ne_bytes())), [0xff, 0xff, 0xff, 0xfe]);
    assert_eq!(
        bytes(packed(BasicType::UnsignedLong, 0xffff_fffeu64.to_ne_bytes())),
        [0xff, 0xff, 0xff, 0xfe]
    );
    assert_eq!(bytes(packed(BasicType::Int64T, 3i64.to_ne_bytes())), [0, 0, 0, 0, 0, 0, 0, 3]);
    assert_eq!(bytes(packed(BasicType::Wchar, 0x20acu32.to_ne_bytes())), [0x20, 0xac]);
    assert_eq!(bytes(packed(BasicType::Double, 1f64.to_ne_bytes())), 1f64.to_be_bytes());
    assert_eq!(bytes(packed(BasicType::CBool, [1])), [1]);
    let complex = [1f32.to_ne_bytes(), 2f32.to_ne_bytes()].concat();
    let complex = packed::<8>(BasicType::CxxFloatComplex, complex.try_into().expect("two floats"));
    assert_eq!(bytes(complex), [1f32.to_be_bytes(), 2f32.to_be_bytes()].concat());
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_long_double_becomes_ieee_binary128() {
    let mut three = [0; 16];
    three[..10].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0xc0, 0x00, 0x40]);
    let mut expected = [0; 16];
    expected[..3].copy_from_slice(&[0x40, 0x00, 0x80]);
    assert_eq!(packed(BasicType::LongDouble, three).expect("a number"), expected);
}

#[test]
fn sizes_of_all_types_are_those_of_the_table() {
    for basic in BasicType::ALL {
        let expected = match basic {
            BasicType::Long | BasicType::UnsignedLong => 4,
            BasicType::LongInt => 8,
            BasicType::Wchar => 2,
            _ => basic.size(),
        };
        assert_eq!(Datatype::basic(basic).external32_size(), expected as u64, "{basic:?}");
    }
}

#[test]
fn an_integer_that_does_not_fit_is_an_error_and_not_another_integer() {
    for (basic, value) in [
        (BasicType::Long, 1i64 << 31),
        (BasicType::Long, -(1i64 << 31) - 1),
        (BasicType::UnsignedLong, 1i64 << 32),
    ] {
        let error = packed(basic, value.to_ne_bytes()).expect_err("too large for 4 bytes");
        assert_eq!(error.class(), ErrorClass::Conversion);
        assert!(error.text().contains("external32"), "{error}");
    }
}

#[test]
fn whatever_is_not_zero_elsewhere_is_true_here() {
    for basic in [BasicType::CBool, BasicType::Logical, BasicType::Logical2, BasicType::Logical16] {
        let datatype = Datatype::basic(basic);
        for (byte, expected) in [(0, 0), (1, 1), (2, 1), (0xff, 1)] {
            let (mut external, mut native) = (vec![0; basic.size()], vec![0xee; basic.size()]);
            external[0] = byte;
            datatype.unpack_external32(&Buffer::dense(claim(&mut native)), &claim(&mut external));
            let mut truth = vec![0; basic.size()];
            truth[0] = expected;
            assert_eq!(native, truth, "{basic:?}");
        }
    }
}

#[test]
fn long_runs_are_converted_in_several_chunks() {
    let mut values: Vec<u64> = (0..5000).map(|value| value << 40 | 7).collect();
    let expected: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
    let datatype = Datatype::basic(BasicType::Uint64T);
    let mut external = vec![0; 40_000];
    // SAFETY: the values are looked at no more.
    let buffer = unsafe { Buffer::new(values.as_mut_ptr().cast(), 5000, &datatype) }.expect("committed");
    datatype.pack_external32(&buffer, &claim(&mut external)).expect("no integer is narrowed");
    assert_eq!(external, expected);
}

/// A long double has 6 bytes without meaning, and not every pattern is an x87 number; wide characters and longs
/// lose their upper bytes.
fn make_representable(basic: BasicType, value: &mut [u8]) {
    match basic {
        BasicType::Long => value[3..].fill(0),
        BasicType::Wchar => value[2..].fill(0),
        _ if basic.class() == Some(TypeClass::Logical) => {
            value[0] &= 1;
            value[1..].fill(0);
        }
        BasicType::LongDouble | BasicType::CLongDoubleComplex if cfg!(target_arch = "x86_64") => {
            for number in value.chunks_exact_mut(16) {
                number[7] |= 0x80;
                number[9] = 0x3f;
                number[10..].fill(0);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn unpacking_gives_back_what_was_packed_and_touches_nothing_else(
        datatype in receivable(), count in 0..4u64,
    ) {
        datatype.commit();
        let bytes = naive::bytes(&datatype, count);
        let mut memory = Memory::around(&bytes);
        for (basic, displacement) in naive::elements(&datatype, count) {
            let places: Vec<usize> =
                naive::basic_bytes(basic).map(|byte| memory.at(displacement + byte)).collect();
            let mut value: Vec<u8> = places.iter().map(|place| memory.bytes[*place]).collect();
            make_representable(basic, &mut value);
            places.iter().zip(value).for_each(|(place, byte)| memory.bytes[*place] = byte);
        }
        let original = memory.bytes.clone();
        let mut external = vec![0; (count * datatype.external32_size()) as usize];
        let packed = datatype.pack_external32(&memory.buffer(count, &datatype), &claim(&mut external));
        prop_assert!(packed.is_ok(), "{:?}", packed);
        for byte in &bytes {
            let byte = memory.at(*byte);
            memory.bytes[byte] = !memory.bytes[byte];
        }
        datatype.unpack_external32(&memory.buffer(count, &datatype), &claim(&mut external));
        prop_assert_eq!(memory.bytes, original);
    }
}
