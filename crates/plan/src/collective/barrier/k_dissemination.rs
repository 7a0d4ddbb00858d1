//! Barrier by dissemination with radix `k`: `ceil(log_k p)` rounds of up to `k - 1` empty messages sent, and as many
//! received.
//!
//! Fewer rounds than with radix 2, and more messages in each: for ranks of several nodes, to whom a message costs its
//! sender a fraction of what it is under way. On one node lines do better.

use super::dissemination::append;
use crate::build::Builder;
use crate::peers::dissemination;
use crate::prices::Prices;
use crate::{Algorithm, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "k-dissemination", admits: |shape| !shape.shares_memory(), cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    part_cost(radix(shape), shape.ranks, prices)
}

/// What [`append`] costs.
pub(super) fn part_cost(radix: u32, ranks: u32, prices: &Prices<'_>) -> Cost {
    dissemination::distances(radix, ranks).map(|round| prices.shifts(&round, &|_| 0.0)).sum()
}

fn radix(shape: &Shape) -> u32 {
    dissemination::radix(shape.ranks, shape.nodes.largest(shape.ranks))
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    append(&mut builder, radix(shape), rank, shape.ranks);
    builder.finish()
}
