//! What bytes cost that stay on a processor: copied or combined in its caches, and beyond these.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Constant;
use super::processors::{Processors, usual_ns};

/// Numbers of a slot: 32 KiB.
const SLOT: usize = 4096;
/// Bytes of copies, from what is in the caches to what is not.
const SMALLEST: usize = 32 << 10;
const LARGEST: usize = 64 << 20;
/// So many processors copy at the same time: those that share a cache are seldom more.
const TOGETHER: usize = 8;
const TRIALS: usize = 200;

/// What it costs to combine a byte with another one; two ranks tell it better.
pub const COMBINED_BYTE: &str = "reduce_byte_ns";

/// Constants of bytes.
///
/// Long vectors go in and out by a slot that stays where it is, as those of ranks do; and on all processors at the same
/// time, for these share caches and the way to memory.
pub fn measure(processors: &Processors) -> Vec<Constant> {
    let size = AtomicUsize::new(SMALLEST);
    let other = || {
        let mut vectors = Vectors::new();
        loop {
            match size.load(Ordering::Relaxed) {
                0 => return,
                now => vectors.pass(now),
            }
        }
    };
    let first = || {
        let mut vectors = Vectors::new();
        let reduce = vectors.reduce_byte_ns();
        let mut costs = Vec::new();
        for next in sizes() {
            size.store(next, Ordering::Relaxed);
            let trials = (4 * LARGEST / next).clamp(3, TRIALS);
            costs.push((next, usual_ns(trials, 2 * next, || vectors.pass(next))));
        }
        size.store(0, Ordering::Relaxed);
        (reduce, costs)
    };
    let (reduce, costs) = processors.run_together(TOGETHER, first, other);
    let (cache_bytes, stream) = caches(&costs);
    vec![
        ("copy_byte_ns", costs[0].1),
        ("pull_byte_ns", costs[0].1),
        (COMBINED_BYTE, reduce),
        ("cache_bytes", cache_bytes as f64),
        ("stream_byte_ns", stream),
    ]
}

/// Powers of two, and from two slots on what is halfway between these.
fn sizes() -> impl Iterator<Item = usize> {
    let powers = std::iter::successors(Some(SMALLEST), |size| Some(2 * size));
    powers
        .flat_map(|size| [size, size / 2 * 3])
        .filter(|size| size.is_multiple_of(SMALLEST))
        .take_while(|size| *size <= LARGEST)
}

/// Memory of a rank.
struct Vectors {
    from: Vec<f64>,
    into: Vec<f64>,
    slot: Vec<f64>,
}

impl Vectors {
    fn new() -> Self {
        let [from, into] = [1.0, 2.0].map(|value| vec![value; LARGEST / 8]);
        Self { from, into, slot: vec![0.0; SLOT] }
    }

    /// Copies so many bytes, twice each.
    fn pass(&mut self, size: usize) {
        for (from, into) in self.from[..size / 8].chunks(SLOT).zip(self.into.chunks_mut(SLOT)) {
            self.slot.copy_from_slice(from);
            black_box(&mut self.slot);
            into.copy_from_slice(&self.slot);
        }
        black_box(&mut self.into);
    }

    fn reduce_byte_ns(&mut self) -> f64 {
        usual_ns(TRIALS, 8 * SLOT, || {
            self.into.iter_mut().zip(&self.slot).for_each(|(into, from)| *into += from);
            black_box(&mut self.into);
        })
    }
}

/// How many bytes fit, and how much more one costs of so many that nothing is found, where copies of so many bytes cost
/// so much for each. A size whose bytes cost little says that less fits too, whatever held up copies of less.
fn caches(costs: &[(usize, f64)]) -> (usize, f64) {
    let (first, last) = (costs[0].1, costs[costs.len() - 1].1);
    let stream = (last - first).max(0.0);
    let fits = costs.iter().rfind(|(_, cost)| *cost <= first + stream / 4.0);
    // What is read and what is written.
    (2 * fits.map_or(SMALLEST, |(size, _)| *size), stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caches_end_where_bytes_become_slow() {
        let costs = [(1 << 15, 0.02), (1 << 16, 0.02), (1 << 17, 0.03), (1 << 18, 0.09), (1 << 19, 0.1)];
        let (bytes, stream) = caches(&costs);
        assert_eq!(bytes, 1 << 18);
        assert!((stream - 0.08).abs() < 1e-9);
        assert_eq!(caches(&[(1 << 15, 0.02), (1 << 16, 0.02)]).1, 0.0);
        let held_up = [(1 << 15, 0.02), (1 << 16, 0.07), (1 << 17, 0.03), (1 << 18, 0.09), (1 << 19, 0.1)];
        assert_eq!(caches(&held_up), (bytes, stream));
    }
}
