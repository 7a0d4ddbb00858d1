//! Broadcast down a tree of lines: each rank pulls from the one above it, and posts for those below it.
//!
//! `log_k p` hops with `k = 8`, and as many copies more than if all read what the root has posted: for so many ranks
//! that these would wait for each other. Segments overlap the levels.

use crate::build::Builder;
use crate::peers::{ring, tree};
use crate::prices::Prices;
use crate::segment::Stream;
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "node-tree", admits: |shape| shape.shares_memory(), cost: Some(cost), plan };

pub(crate) fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let segments = Stream::of(shape).segments;
    let segment = segments.bytes.min(shape.bytes) as f64;
    let level = prices.post(segment) + prices.hop() + prices.readers(ARITY, segment) + prices.pull(segment);
    let pace = prices.post(segment) + prices.pull(segment);
    f64::from(tree::depth(ARITY, shape.ranks)) * level + (segments.count - 1) as f64 * pace
}

pub(crate) fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let stream = Stream::of(shape);
    let (root, ranks) = (shape.root.rank(), shape.ranks);
    let at = |place| ring::after(root, place, ranks);
    let place = ring::before(rank, root, ranks);
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, 1);
    let buffer = stream.segments.span(Buf::Recv, 0);
    let children = tree::children(place, ARITY, ranks);
    let below = children.iter().map(|&child| at(child));
    match tree::parent(place, ARITY) {
        None => {
            stream.await_credit(&mut builder, lines, below);
            builder.post(lines.data, buffer);
        }
        Some(parent) if children.is_empty() => {
            stream.read(&mut builder, lines, |builder| builder.pull(at(parent), lines.data, 0, buffer));
        }
        Some(parent) => stream.pass_on(&mut builder, lines, below, |builder| {
            builder.pull(at(parent), lines.data, 0, buffer);
            builder.post(lines.data, buffer);
        }),
    }
    builder.finish()
}

/// Ranks that read a line without waiting for each other for long.
const ARITY: u32 = 8;
