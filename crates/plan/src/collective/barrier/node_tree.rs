//! Barrier up and down a tree of lines, for many ranks.
//!
//! `2 log_k p` hops with `k = 8`; a rank reads at most `(k - 1) log_k p + 1` lines.

use crate::build::Builder;
use crate::peers::tree;
use crate::prices::Prices;
use crate::{Algorithm, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "node-tree", admits: |shape| shape.shares_memory(), cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let up = prices.post(0.0) + prices.hop() + f64::from(ARITY.min(shape.ranks) - 1) * prices.pull(0.0);
    let down = prices.post(0.0) + prices.hop() + prices.pull(0.0);
    let readers = prices.readers(tree::most_children(ARITY, shape.ranks), 0.0);
    f64::from(tree::depth(ARITY, shape.ranks)) * (up + down) + readers
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let come = builder.line(0, 1);
    let leave = builder.line(0, 1);
    let children = tree::children(rank, ARITY, shape.ranks);
    for &child in &children {
        builder.wait(child, come);
    }
    if let Some(parent) = tree::parent(rank, ARITY) {
        builder.post(come, Span::EMPTY);
        builder.wait(parent, leave);
    }
    if !children.is_empty() {
        builder.post(leave, Span::EMPTY);
    }
    builder.finish()
}

const ARITY: u32 = 8;
