//! Allreduce up and down a tree of lines, for many ranks and short vectors.
//!
//! `2 log_k p` hops with `k = 8`; a rank passes over at most `(k - 1) log_k p` vectors. Subtrees are ranges
//! of ranks, so operands stay in order; only rank 0 computes the result.

use crate::build::Builder;
use crate::machine::{HOP_NS, POST_BYTE_NS, POST_NS, PULL_BYTE_NS, PULL_NS, REDUCE_BYTE_NS};
use crate::peers::tree;
use crate::segment::SINGLE_POST_BYTES;
use crate::{Algorithm, Buf, Plan, Shape, Span, Take};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "node-tree", admits, cost_ns: Some(cost_ns), plan };

fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && shape.bytes <= SINGLE_POST_BYTES
}

fn cost_ns(shape: &Shape) -> f64 {
    let bytes = shape.bytes as f64;
    let post = POST_NS + bytes * POST_BYTE_NS;
    let up = post + HOP_NS + f64::from(ARITY - 1) * (PULL_NS + bytes * REDUCE_BYTE_NS);
    let down = post + HOP_NS + PULL_NS + bytes * PULL_BYTE_NS;
    f64::from(tree::depth(ARITY, shape.ranks)) * (up + down)
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
