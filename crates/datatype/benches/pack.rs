//! Packing strided data, beside the loop one would write by hand.
//!
//! `cargo bench -p oxmpi-datatype`; arguments are bytes of one block, every second block of memory is packed.

use divan::Bencher;
use divan::counter::BytesCount;
use oxmpi_base::BasicType;
use oxmpi_datatype::{Buffer, Datatype};
use oxmpi_mem::Region;

/// Packed bytes of one run; with the memory they come from they fit the second cache.
const BYTES: usize = 64 << 10;

fn main() {
    divan::main();
}

fn claim(bytes: &mut [u8]) -> Region {
    // SAFETY: the benchmarks use `bytes` only through the region.
    unsafe { Region::claim(bytes.as_mut_ptr(), bytes.len()) }
}

fn every_second_block(memory: &mut [u8], block_bytes: usize) -> Buffer {
    let (blocks, length) = ((BYTES / block_bytes) as i64, block_bytes as i64);
    let byte = Datatype::basic(BasicType::Byte);
    let vector = Datatype::vector(blocks, length, 2 * length, &byte).expect("small");
    vector.commit();
    // SAFETY: the vector spans `memory`, which the benchmarks use only through the buffer.
    unsafe { Buffer::new(memory.as_mut_ptr(), 1, &vector) }.expect("committed")
}

#[divan::bench(args = [4, 8, 12, 16, 24, 32, 64, 256])]
fn pack(bencher: Bencher<'_, '_>, block_bytes: usize) {
    let (mut memory, mut packed) = (vec![1; 2 * BYTES], vec![0; BYTES]);
    let buffer = every_second_block(&mut memory, block_bytes);
    let packed = claim(&mut packed[..buffer.bytes() as usize]);
    bencher.counter(BytesCount::new(packed.len())).bench_local(|| buffer.read(0, divan::black_box(&packed)));
}

#[divan::bench(args = [4, 8, 12, 16, 24, 32, 64, 256])]
fn unpack(bencher: Bencher<'_, '_>, block_bytes: usize) {
    let (mut memory, mut packed) = (vec![1; 2 * BYTES], vec![0; BYTES]);
    let buffer = every_second_block(&mut memory, block_bytes);
    let packed = claim(&mut packed[..buffer.bytes() as usize]);
    bencher.counter(BytesCount::new(packed.len())).bench_local(|| buffer.write(0, divan::black_box(&packed)));
}

#[divan::bench]
fn pack_8_by_hand(bencher: Bencher<'_, '_>) {
    let (memory, mut packed) = (vec![1u64; BYTES / 4], vec![0u64; BYTES / 8]);
    bencher.counter(BytesCount::new(BYTES)).bench_local(|| {
        for (into, from) in divan::black_box(&mut packed).iter_mut().zip(memory.chunks_exact(2)) {
            *into = from[0];
        }
    });
}

#[divan::bench]
fn buffer_of_one_double(bencher: Bencher<'_, '_>) {
    let double = Datatype::basic(BasicType::Double);
    let mut memory = 1f64;
    let origin: *mut f64 = &raw mut memory;
    // SAFETY: the buffer is not used.
    bencher.bench_local(|| unsafe {
        Buffer::new(divan::black_box(origin.cast()), 1, divan::black_box(&double))
    });
}
