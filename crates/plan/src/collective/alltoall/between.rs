//! Alltoall: from each rank to each rank of the other group a block of its own.
//!
//! MPI-5.0: Collective Communication, All-to-All Scatter/Gather.

use crate::build::Builder;
use crate::segment::{SINGLE_POST_BYTES, Segments, Stream};
use crate::{Algorithm, Buf, MAX_LINES, Peer, Plan, Shape, Span, pattern};

/// The preferred ones first.
pub(super) const ALGORITHMS: &[&Algorithm] = &[
    &Algorithm {
        name: "node-whole",
        admits: |shape| shape.shares_memory() && whole_bytes(shape) <= whole_limit_bytes(shape),
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

/// Bytes of the longest send buffer.
fn whole_bytes(shape: &Shape) -> u64 {
    let sent = shape.bytes * u64::from(shape.remote_ranks);
    sent.max(shape.received * u64::from(shape.ranks))
}

/// Up to which length a buffer is posted whole: longer ones begin to be read sooner on a line for each block.
fn whole_limit_bytes(shape: &Shape) -> u64 {
    if has_a_line_each(shape) { WHOLE_BYTES } else { SINGLE_POST_BYTES }
}

fn has_a_line_each(shape: &Shape) -> bool {
    shape.most_ranks() as usize <= MAX_LINES
}

fn segments(shape: &Shape) -> Option<Segments> {
    Segments::cut_for_lines(shape.longest(), shape.most_ranks())
}

/// One hop, and one post for any number of ranks: everybody posts his whole buffer, and pulls his block from
/// all ranks of the other group.
fn node_whole(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let line = builder.line(whole_bytes(shape), 1);
    builder.post(line, Span::fixed(Buf::Send, 0, shape.bytes * u64::from(shape.remote_ranks)));
    let skip = shape.received_block(rank).offset;
    for peer in shape.remotes(rank) {
        builder.pull(Peer::Remote(peer), line, skip, shape.received_block(peer));
    }
    builder.finish()
}

/// One hop: everybody posts his block for remote rank `r` on line `r`. Paced as the allgather by lines.
fn node_flat(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let segments = segments(shape).expect("admitted");
    let mut builder = Builder::segmented(segments.count);
    let first = Stream::new(segments).declare_unpaced(&mut builder, shape.most_ranks());
    let line_to = |rank| first + u8::try_from(rank).expect("there are few lines");
    let part = |block: Span| segments.part(block.buf, block.offset, block.bytes);
    for peer in shape.remotes(rank) {
        builder.post(line_to(peer), part(shape.block(Buf::Send, peer)));
    }
    builder.delay(1);
    let own = line_to(rank);
    for peer in shape.remotes(rank) {
        builder.pull(Peer::Remote(peer), own, 0, part(shape.received_block(peer)));
    }
    builder.finish()
}

/// A message for each block.
fn direct(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let blocks = |bytes| vec![bytes; shape.remote_ranks as usize];
    pattern::inter::alltoallv(&shape.groups(rank), &blocks(shape.bytes), &blocks(shape.received))
        .by_messages()
}

/// The most bytes that are posted whole where there are lines enough for posting blocks.
const WHOLE_BYTES: u64 = 64 << 10;
