//! Reduce by lines: everybody posts, the root combines.
//!
//! One hop; the root passes over `p - 1` vectors. It begins with its own and goes down to rank 0, then up to
//! the last rank, so operands stay in order and no vector is copied first. Others run ahead of the root by as
//! many segments as there are slots.

use crate::build::Builder;
use crate::prices::Prices;
use crate::segment::Stream;
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "node-flat",
    admits: |shape| shape.shares_memory() && Stream::of_all(shape).fits(),
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
    let segment = segments.bytes.min(shape.bytes) as f64;
    let operands = segments.rounds() * f64::from(shape.ranks - 1) * prices.of_workers(1).pull_reduce(segment);
    prices.post(segment) + prices.hop() + operands
}

fn part(stream: Stream, shape: &Shape, rank: u32) -> Plan {
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, 1);
    let root = shape.root.rank();
    let own = stream.segments.span(Buf::Send, 0);
    if rank == root {
        let result = stream.segments.span(Buf::Recv, 0);
        stream.read(&mut builder, lines, |builder| {
            builder.pull_outward(root, shape.ranks, own, result, |_| (lines.data, 0));
        });
    } else {
        stream.await_credit(&mut builder, lines, std::iter::once(root));
        builder.post(lines.data, own);
    }
    builder.finish()
}
