//! Packing layouts that programs use, beside the loop one would write by hand.
//!
//! `cargo bench -p oxmpi-datatype`; `tests/bench` has the same layouts for any MPI.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use oxmpi_base::BasicType;
use oxmpi_datatype::{Buffer, Datatype, Order, Subarray};
use oxmpi_mem::Region;

fn main() {
    divan::main();
}

const LAYOUTS: [&str; 12] = [
    "vector8", "vector4", "vector24", "vector1", "pairs", "block2d", "narrow2d", "face3d-x", "face3d-y",
    "structs", "indexed8", "indexed",
];

fn layout(name: &str) -> (Datatype, u64) {
    let [double, int, short, char, float] =
        [BasicType::Double, BasicType::Int, BasicType::Short, BasicType::Char, BasicType::Float]
            .map(Datatype::basic);
    let part = |size: i64, subsizes: &[i64]| {
        let (sizes, starts) = (vec![size; subsizes.len()], vec![0; subsizes.len()]);
        Datatype::subarray(Subarray { sizes, subsizes: subsizes.to_vec(), starts, order: Order::C }, &double)
    };
    let (made, count) = match name {
        "vector8" => (Datatype::vector(1000, 1, 2, &double), 1),
        "vector4" => (Datatype::vector(1000, 1, 2, &int), 1),
        "vector24" => (Datatype::vector(1000, 3, 5, &double), 1),
        "vector1" => (Datatype::vector(1000, 1, 3, &char), 1),
        "pairs" => (Datatype::vector(2, 1, 2, &double), 1000),
        "block2d" => (part(200, &[100, 100]), 1),
        "narrow2d" => (part(200, &[100, 4]), 1),
        "face3d-x" => (part(64, &[64, 64, 1]), 1),
        "face3d-y" => (part(64, &[64, 1, 64]), 1),
        "structs" => {
            let types = vec![double, int, short, char, float];
            (Datatype::structure(vec![1, 1, 1, 1, 3], vec![0, 8, 12, 14, 16], types), 1000)
        }
        "indexed8" => (Datatype::indexed_block(1, irregular().map(|(at, _)| at).collect(), &double), 1),
        "indexed" => {
            let (displacements, lengths) = irregular().unzip();
            (Datatype::indexed(lengths, displacements, &double), 1)
        }
        _ => unreachable!("the names are those of LAYOUTS"),
    };
    let datatype = made.expect("small");
    datatype.commit();
    (datatype, count)
}

/// Places and lengths of blocks that follow no rule.
fn irregular() -> impl Iterator<Item = (i64, i64)> {
    let (mut random, mut place) = (1u32, 0);
    (0..1000).map(move |_| {
        random = random.wrapping_mul(1_103_515_245).wrapping_add(12345);
        let (at, length) = (place, 1 + i64::from((random >> 16) % 6));
        place += length + 1 + i64::from((random >> 20) % 9);
        (at, length)
    })
}

fn claim(bytes: &mut [u8]) -> Region {
    // SAFETY: the benchmarks use `bytes` only through the region.
    unsafe { Region::claim(bytes.as_mut_ptr(), bytes.len()) }
}

/// Calls `bench` with a buffer of the layout, and with as much memory as it has when packed.
fn with_layout(name: &str, bench: impl FnOnce(&Buffer, &Region)) {
    let (datatype, count) = layout(name);
    let span = datatype.true_extent() as usize + datatype.extent() as usize * count as usize;
    let (mut memory, mut packed) = (vec![1u8; span], vec![0; (count * datatype.size()) as usize]);
    // SAFETY: the layouts begin at the origin and span `memory`, which is used only through the buffer.
    let buffer = unsafe { Buffer::new(memory.as_mut_ptr(), count, &datatype) }.expect("committed");
    bench(&buffer, &claim(&mut packed));
}

#[divan::bench(args = LAYOUTS)]
fn pack(bencher: Bencher<'_, '_>, name: &str) {
    with_layout(name, |buffer, packed| {
        bencher.counter(BytesCount::new(packed.len())).bench_local(|| buffer.read(0, black_box(packed)));
    });
}

#[divan::bench(args = LAYOUTS)]
fn unpack(bencher: Bencher<'_, '_>, name: &str) {
    with_layout(name, |buffer, packed| {
        bencher.counter(BytesCount::new(packed.len())).bench_local(|| buffer.write(0, black_box(packed)));
    });
}

#[divan::bench]
fn vector8_by_hand(bencher: Bencher<'_, '_>) {
    let (memory, mut packed, stride) = (vec![1u64; 2000], vec![0u64; 1000], black_box(2));
    bencher.counter(BytesCount::new(8000usize)).bench_local(|| {
        for (into, from) in black_box(&mut packed).iter_mut().zip(memory.iter().step_by(stride)) {
            *into = *from;
        }
    });
}

#[divan::bench]
fn buffer_of_one_double(bencher: Bencher<'_, '_>) {
    let double = Datatype::basic(BasicType::Double);
    let mut memory = 1f64;
    let origin: *mut f64 = &raw mut memory;
    // SAFETY: the buffer is not used.
    bencher.bench_local(|| unsafe { Buffer::new(black_box(origin.cast()), 1, black_box(&double)) });
}
