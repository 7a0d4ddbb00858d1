//! The copies that this processor can run, beside the C library's and the processor's own (`rep movsb`).
//!
//!     cargo bench -p oxmpi-mem [-- [--each] [SIZE...]]
//!
//! For each direction between private and shared memory and each size: nanoseconds at the best and at the worst of
//! several pairs of places in a page, of the target and of the source; `--each` prints all places. A figure is the
//! least of many short rounds, in which the ways to copy take turns.

use std::hint::black_box;
use std::ptr;
use std::time::Instant;

use oxmpi_mem::Region;
use oxmpi_mem::copy::{Next, choose_copy};
use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags};

const SIZES: [usize; 14] = [
    8,
    64,
    128,
    256,
    512,
    1 << 10,
    4 << 10,
    16 << 10,
    64 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
    16 << 20,
    64 << 20,
];
const LARGEST: usize = SIZES[SIZES.len() - 1] + (64 << 10);
/// Places in a page.
const OFFSETS: [usize; 8] = [0, 8, 16, 64, 1001, 2048, 3072, 4032];
const ROUNDS: usize = 20;
const ROUND_NS: u64 = 30_000;

/// A way to copy: its name, the body it needs, and how.
type Way = (&'static str, &'static str, fn(&Region, &Region));

const WAYS: [Way; 7] = [
    ("memcpy", "", |dst, src| {
        // SAFETY: the two mappings are apart, as long as this, and nobody else's.
        unsafe { ptr::copy_nonoverlapping(black_box(src.as_ptr()), dst.as_ptr(), black_box(src.len())) };
    }),
    ("movsb", "", |dst, src| rep_movsb(dst, src)),
    ("avx512", "avx512", |dst, src| dst.copy_from(src)),
    ("avx2", "avx2", |dst, src| dst.copy_from(src)),
    ("sse2", "sse2", |dst, src| dst.copy_from(src)),
    ("neon", "neon", |dst, src| dst.copy_from(src)),
    ("stream", "sse2", |dst, src| dst.copy_hinted(src, Next::Late)),
];

#[cfg(target_arch = "x86_64")]
fn rep_movsb(dst: &Region, src: &Region) {
    // SAFETY: the two mappings are apart, as long as this, and nobody else's.
    unsafe {
        std::arch::asm!(
            "rep movsb", inout("rdi") dst.as_ptr() => _, inout("rsi") src.as_ptr() => _,
            inout("rcx") src.len() => _, options(nostack, preserves_flags)
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn rep_movsb(_dst: &Region, _src: &Region) {}

fn mapping(shared: bool) -> Region {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    let base = if shared {
        let file = rustix::fs::memfd_create("bench", MemfdFlags::CLOEXEC).expect("a file");
        rustix::fs::ftruncate(&file, LARGEST as u64).expect("room");
        // SAFETY: a new mapping at an address of the kernel's choice.
        unsafe { rustix::mm::mmap(ptr::null_mut(), LARGEST, protection, MapFlags::SHARED, file, 0) }
    } else {
        // SAFETY: as above.
        unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), LARGEST, protection, MapFlags::PRIVATE) }
    };
    // SAFETY: the mapping is new and never undone.
    let region = unsafe { Region::claim(base.expect("memory").cast(), LARGEST) };
    (0..LARGEST).step_by(4096).for_each(|page| region.part(page, 1).write(&[1]));
    region
}

/// Nanoseconds of one copy, in the fastest of several rounds in which the ways take turns.
fn measure(ways: &[&Way], dst: &Region, src: &Region) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; ways.len()];
    let mut times = vec![1u64; ways.len()];
    for _ in 0..ROUNDS {
        for (index, (_, body, copy)) in ways.iter().enumerate() {
            choose_copy(body).expect("only ways that run here are left");
            copy(dst, src);
            let begin = Instant::now();
            for _ in 0..times[index] {
                copy(black_box(dst), black_box(src));
            }
            let ns = begin.elapsed().as_nanos() as f64 / times[index] as f64;
            best[index] = best[index].min(ns);
            times[index] = (ROUND_NS as f64 / ns).clamp(1.0, 10_000.0) as u64;
        }
    }
    best
}

/// What a receiver of a long message does: one cached piece after the other, each to another place.
fn measure_pieces(ways: &[&Way], dst: &Region, src: &Region) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; ways.len()];
    for _ in 0..ROUNDS {
        for (index, (_, body, copy)) in ways.iter().enumerate() {
            choose_copy(body).expect("only ways that run here are left");
            // What the way before has left in the caches is gone with the first of the two.
            for _ in 0..2 {
                let begin = Instant::now();
                for piece in (0..dst.len()).step_by(src.len()) {
                    copy(&dst.part(piece, src.len()), src);
                }
                best[index] = best[index].min(begin.elapsed().as_nanos() as f64);
            }
        }
    }
    best
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|text| text != "--bench").collect();
    let each = arguments.iter().any(|text| text == "--each");
    let sizes: Vec<usize> = arguments.iter().filter_map(|text| text.parse().ok()).collect();
    let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
    let ways: Vec<&Way> = WAYS.iter().filter(|(_, body, _)| choose_copy(body).is_ok()).collect();
    let places: Vec<(usize, usize)> =
        OFFSETS.iter().flat_map(|&offset| [(offset, 0), (0, offset)]).skip(1).collect();
    let [private, other, shared] = [false, false, true].map(mapping);
    let directions = [
        ("private to shared", shared, private),
        ("shared to private", private, shared),
        ("private", other, private),
    ];
    for (direction, dst, src) in directions {
        println!("\n{direction}: ns at the best place / at the worst");
        print!("{:>10}", "bytes");
        ways.iter().for_each(|(name, _, _)| print!("{name:>22}"));
        println!();
        for &bytes in &sizes {
            let mut range = vec![(f64::INFINITY, 0.0f64); ways.len()];
            for &(to, from) in &places {
                let ns = measure(&ways, &dst.part(to, bytes), &src.part(from, bytes));
                if each {
                    print!("{to:>5}{from:>5}");
                    ns.iter().for_each(|ns| print!("{ns:>22.1}"));
                    println!();
                }
                for (range, ns) in range.iter_mut().zip(ns) {
                    *range = (range.0.min(ns), range.1.max(ns));
                }
            }
            print!("{bytes:>10}");
            range.iter().for_each(|(low, high)| print!("{:>22}", format!("{low:.1} / {high:.1}")));
            println!();
        }
    }
    println!("\nA piece of shared memory, again and again, to the whole of a private range: ns");
    print!("{:>10}{:>10}", "bytes", "piece");
    ways.iter().for_each(|(name, _, _)| print!("{name:>12}"));
    println!();
    for total in [64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20] {
        for piece in [4 << 10, 16 << 10, 64 << 10] {
            print!("{total:>10}{piece:>10}");
            let ns = measure_pieces(&ways, &private.part(16, total), &shared.part(2048, piece));
            ns.iter().for_each(|ns| print!("{ns:>12.0}"));
            println!();
        }
    }
}
