//! Broadcast by lines: the root posts, everybody else pulls.
//!
//! Two copies of each byte, the second by all readers at once, overlapped segment by segment. The root does
//! not wait for readers unless there are more segments than slots.

use crate::build::Builder;
use crate::machine::{HOP_NS, POST_BYTE_NS, POST_NS, PULL_BYTE_NS, PULL_NS};
use crate::segment::Stream;
use crate::{Algorithm, Buf, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "node-flat", admits: |shape| shape.shares_memory(), cost_ns: Some(cost_ns), plan };

pub(crate) fn cost_ns(shape: &Shape) -> f64 {
    let segments = Stream::of(shape).segments;
    let credits = if segments.count > 1 { f64::from(shape.ranks - 1) * PULL_NS } else { 0.0 };
    let fill = HOP_NS + PULL_NS + segments.bytes as f64 * PULL_BYTE_NS;
    fill + segments.count as f64 * (POST_NS + credits) + shape.bytes as f64 * POST_BYTE_NS
}

pub(crate) fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let stream = Stream::of(shape);
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
