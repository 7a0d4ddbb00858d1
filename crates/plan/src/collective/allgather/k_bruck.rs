//! Allgather by Bruck's algorithm with radix `k`: in round `i` a rank passes on the `k^i` blocks that it has to those
//! `j k^i` below it, `0 < j < k`, and gets as many from those as far above it.
//!
//! `ceil(log_k p)` rounds of up to `k - 1` messages, for any number of ranks. No block comes twice to a rank, whatever
//! the radix, so fewer rounds cost nothing but more messages: for ranks of several nodes. On one node lines do better.

use super::bruck::{blocks_of, part_cost, plan_by};
use crate::peers::dissemination;
use crate::prices::Prices;
use crate::{Algorithm, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "k-bruck", admits: |shape| !shape.shares_memory(), cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    part_cost(radix(shape), (shape.ranks, 1), |places| blocks_of(shape, places), prices)
        + prices.copy(shape.total_bytes() as f64)
}

fn radix(shape: &Shape) -> u32 {
    dissemination::radix(shape.ranks, shape.nodes.largest(shape.ranks))
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    plan_by(radix(shape), shape, rank, in_place)
}
