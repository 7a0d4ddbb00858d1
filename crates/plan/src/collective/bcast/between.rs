//! Broadcast to the other group. There is only one buffer, [`Buf::Recv`].
//!
//! MPI-5.0: Collective Communication, Broadcast.

use super::binomial;
use crate::build::Builder;
use crate::inter::Groups;
use crate::segment::Stream;
use crate::{Algorithm, Buf, Peer, Plan, Root, Shape, Span};

/// The preferred ones first.
pub(super) const ALGORITHMS: &[&Algorithm] = &[
    &Algorithm { name: "node-flat", admits: |shape| shape.shares_memory(), cost: None, plan: node_flat },
    &Algorithm { name: "binomial", admits: |_| true, cost: None, plan: tree },
];

/// The root posts, all ranks of the other group pull: two copies of each byte, overlapped segment by segment.
fn node_flat(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let stream = Stream::of_all(shape);
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, 1);
    let buffer = stream.segments.span(Buf::Recv, 0);
    if let Root::Rank(root) = shape.root {
        stream.read(&mut builder, lines, |builder| builder.pull(Peer::Remote(root), lines.data, 0, buffer));
    } else {
        stream.await_credit(&mut builder, lines, shape.remotes(rank).map(Peer::Remote));
        builder.post(lines.data, buffer);
    }
    builder.finish()
}

/// A binomial tree of messages: the root is its top, the ranks of the other group are the places below. With
/// `q` of them, `ceil(log2(q + 1))` rounds of the whole vector.
fn tree(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let buffer = Span::fixed(Buf::Recv, 0, shape.bytes);
    if let Root::Rank(root) = shape.root {
        receive(&mut builder, &shape.groups(rank), root, buffer);
    } else {
        send(&mut builder, &shape.groups(rank), buffer);
    }
    builder.finish()
}

/// Appends the root's part in the tree.
pub(in crate::collective) fn send(builder: &mut Builder, groups: &Groups, from: Span) {
    binomial::append(builder, 0, groups.remote + 1, |place| Peer::Remote(place - 1), from);
}

/// Appends the part of a rank of the other group than `root` in the tree.
pub(in crate::collective) fn receive(builder: &mut Builder, groups: &Groups, root: u32, into: Span) {
    let peer_at = |place: u32| place.checked_sub(1).map_or(Peer::Remote(root), Peer::Local);
    binomial::append(builder, groups.rank + 1, groups.local + 1, peer_at, into);
}
