//! Scatter by lines: the root posts each block on a line of its own, everybody else pulls his.
//!
//! Blocks are cut into segments, so that the root's posts and the others' pulls overlap. The root does not
//! wait for readers unless there are more segments than slots. For as many ranks as there are lines, one
//! being for credit.

use crate::build::Builder;
use crate::machine::{HOP_NS, POST_BYTE_NS, POST_NS, PULL_BYTE_NS, PULL_NS};
use crate::peers::ring;
use crate::segment::{Segments, Stream};
use crate::{Algorithm, Buf, MAX_LINES, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "node-flat", admits, cost_ns: Some(cost_ns), plan };

fn segments(shape: &Shape) -> Option<Segments> {
    Segments::cut_for_lines(shape.bytes, shape.ranks.max(2) - 1)
}

fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && shape.ranks as usize <= MAX_LINES && segments(shape).is_some()
}

fn cost_ns(shape: &Shape) -> f64 {
    let segments = segments(shape).expect("admitted");
    let credit = if segments.count > 1 { PULL_NS } else { 0.0 };
    let block = segments.count as f64 * (POST_NS + credit) + shape.bytes as f64 * POST_BYTE_NS;
    let drain = HOP_NS + PULL_NS + segments.bytes as f64 * PULL_BYTE_NS;
    f64::from(shape.ranks - 1) * block + drain
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let stream = Stream::new(segments(shape).expect("admitted"));
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, shape.ranks - 1);
    let root = shape.root.rank();
    let line_to = |rank| {
        let distance = u8::try_from(ring::before(rank, root, shape.ranks)).expect("there are few lines");
        lines.data + distance - 1
    };
    let own = stream.segments.span(Buf::Recv, 0);
    if rank == root {
        let block_of = |rank| stream.segments.span(Buf::Send, shape.block(Buf::Send, rank).offset);
        stream.await_credit(&mut builder, lines, shape.others(root));
        for peer in shape.others(root) {
            builder.post(line_to(peer), block_of(peer));
        }
        if !in_place {
            builder.copy(block_of(root), own, &[]);
        }
    } else {
        stream.read(&mut builder, lines, |builder| builder.pull(root, line_to(rank), 0, own));
    }
    builder.finish()
}
