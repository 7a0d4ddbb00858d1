//! Reduce by slices of lines: each rank combines its slice, and the root pulls the results.
//!
//! Per rank `(p-1)/p` of the vector is posted and combined once, and `1/p` posted again; the root also pulls
//! `(p-1)/p`. So the root does not combine everything alone, for one hop more.
//!
//! In iteration `i` a rank posts slices of segment `i` and combines segment `i - 1`; the root pulls the
//! results of segment `i - 2`. When a rank posts segment `s`, it has combined `s - 2`, which its peers posted
//! after they combined `s - 4`: four slots suffice. And when it posts a result of `s`, it has combined `s`,
//! which the root posted after it pulled the results of `s - 3`: there, three suffice.

use crate::build::Builder;
use crate::prices::Prices;
use crate::slices::Slices;
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "node-sliced", admits, cost: Some(cost), plan };

fn slices(shape: &Shape) -> Option<Slices> {
    Slices::cut(shape, 4)
}

fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && slices(shape).is_some()
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    part_cost(&slices(shape).expect("admitted"), shape.ranks, prices)
}

/// What [`part`] costs.
pub(crate) fn part_cost(slices: &Slices, ranks: u32, prices: &Prices<'_>) -> Cost {
    let slice = slices.mean_bytes();
    let results = prices.post(slice) + f64::from(ranks - 1) * prices.of_workers(1).pull(slice);
    prices.hop_among_all() + prices.hop() + slices.combine_cost(prices) + slices.segments as f64 * results
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    part(&slices(shape).expect("admitted"), shape, rank)
}

/// The same of a vector that is cut into these slices. The root has a result [`DELAY`] behind the front.
pub(crate) fn part(slices: &Slices, shape: &Shape, rank: u32) -> Plan {
    let mut builder = Builder::segmented(slices.segments);
    let is_root = rank == shape.root.rank();
    let result = if is_root { slices.of(Buf::Recv, rank) } else { slices.scratch(&mut builder, rank) };
    slices.declare_and_combine(&mut builder, rank, result);
    let results = builder.line(slices.slice_bytes, slices.depth.min(3));
    if is_root {
        builder.delay(DELAY);
        for peer in shape.others(rank) {
            builder.pull(peer, results, 0, slices.of(Buf::Recv, peer));
        }
    } else {
        builder.post(results, result);
    }
    builder.finish()
}

/// How far behind the front the root has a result.
pub(crate) const DELAY: u32 = 2;
