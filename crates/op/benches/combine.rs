//! Combining vectors: from one element, where the call is what costs, to more than a cache holds.
//!
//! `cargo bench -p oxmpi-op`; arguments are bytes of one operand. `OXMPI_COMBINE=avx2` and its like choose the
//! instructions.

use divan::Bencher;
use divan::counter::BytesCount;
use oxmpi_base::{BasicType, ReduceOp};
use oxmpi_mem::Region;
use oxmpi_op::Reducer;

const SIZES: [usize; 4] = [8, 512, 16 << 10, 1 << 20];

fn main() {
    oxmpi_op::choose_instructions(&std::env::var("OXMPI_COMBINE").unwrap_or_default())
        .expect("they are there");
    divan::main();
}

fn claim(bytes: &mut [u8]) -> Region {
    // SAFETY: the benchmarks use `bytes` only through the region.
    unsafe { Region::claim(bytes.as_mut_ptr(), bytes.len()) }
}

fn in_place(bencher: Bencher<'_, '_>, op: ReduceOp, basic: BasicType, bytes: usize) {
    let reducer = Reducer::predefined(op, basic).expect("legal");
    let (mut left, mut right) = (vec![0; bytes], vec![0; bytes]);
    let (left, right) = (claim(&mut left), claim(&mut right));
    bencher
        .counter(BytesCount::new(bytes))
        .bench_local(|| divan::black_box(&reducer).combine(&left, &right, divan::black_box(&left)));
}

#[divan::bench(args = SIZES)]
fn sum_of_doubles(bencher: Bencher<'_, '_>, bytes: usize) {
    in_place(bencher, ReduceOp::Sum, BasicType::Double, bytes);
}

#[divan::bench(args = SIZES)]
fn max_of_floats(bencher: Bencher<'_, '_>, bytes: usize) {
    in_place(bencher, ReduceOp::Max, BasicType::Float, bytes);
}

#[divan::bench(args = SIZES)]
fn min_of_longs(bencher: Bencher<'_, '_>, bytes: usize) {
    in_place(bencher, ReduceOp::Min, BasicType::Int64T, bytes);
}

#[divan::bench(args = SIZES)]
fn sum_of_chars(bencher: Bencher<'_, '_>, bytes: usize) {
    in_place(bencher, ReduceOp::Sum, BasicType::Int8T, bytes);
}

#[divan::bench(args = SIZES)]
fn product_of_ints(bencher: Bencher<'_, '_>, bytes: usize) {
    in_place(bencher, ReduceOp::Prod, BasicType::Int, bytes);
}

#[divan::bench(args = SIZES)]
fn product_of_complex(bencher: Bencher<'_, '_>, bytes: usize) {
    in_place(bencher, ReduceOp::Prod, BasicType::Complex, bytes);
}

#[divan::bench(args = [16, 16 << 10])]
fn sum_of_long_doubles(bencher: Bencher<'_, '_>, bytes: usize) {
    in_place(bencher, ReduceOp::Sum, BasicType::LongDouble, bytes);
}

#[divan::bench(args = [16, 16 << 10])]
fn sum_of_quads(bencher: Bencher<'_, '_>, bytes: usize) {
    in_place(bencher, ReduceOp::Sum, BasicType::Real16, bytes);
}
