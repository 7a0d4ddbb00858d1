//! What bytes cost: moved to memory that another processor has read, out of what it has written, combined, and beyond
//! the caches.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

use super::Constant;
use super::processors::{Processors, Word, least_ns};

/// Numbers of a slot: 32 KiB.
const SLOT: usize = 4096;
const ROUNDS: u64 = 200;
/// Bytes of copies, from what is in the caches to what is not.
const SMALLEST: usize = 32 << 10;
const LARGEST: usize = 64 << 20;

/// Constants of bytes.
pub fn measure(processors: &Processors) -> Vec<Constant> {
    let mut constants = alone(processors);
    if processors.count() > 1 {
        constants.extend(between(processors));
    }
    constants
}

/// Of one processor: how much it can touch before that becomes slow, and how slow it becomes. Long vectors go in and
/// out by a slot that stays where it is, as those of ranks do.
fn alone(processors: &Processors) -> Vec<Constant> {
    let copy = || {
        processors.bind(0);
        let (from, mut into) = (vec![1.0_f64; LARGEST / 8], vec![2.0_f64; LARGEST / 8]);
        let mut slot = vec![0.0_f64; SLOT];
        let sizes = std::iter::successors(Some(SMALLEST), |size| Some(size * 2));
        let sizes: Vec<usize> = sizes.take_while(|&size| size <= LARGEST).collect();
        let byte_ns = |&size: &usize| {
            let trials = (4 * LARGEST / size).clamp(3, 200);
            let mut pass = || {
                for (from, into) in from[..size / 8].chunks(SLOT).zip(into.chunks_mut(SLOT)) {
                    slot.copy_from_slice(from);
                    black_box(&mut slot);
                    into.copy_from_slice(&slot);
                }
                black_box(&mut into);
            };
            (size, least_ns(trials, 2 * size, &mut pass))
        };
        sizes.iter().map(byte_ns).collect::<Vec<_>>()
    };
    let costs = processors.run_on([0, 0], copy, || {});
    let (cache_bytes, stream) = caches(&costs);
    vec![("cache_bytes", cache_bytes as f64), ("stream_byte_ns", stream)]
}

/// How many bytes fit, and how much more one costs that does not, where copies of so many bytes cost so much for each.
fn caches(costs: &[(usize, f64)]) -> (usize, f64) {
    let (first, last) = (costs[0].1, costs[costs.len() - 1].1);
    let stream = (last - first).max(0.0);
    let fits = costs.iter().take_while(|(_, cost)| *cost <= first + stream / 2.0).last();
    // What is read and what is written.
    (2 * fits.map_or(SMALLEST, |(size, _)| *size), stream)
}

/// Of two processors, one of which writes what the other one reads.
fn between(processors: &Processors) -> Vec<Constant> {
    let slot = Mutex::new(vec![0.0_f64; SLOT]);
    let (turn, done) = (Word::default(), Word::default());
    let [mut pull, mut reduce] = [f64::INFINITY; 2];
    let reader = || {
        let mut own = vec![0.0_f64; SLOT];
        for round in 1..=ROUNDS {
            turn.await_value(round);
            let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            let bytes = 8 * SLOT;
            match round % 2 {
                0 => pull = pull.min(least_ns(1, bytes, || own.copy_from_slice(&slot))),
                _ => reduce = reduce.min(least_ns(1, bytes, || add(&mut own, &slot))),
            }
            black_box(&mut own);
            drop(slot);
            done.set(round);
        }
    };
    let writer = || {
        let own = vec![1.0_f64; SLOT];
        let mut post = f64::INFINITY;
        for round in 1..=ROUNDS {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            post = post.min(least_ns(1, 8 * SLOT, || slot.copy_from_slice(&own)));
            drop(slot);
            turn.set(round);
            done.await_value(round);
        }
        post
    };
    let post = processors.run_on(processors.ends(), writer, reader);
    vec![("post_byte_ns", post), ("pull_byte_ns", pull), ("reduce_byte_ns", reduce)]
}

fn add(into: &mut [f64], from: &[f64]) {
    into.iter_mut().zip(from).for_each(|(into, from)| *into += from);
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
    }
}
