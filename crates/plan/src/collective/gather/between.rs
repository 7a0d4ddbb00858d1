//! Gather: the blocks of the other group, in order, at the root.
//!
//! MPI-5.0: Collective Communication, Gather.

use crate::build::Builder;
use crate::segment::Stream;
use crate::{Algorithm, Buf, Peer, Plan, Root, Shape, pattern};

/// The preferred ones first.
pub(super) const ALGORITHMS: &[&Algorithm] = &[
    &Algorithm { name: "node-flat", admits: |shape| shape.shares_memory(), cost: None, plan: node_flat },
    &Algorithm { name: "direct", admits: |_| true, cost: None, plan: direct },
];

/// One hop: the other group posts, the root pulls. Others run ahead of it by as many segments as there are
/// slots.
fn node_flat(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let stream = Stream::of_all(shape);
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, 1);
    if let Root::Rank(root) = shape.root {
        stream.await_credit(&mut builder, lines, std::iter::once(Peer::Remote(root)));
        builder.post(lines.data, stream.segments.span(Buf::Send, 0));
    } else {
        let block_of = |rank| stream.segments.span(Buf::Recv, shape.received_block(rank).offset);
        stream.read(&mut builder, lines, |builder| {
            for peer in shape.remotes(rank) {
                builder.pull(Peer::Remote(peer), lines.data, 0, block_of(peer));
            }
        });
    }
    builder.finish()
}

/// A message from each rank of the other group to the root.
fn direct(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    pattern::inter::gatherv(&shape.groups(rank), shape.root, &shape.lengths()).by_messages()
}
