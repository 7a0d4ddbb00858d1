//! Allreduce up and down a tree of lines, for many ranks and short vectors.
//!
//! `2 log_k p` hops with `k = 8`; a rank passes over at most `(k - 1) log_k p` vectors. Subtrees are ranges
//! of ranks, so operands stay in order; only rank 0 computes the result.

use crate::build::Builder;
use crate::peers::tree;
use crate::prices::Prices;
use crate::segment::SINGLE_POST_BYTES;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span, Take};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "node-tree", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && shape.bytes <= SINGLE_POST_BYTES
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let bytes = shape.bytes as f64;
    let parents = prices.of_workers(shape.ranks / ARITY);
    let up = prices.post(bytes)
        + prices.hop()
        + f64::from(ARITY.min(shape.ranks) - 1) * parents.pull_reduce(bytes);
    let readers = prices.readers(tree::most_children(ARITY, shape.ranks), bytes);
    let down = parents.post(bytes) + prices.hop() + prices.pull(bytes);
    f64::from(tree::depth(ARITY, shape.ranks)) * (up + down) + readers
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let partials = builder.line(shape.bytes, 1);
    let results = builder.line(shape.bytes, 1);
    let mut partial = Span::fixed(Buf::Send, 0, shape.bytes);
    let result = Span::fixed(Buf::Recv, 0, shape.bytes);
    let children = tree::children(rank, ARITY, shape.ranks);
    for &child in &children {
        builder.pull_reduce(child, partials, 0, result, Take::Right { left: partial });
        partial = result;
    }
    if let Some(parent) = tree::parent(rank, ARITY) {
        builder.post(partials, partial);
        builder.pull(parent, results, 0, result);
    }
    if !children.is_empty() {
        builder.post(results, result);
    }
    builder.finish()
}

const ARITY: u32 = 8;
