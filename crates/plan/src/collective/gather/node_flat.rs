//! Gather by lines: everybody posts, the root pulls.
//!
//! One hop; others run ahead of the root by as many segments as there are slots.

use crate::build::Builder;
use crate::machine::{HOP_NS, POST_BYTE_NS, POST_NS, PULL_BYTE_NS, PULL_NS};
use crate::segment::{Segments, Stream, stream_target_bytes};
use crate::{Algorithm, Buf, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "node-flat", admits: |shape| shape.shares_memory(), cost_ns: Some(cost_ns), plan };

fn stream(shape: &Shape) -> Stream {
    Stream::new(Segments::cut(shape.bytes, 1, stream_target_bytes(shape.bytes)))
}

fn cost_ns(shape: &Shape) -> f64 {
    let segments = stream(shape).segments;
    let fill = HOP_NS + POST_NS + segments.bytes as f64 * POST_BYTE_NS;
    let block = segments.count as f64 * PULL_NS + shape.bytes as f64 * PULL_BYTE_NS;
    fill + f64::from(shape.ranks - 1) * block
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let stream = stream(shape);
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, 1);
    let root = shape.root.rank();
    let own = stream.segments.span(Buf::Send, 0);
    if rank == root {
        let block_of = |rank| stream.segments.span(Buf::Recv, shape.block(Buf::Recv, rank).offset);
        stream.read(&mut builder, lines, |builder| {
            if !in_place {
                builder.copy(own, block_of(root), &[]);
            }
            for peer in shape.others(root) {
                builder.pull(peer, lines.data, 0, block_of(peer));
            }
        });
    } else {
        stream.await_credit(&mut builder, lines, std::iter::once(root));
        builder.post(lines.data, own);
    }
    builder.finish()
}
