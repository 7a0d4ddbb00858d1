//! Barrier up and down a tree of lines, for many ranks.
//!
//! `2 log_k p` hops with `k = 8`; a rank reads at most `(k - 1) log_k p + 1` lines.

use crate::build::Builder;
use crate::machine::{HOP_NS, POST_NS, PULL_NS};
use crate::peers::tree;
use crate::{Algorithm, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "node-tree", admits: |shape| shape.shares_memory(), cost_ns: Some(cost_ns), plan };

fn cost_ns(shape: &Shape) -> f64 {
    let up = POST_NS + HOP_NS + f64::from(ARITY - 1) * PULL_NS;
    let down = POST_NS + HOP_NS + PULL_NS;
    f64::from(tree::depth(ARITY, shape.ranks)) * (up + down)
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
