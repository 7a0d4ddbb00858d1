//! Scatter: to each rank of the other group its block of the root's buffer.
//!
//! MPI-5.0: Collective Communication, Scatter.

use crate::build::Builder;
use crate::segment::{SINGLE_POST_BYTES, Segments, Stream};
use crate::{Algorithm, Buf, MAX_LINES, Peer, Plan, Root, Shape, Span, pattern};

/// The preferred ones first.
pub(super) const ALGORITHMS: &[&Algorithm] = &[
    &Algorithm {
        name: "node-whole",
        admits: |shape| {
            let is_short = whole_bytes(shape) <= whole_limit_bytes(shape);
            shape.shares_memory() && shape.far_from_root() > 1 && is_short
        },
        cost: None,
        plan: node_whole,
    },
    &Algorithm {
        name: "node-flat",
        admits: |shape| shape.shares_memory() && has_a_line_each(shape) && segments(shape).is_some(),
        cost: None,
        plan: node_flat,
    },
    &Algorithm { name: "direct", admits: |_| true, cost: None, plan: direct },
];

fn whole_bytes(shape: &Shape) -> u64 {
    shape.bytes * u64::from(shape.far_from_root())
}

/// Up to which length the buffer is posted whole: longer ones begin to be read sooner on a line for each block.
fn whole_limit_bytes(shape: &Shape) -> u64 {
    if has_a_line_each(shape) { WHOLE_BYTES } else { SINGLE_POST_BYTES }
}

/// One line is for credit.
fn has_a_line_each(shape: &Shape) -> bool {
    (shape.far_from_root() as usize) < MAX_LINES
}

fn segments(shape: &Shape) -> Option<Segments> {
    match shape.far_from_root() {
        1 => Some(Stream::of_all(shape).segments),
        lines => Segments::cut_for_lines(shape.bytes, lines),
    }
}

/// One hop and one post: everybody pulls his block of the root's whole buffer.
fn node_whole(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let whole = whole_bytes(shape);
    let line = builder.line(whole, 1);
    if let Root::Rank(root) = shape.root {
        let skip = shape.block(Buf::Send, rank).offset;
        builder.pull(Peer::Remote(root), line, skip, Span::fixed(Buf::Recv, 0, shape.bytes));
    } else {
        builder.post(line, Span::fixed(Buf::Send, 0, whole));
    }
    builder.finish()
}

/// The root posts each block on a line of its own, in segments, so that its posts and the others' pulls overlap.
fn node_flat(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let stream = Stream::new(segments(shape).expect("admitted"));
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, shape.far_from_root());
    let line_to = |rank| lines.data + u8::try_from(rank).expect("there are few lines");
    if let Root::Rank(root) = shape.root {
        let (line, own) = (line_to(rank), stream.segments.span(Buf::Recv, 0));
        stream.read(&mut builder, lines, |builder| builder.pull(Peer::Remote(root), line, 0, own));
    } else {
        stream.await_credit(&mut builder, lines, shape.remotes(rank).map(Peer::Remote));
        for peer in shape.remotes(rank) {
            builder.post(line_to(peer), stream.segments.span(Buf::Send, shape.block(Buf::Send, peer).offset));
        }
    }
    builder.finish()
}

/// A message from the root to each rank of the other group.
fn direct(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    pattern::inter::scatterv(&shape.groups(rank), shape.root, &shape.lengths()).by_messages()
}

/// The most bytes that are posted whole where there are lines enough for posting blocks.
const WHOLE_BYTES: u64 = 64 << 10;
