//! Barrier by lines: each rank posts on its own and looks at all others.
//!
//! One hop, `p - 1` lines read by each rank: the least latency while those fit a few cache misses.

use crate::build::Builder;
use crate::machine::{HOP_NS, POST_NS, PULL_NS};
use crate::{Algorithm, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "node-flat", admits: |shape| shape.shares_memory(), cost_ns: Some(cost_ns), plan };

fn cost_ns(shape: &Shape) -> f64 {
    POST_NS + HOP_NS + f64::from(shape.ranks - 1) * PULL_NS
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
