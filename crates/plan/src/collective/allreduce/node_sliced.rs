//! Allreduce by slices of lines: each rank combines its slice for all, and pulls the other slices.
//!
//! After combining its slice a rank posts the result and pulls those of the others. Per rank `(p-1)/p` of the
//! vector is posted, combined and pulled once, and `1/p` posted again: the least work of all, for two hops.
//!
//! In iteration `i` a rank posts slices of segment `i`, combines segment `i - 1` and pulls the results of
//! segment `i - 2`. So a peer may be late by two thirds of an iteration before anybody waits for it. When a
//! rank posts segment `s`, it has pulled the results of segment `s - 3`, which the peers posted after they
//! combined it; and when it posts a result of segment `s`, peers have posted slices of `s`, and so have
//! pulled results of `s - 3`: three slots suffice on every line.

use crate::build::{Builder, Seat};
use crate::prices::Prices;
use crate::slices::Slices;
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "node-sliced", admits, cost: Some(cost), plan };

pub(crate) fn slices(shape: &Shape) -> Option<Slices> {
    Slices::cut(shape, 3)
}

fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && slices(shape).is_some()
}

pub(crate) fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let slices = slices(shape).expect("admitted");
    let slice = slices.mean_bytes();
    let results = prices.post(slice) + f64::from(shape.ranks - 1) * prices.pull(slice);
    prices.hop_among_all() + prices.hop() + slices.combine_cost(prices) + slices.segments as f64 * results
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let slices = slices(shape).expect("admitted");
    let mut builder = Builder::segmented(slices.segments);
    builder.splice(combine(&slices, rank), &Seat::SAME, &[]);
    builder.splice(pass_on(shape, &slices, rank), &Seat::SAME, &[]);
    builder.finish()
}

/// The first half: a rank combines its slice, one segment behind the front.
pub(crate) fn combine(slices: &Slices, rank: u32) -> Plan {
    let mut builder = Builder::segmented(slices.segments);
    slices.declare_and_combine(&mut builder, rank, slices.of(Buf::Recv, rank));
    builder.finish()
}

/// The second half: it posts the result one segment behind the front, and pulls those of the others after that.
pub(crate) fn pass_on(shape: &Shape, slices: &Slices, rank: u32) -> Plan {
    let mut builder = Builder::segmented(slices.segments);
    let results = builder.line(slices.slice_bytes, slices.depth);
    builder.delay(1);
    builder.post(results, slices.of(Buf::Recv, rank));
    builder.delay(2);
    for peer in shape.others(rank) {
        builder.pull(peer, results, 0, slices.of(Buf::Recv, peer));
    }
    builder.finish()
}
