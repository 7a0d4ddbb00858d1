//! Broadcast by lines: the root posts, everybody else pulls.
//!
//! Two copies of each byte, the second by all readers at once, overlapped segment by segment. The root does
//! not wait for readers unless there are more segments than slots.

use crate::build::Builder;
use crate::prices::Prices;
use crate::segment::Stream;
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "node-flat",
    admits: |shape| shape.shares_memory(),
    cost: Some(|shape, prices| part_cost(Stream::of_all(shape), shape, prices)),
    plan: |shape, rank, _| part(Stream::of_all(shape), shape, rank),
};

/// As a part of a plan.
pub(crate) fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    part_cost(Stream::of(shape), shape, prices)
}

pub(crate) fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    part(Stream::of(shape), shape, rank)
}

fn part_cost(stream: Stream, shape: &Shape, prices: &Prices<'_>) -> Cost {
    let segments = stream.segments;
    let readers = shape.ranks - 1;
    let segment = segments.bytes.min(shape.bytes) as f64;
    let credits = if segments.count > 1 { f64::from(readers) * prices.pull(0.0) } else { Cost::NONE };
    let (post, pull) = (prices.post(segment) + credits, prices.pull(segment));
    // What takes longest paces the stream: the root, a reader, or all readers in turn.
    let pace = post.beside(pull).beside(prices.readers(readers + 1, segment));
    let read = prices.readers(readers, segment) + pull;
    post + prices.hop() + read + (segments.rounds() - 1.0) * pace
}

/// The same of a vector that is cut like this.
pub(crate) fn part(stream: Stream, shape: &Shape, rank: u32) -> Plan {
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, 1);
    let root = shape.root.rank();
    let buffer = stream.segments.span(Buf::Recv, 0);
    if rank == root {
        stream.await_credit(&mut builder, lines, shape.others(root));
        builder.post(lines.data, buffer);
    } else {
        stream.read(&mut builder, lines, |builder| builder.pull(root, lines.data, 0, buffer));
    }
    builder.finish()
}
