//! What packing and unpacking do, against a naive reading of the typemap.

mod naive;

use oxmpi_base::{BasicType, ErrorClass};
use oxmpi_datatype::{Buffer, Datatype};
use proptest::prelude::*;

use naive::memory::{Memory, claim};
use naive::strategies::{any_datatype, receivable};

proptest! {
    #[test]
    fn packing_reads_the_typemap_in_order(datatype in any_datatype(), count in 0..4u64) {
        datatype.commit();
        let bytes = naive::bytes(&datatype, count);
        let mut memory = Memory::around(&bytes);
        let expected = memory.gathered(&bytes);
        let buffer = memory.buffer(count, &datatype);
        prop_assert_eq!(buffer.bytes(), expected.len() as u64);
        let mut packed = vec![0; expected.len()];
        buffer.read(0, &claim(&mut packed));
        prop_assert_eq!(&packed, &expected);
        packed.fill(0);
        memory.elements(count, &datatype).read(&claim(&mut packed));
        prop_assert_eq!(packed, expected);
    }

    #[test]
    fn pieces_packed_at_any_byte_make_the_whole(
        datatype in any_datatype(), count in 0..4u64, cuts in proptest::collection::vec(0..3000usize, 0..9),
    ) {
        datatype.commit();
        let bytes = naive::bytes(&datatype, count);
        let mut memory = Memory::around(&bytes);
        let whole = memory.gathered(&bytes);
        let buffer = memory.buffer(count, &datatype);
        let mut pieces = vec![0; bytes.len()];
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        for cut in cuts.windows(2).rev() {
            buffer.read(cut[0] as u64, &claim(&mut pieces[cut[0]..cut[1]]));
        }
        prop_assert_eq!(&pieces, &whole);
        for cut in cuts.windows(2) {
            let slice = buffer.slice(cut[0] as u64, (cut[1] - cut[0]) as u64);
            let half = slice.bytes() / 2;
            let mut piece = vec![0; (slice.bytes() - half) as usize];
            slice.read(half, &claim(&mut piece));
            prop_assert_eq!(&piece, &whole[cut[0] + half as usize..cut[1]]);
        }
    }

    #[test]
    fn unpacking_a_piece_writes_its_bytes_and_no_others(
        datatype in receivable(), count in 0..4u64, cuts in (0..3000usize, 0..3000usize),
    ) {
        datatype.commit();
        let bytes = naive::bytes(&datatype, count);
        let mut memory = Memory::around(&bytes);
        let cut = |cut: usize| cut % (bytes.len() + 1);
        let (begin, end) = (cut(cuts.0).min(cut(cuts.1)), cut(cuts.0).max(cut(cuts.1)));
        let mut packed: Vec<u8> = (0..end - begin).map(|index| 255 - index as u8).collect();
        let mut expected = memory.bytes.clone();
        for (byte, value) in bytes[begin..end].iter().zip(&packed) {
            expected[memory.at(*byte)] = *value;
        }
        memory.buffer(count, &datatype).write(begin as u64, &claim(&mut packed));
        prop_assert_eq!(memory.bytes, expected);
    }

    #[test]
    fn elements_for_one_call_are_unpacked_like_a_buffer(datatype in receivable(), count in 0..4u64) {
        datatype.commit();
        let bytes = naive::bytes(&datatype, count);
        let mut packed: Vec<u8> = (0..bytes.len()).map(|index| 255 - index as u8).collect();
        let (mut memory, mut other) = (Memory::around(&bytes), Memory::around(&bytes));
        memory.buffer(count, &datatype).write(0, &claim(&mut packed));
        other.elements(count, &datatype).write(&claim(&mut packed));
        prop_assert_eq!(memory.bytes, other.bytes);
    }

    #[test]
    fn a_part_is_given_where_the_bytes_are_one_piece(
        datatype in any_datatype(), at in 0..3000usize, len in 1..9usize,
    ) {
        datatype.commit();
        let bytes = naive::bytes(&datatype, 2);
        let at = at % (bytes.len() + 1);
        let len = len.min(bytes.len() - at);
        let mut memory = Memory::around(&bytes);
        let first = bytes.get(at).map(|byte| memory.bytes.as_ptr().wrapping_add(memory.at(*byte)));
        if let Some(part) = memory.buffer(2, &datatype).part(at as u64, len as u64).filter(|_| len != 0) {
            prop_assert_eq!(Some(part.as_ptr().cast_const()), first);
            prop_assert_eq!(part.len(), len);
            prop_assert!(bytes[at..at + len].windows(2).all(|pair| pair[1] == pair[0] + 1));
        }
    }
}

#[test]
fn blocks_of_every_size_are_packed_and_unpacked_alike() {
    let byte = Datatype::basic(BasicType::Byte);
    for length in 1..=140 {
        let vector = Datatype::hvector(5, length, length + 3, &byte).expect("small");
        let irregular = [0, 1, 3, 4, 9, 11].map(|place| place * (length + 1)).to_vec();
        let listed = Datatype::hindexed_block(length, irregular, &byte).expect("small");
        for (datatype, count) in [(vector, 1), (listed.clone(), 1), (listed, 21)] {
            datatype.commit();
            let bytes = naive::bytes(&datatype, count);
            let mut memory = Memory::around(&bytes);
            let original = memory.bytes.clone();
            let mut packed = vec![0; bytes.len()];
            memory.buffer(count, &datatype).read(0, &claim(&mut packed));
            assert_eq!(packed, memory.gathered(&bytes), "blocks of {length} bytes");
            for byte in &bytes {
                let byte = memory.at(*byte);
                memory.bytes[byte] = 0;
            }
            memory.buffer(count, &datatype).write(0, &claim(&mut packed));
            assert_eq!(memory.bytes, original, "blocks of {length} bytes");
        }
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
fn absolute_addresses_are_displacements_from_the_null_pointer() {
    let (mut a, mut b) = ([1u32, 2], [3.0f64]);
    let addresses = [(&raw mut b).addr() as i64, (&raw mut a).addr() as i64].to_vec();
    let types = [BasicType::Double, BasicType::Unsigned].map(Datatype::basic).to_vec();
    let both = Datatype::structure(vec![1, 2], addresses, types).expect("memory is smaller than 2^63");
    both.commit();
    let expose = [(&raw mut b).expose_provenance(), (&raw mut a).expose_provenance()];
    assert_ne!(expose[0], expose[1]);
    // SAFETY: the typemap names these two arrays, which are looked at only behind the last use.
    let buffer = unsafe { Buffer::new(std::ptr::null_mut(), 1, &both) }.expect("committed");
    let mut packed = [0; 16];
    buffer.read(0, &claim(&mut packed));
    assert_eq!(packed[..8], 3f64.to_ne_bytes());
    assert_eq!((packed[8], packed[12]), (1, 2));
    buffer.slice(8, 4).write(0, &claim(&mut 9u32.to_ne_bytes()));
    assert_eq!((a, b), ([9, 2], [3.0]));
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
