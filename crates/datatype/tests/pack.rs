//! What packing and unpacking do, against a naive reading of the typemap.

use oxmpi_base::{BasicType, ErrorClass, Pair, Scalar};
use oxmpi_datatype::{Buffer, Constructor, Datatype};
use oxmpi_mem::Region;
use proptest::prelude::*;

/// The displacements of all bytes of one element in packed order: the typemap, byte by byte.
fn typemap(datatype: &Datatype) -> Vec<i64> {
    let repeated = |count: i64, stride: i64, bytes: &[i64]| -> Vec<i64> {
        (0..count).flat_map(|index| bytes.iter().map(move |byte| byte + index * stride)).collect()
    };
    match datatype.constructor() {
        Constructor::Basic(basic) => basic_typemap(*basic),
        Constructor::Dup { old } | Constructor::Resized { old, .. } => typemap(old),
        Constructor::Contiguous { count, old } => repeated(*count, old.extent(), &typemap(old)),
        Constructor::Hvector { count, blocklength, stride_bytes, old } => {
            repeated(*count, *stride_bytes, &repeated(*blocklength, old.extent(), &typemap(old)))
        }
        Constructor::Vector { count, blocklength, stride, old } => {
            repeated(*count, stride * old.extent(), &repeated(*blocklength, old.extent(), &typemap(old)))
        }
    }
}

fn basic_typemap(basic: BasicType) -> Vec<i64> {
    match basic.scalar() {
        Scalar::Pair(Pair::I16I32) => (0..2).chain(4..8).collect(),
        _ => (0..basic.size() as i64).collect(),
    }
}

fn elements_typemap(datatype: &Datatype, count: u64) -> Vec<i64> {
    let element = typemap(datatype);
    (0..count as i64).flat_map(|index| element.iter().map(move |b| b + index * datatype.extent())).collect()
}

/// Memory around an origin, each byte with a value of its own kind.
struct Memory {
    bytes: Vec<u8>,
    origin: usize,
}

impl Memory {
    fn around(typemap: &[i64]) -> Self {
        let lowest = typemap.iter().copied().min().unwrap_or(0).min(0);
        let highest = typemap.iter().copied().max().unwrap_or(0).max(0);
        let bytes = (0..highest - lowest + 9).map(|index| (index * 37 % 251) as u8).collect();
        Self { bytes, origin: (4 - lowest) as usize }
    }

    fn at(&self, displacement: i64) -> usize {
        (self.origin as i64 + displacement) as usize
    }

    fn buffer(&mut self, count: u64, datatype: &Datatype) -> Buffer {
        let origin = self.bytes.as_mut_ptr().wrapping_add(self.origin);
        // SAFETY: `around` has made room for the whole typemap, and the tests look at the bytes only between
        // two uses of the buffer.
        unsafe { Buffer::new(origin, count, datatype) }.expect("the datatype is committed and small")
    }
}

fn claim(bytes: &mut [u8]) -> Region {
    // SAFETY: the tests use `bytes` only through the region until they read it back.
    unsafe { Region::claim(bytes.as_mut_ptr(), bytes.len()) }
}

fn leaf() -> impl Strategy<Value = Datatype> {
    use BasicType::{Byte, Double, DoubleInt, Int, ShortInt};
    proptest::sample::select(&[Byte, Int, Double, ShortInt, DoubleInt]).prop_map(Datatype::basic)
}

/// Nested datatypes; `spread` says how far apart, in blocks, the blocks of vectors are.
fn datatypes(spread: impl Strategy<Value = i64> + Clone + 'static) -> impl Strategy<Value = Datatype> {
    leaf().prop_recursive(4, 12, 1, move |inner| {
        let hspread = spread.clone();
        prop_oneof![
            inner.clone().prop_map(|old| old.dup()),
            (0..4i64, inner.clone())
                .prop_map(|(count, old)| Datatype::contiguous(count, &old).expect("small")),
            (-9..9i64, 0..24i64, inner.clone()).prop_map(|(lower, more, old)| {
                let span = old.true_extent().max(old.extent());
                Datatype::resized(lower, span + more, &old).expect("small")
            }),
            (0..4i64, 0..3i64, spread.clone(), inner.clone()).prop_map(|(count, length, spread, old)| {
                Datatype::vector(count, length, spread * length.max(1), &old).expect("small")
            }),
            (0..4i64, 0..3i64, hspread, 0..7i64, inner).prop_map(|(count, length, spread, odd, old)| {
                let block = old.extent() * length.max(1);
                let stride = spread * (block + odd);
                Datatype::hvector(count, length, stride, &old).expect("small")
            }),
        ]
    })
}

/// Datatypes whose bytes may overlap: good for packing only.
fn any_datatype() -> impl Strategy<Value = Datatype> {
    datatypes(-3..4i64)
}

/// Datatypes that name no byte twice.
fn receivable() -> impl Strategy<Value = Datatype> {
    datatypes(prop_oneof![-3..0i64, 1..4i64]).prop_filter("no byte twice", |datatype| {
        let mut bytes = elements_typemap(datatype, 3);
        bytes.sort_unstable();
        bytes.windows(2).all(|pair| pair[0] != pair[1])
    })
}

proptest! {
    #[test]
    fn packing_reads_the_typemap_in_order(datatype in any_datatype(), count in 0..4u64) {
        datatype.commit();
        let typemap = elements_typemap(&datatype, count);
        let mut memory = Memory::around(&typemap);
        let expected: Vec<u8> = typemap.iter().map(|byte| memory.bytes[memory.at(*byte)]).collect();
        let buffer = memory.buffer(count, &datatype);
        prop_assert_eq!(buffer.bytes(), expected.len() as u64);
        let mut packed = vec![0; expected.len()];
        buffer.read(0, &claim(&mut packed));
        prop_assert_eq!(packed, expected);
    }

    #[test]
    fn pieces_packed_at_any_byte_make_the_whole(
        datatype in any_datatype(), count in 0..4u64, cuts in proptest::collection::vec(0..300usize, 0..9),
    ) {
        datatype.commit();
        let typemap = elements_typemap(&datatype, count);
        let mut memory = Memory::around(&typemap);
        let buffer = memory.buffer(count, &datatype);
        let (mut whole, mut pieces) = (vec![0; typemap.len()], vec![0; typemap.len()]);
        buffer.read(0, &claim(&mut whole));
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (typemap.len() + 1)).collect();
        cuts.extend([0, typemap.len()]);
        cuts.sort_unstable();
        for cut in cuts.windows(2).rev() {
            buffer.read(cut[0] as u64, &claim(&mut pieces[cut[0]..cut[1]]));
        }
        prop_assert_eq!(pieces, whole);
    }

    #[test]
    fn unpacking_a_piece_writes_its_bytes_and_no_others(
        datatype in receivable(), count in 0..4u64, cuts in (0..300usize, 0..300usize),
    ) {
        datatype.commit();
        let typemap = elements_typemap(&datatype, count);
        let mut memory = Memory::around(&typemap);
        let cut = |cut: usize| cut % (typemap.len() + 1);
        let (begin, end) = (cut(cuts.0).min(cut(cuts.1)), cut(cuts.0).max(cut(cuts.1)));
        let mut packed: Vec<u8> = (0..end - begin).map(|index| 255 - index as u8).collect();
        let mut expected = memory.bytes.clone();
        for (byte, value) in typemap[begin..end].iter().zip(&packed) {
            expected[memory.at(*byte)] = *value;
        }
        memory.buffer(count, &datatype).write(begin as u64, &claim(&mut packed));
        prop_assert_eq!(memory.bytes, expected);
    }

    #[test]
    fn sizes_and_true_bounds_are_those_of_the_typemap(datatype in any_datatype()) {
        let typemap = typemap(&datatype);
        prop_assert_eq!(datatype.size(), typemap.len() as u64);
        let lowest = typemap.iter().copied().min().unwrap_or(0);
        let highest = typemap.iter().copied().max().map_or(0, |byte| byte + 1);
        prop_assert_eq!(datatype.true_lower_bound(), lowest);
        prop_assert_eq!(datatype.true_extent(), highest - lowest);
    }

    #[test]
    fn dense_means_one_run_for_any_count(datatype in any_datatype()) {
        prop_assume!(datatype.size() != 0);
        let one_run = elements_typemap(&datatype, 3).into_iter().eq(0..3 * datatype.size() as i64);
        prop_assert_eq!(datatype.is_dense(), one_run);
    }

    #[test]
    fn a_part_is_given_where_the_bytes_are_one_piece(
        datatype in any_datatype(), at in 0..300usize, bytes in 1..9usize,
    ) {
        datatype.commit();
        let typemap = elements_typemap(&datatype, 2);
        let at = at % (typemap.len() + 1);
        let bytes = bytes.min(typemap.len() - at);
        let mut memory = Memory::around(&typemap);
        let first = typemap.get(at).map(|byte| memory.bytes.as_ptr().wrapping_add(memory.at(*byte)));
        if let Some(part) = memory.buffer(2, &datatype).part(at as u64, bytes as u64).filter(|_| bytes != 0) {
            prop_assert_eq!(Some(part.as_ptr().cast_const()), first);
            prop_assert_eq!(part.len(), bytes);
            prop_assert!(typemap[at..at + bytes].windows(2).all(|pair| pair[1] == pair[0] + 1));
        }
    }
}

#[test]
fn blocks_of_every_size_are_packed_and_unpacked_alike() {
    for length in 1..=40 {
        let vector =
            Datatype::hvector(5, length, length + 3, &Datatype::basic(BasicType::Byte)).expect("small");
        vector.commit();
        let typemap = elements_typemap(&vector, 2);
        let mut memory = Memory::around(&typemap);
        let original = memory.bytes.clone();
        let mut packed = vec![0; typemap.len()];
        memory.buffer(2, &vector).read(0, &claim(&mut packed));
        let expected: Vec<u8> = typemap.iter().map(|byte| memory.bytes[memory.at(*byte)]).collect();
        assert_eq!(packed, expected, "blocks of {length} bytes");
        for byte in &typemap {
            let byte = memory.at(*byte);
            memory.bytes[byte] = 0;
        }
        memory.buffer(2, &vector).write(0, &claim(&mut packed));
        assert_eq!(memory.bytes, original, "blocks of {length} bytes");
    }
}

#[test]
fn a_vector_of_a_million_blocks_is_packed_at_its_end_without_walking_there() {
    let blocks = 1_000_000;
    let vector = Datatype::vector(blocks, 1, 2, &Datatype::basic(BasicType::Double)).expect("small");
    vector.commit();
    let mut memory = vec![0f64; 2 * blocks as usize];
    memory[2 * (blocks as usize - 1)] = 7.0;
    // SAFETY: the vector spans the memory, which is not looked at again.
    let buffer = unsafe { Buffer::new(memory.as_mut_ptr().cast(), 1, &vector) }.expect("committed");
    let mut last = [0; 8];
    buffer.read(8 * (blocks as u64 - 1), &claim(&mut last));
    assert_eq!(f64::from_ne_bytes(last), 7.0);
}

#[test]
fn the_gap_of_a_pair_is_left_out() {
    let pair = Datatype::basic(BasicType::DoubleInt);
    assert_eq!((pair.size(), pair.extent(), pair.true_extent()), (12, 16, 12));
    let short = Datatype::basic(BasicType::ShortInt);
    assert_eq!((short.size(), short.extent(), short.true_extent()), (6, 8, 8));
}

#[test]
fn a_buffer_of_an_uncommitted_datatype_is_refused() {
    let datatype = Datatype::contiguous(2, &Datatype::basic(BasicType::Int)).expect("small");
    // SAFETY: no buffer is made.
    let error = unsafe { Buffer::new(std::ptr::null_mut(), 1, &datatype) }.expect_err("not committed");
    assert_eq!(error.class(), ErrorClass::Type);
}

#[test]
fn a_buffer_longer_than_memory_is_refused_with_its_count() {
    let datatype = Datatype::basic(BasicType::Int);
    // SAFETY: no buffer is made.
    let error = unsafe { Buffer::new(std::ptr::null_mut(), 1 << 62, &datatype) }.expect_err("2^64 bytes");
    assert_eq!(error.class(), ErrorClass::Count);
    assert!(error.text().contains("count is 4611686018427387904"), "{error}");
}
