//! Barrier by lines: each rank posts on its own and looks at all others.
//!
//! One hop, `p - 1` lines read by each rank: the least latency while those fit a few cache misses.

use crate::build::Builder;
use crate::prices::Prices;
use crate::{Algorithm, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "node-flat", admits: |shape| shape.shares_memory(), cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    prices.post(0.0) + prices.hop_among_all() + f64::from(shape.ranks - 1) * prices.pull(0.0)
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let line = builder.line(0, 1);
    builder.post(line, Span::EMPTY);
    for peer in shape.others(rank) {
        builder.wait(peer, line);
    }
    builder.finish()
}
