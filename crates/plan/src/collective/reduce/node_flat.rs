//! Reduce by lines: everybody posts, the root combines.
//!
//! One hop; the root passes over `p - 1` vectors. It begins with its own and goes down to rank 0, then up to
//! the last rank, so operands stay in order and no vector is copied first. Others run ahead of the root by as
//! many segments as there are slots.

use crate::build::Builder;
use crate::machine::{HOP_NS, POST_BYTE_NS, POST_NS, PULL_NS, REDUCE_BYTE_NS};
use crate::segment::Stream;
use crate::{Algorithm, Buf, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "node-flat", admits, cost_ns: Some(cost_ns), plan };

fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && Stream::of(shape).fits()
}

pub(crate) fn cost_ns(shape: &Shape) -> f64 {
    let segments = Stream::of(shape).segments;
    let fill = HOP_NS + POST_NS + segments.bytes as f64 * POST_BYTE_NS;
    let operand = segments.count as f64 * PULL_NS + shape.bytes as f64 * REDUCE_BYTE_NS;
    fill + f64::from(shape.ranks - 1) * operand
}

pub(crate) fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let stream = Stream::of(shape);
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
