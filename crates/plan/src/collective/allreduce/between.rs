//! Allreduce: the vectors of each group combined, in the order of ranks, at every rank of the other one.
//!
//! Every rank of a group gets the same bits.
//! MPI-5.0: Collective Communication, All-Reduce.

use crate::build::Builder;
use crate::collective::bcast::between as bcast;
use crate::collective::reduce::between::{combine, fits, is_light, pull_all, sliced_segments};
use crate::segment::{Segments, Stream};
use crate::slices::{SliceLines, Slices};
use crate::{Algorithm, Buf, Peer, Plan, Shape, Span};

/// The preferred ones first.
pub(super) const ALGORITHMS: &[&Algorithm] = &[
    &Algorithm {
        name: "node-flat",
        admits: |shape| is_light(shape, shape.most_ranks()) && fits(shape, whole(shape)),
        cost: None,
        plan: node_flat,
    },
    &Algorithm {
        name: "node-sliced",
        admits: |shape| fits(shape, sliced_segments(shape)),
        cost: None,
        plan: node_sliced,
    },
    &Algorithm { name: "binomial", admits: |_| true, cost: None, plan: tree },
];

fn whole(shape: &Shape) -> Segments {
    Segments::cut(shape.bytes, shape.unit, shape.bytes)
}

/// One hop: everybody posts, and combines all vectors of the other group.
fn node_flat(shape: &Shape, _rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let line = builder.line(shape.bytes, 1);
    builder.post(line, Span::fixed(Buf::Send, 0, shape.bytes));
    pull_all(&mut builder, shape, line, Span::fixed(Buf::Recv, 0, shape.bytes));
    builder.finish()
}

/// Two hops: each rank combines its slice of its group's vectors and posts the result, which the other group
/// pulls. A group of one rank posts its vector at once.
///
/// In iteration `i` a rank posts slices of segment `i`, combines segment `i - 1` and posts the result, and
/// pulls the other group's results of `i - 2`. Slices are paced as in the reduction. When a rank posts a result
/// of `s` it has pulled those of `s - 2` from all, which had pulled `s - 4` before: four slots suffice.
fn node_sliced(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    sliced(shape, rank, Buf::Recv).finish()
}

/// The same, the result coming to the beginning of `into`, which is the receive buffer or scratch memory.
pub(in crate::collective) fn sliced(shape: &Shape, rank: u32, into: Buf) -> Builder {
    let (local, remote) = (shape.ranks, shape.remote_ranks);
    let segments = sliced_segments(shape);
    let [ours, theirs] =
        [local, remote].map(|ranks| Slices::of_segments(segments, shape.unit, ranks, Stream::DEPTH));
    let mut builder = Builder::segmented(segments.count);
    if into == Buf::Scratch {
        builder.scratch(shape.bytes);
    }
    let posted_bytes = ours.posted_bytes().max(theirs.posted_bytes());
    let lines = SliceLines::declare(&mut builder, posted_bytes, ours.depth);
    let results = builder.line(ours.slice_bytes.max(theirs.slice_bytes), ours.depth);
    let result = if local == 1 {
        segments.span(Buf::Send, 0)
    } else {
        let result = ours.scratch(&mut builder, rank);
        ours.combine(&mut builder, lines, rank, result);
        result
    };
    builder.delay(1);
    builder.post(results, result);
    builder.delay(2);
    for peer in shape.remotes(rank) {
        builder.pull(Peer::Remote(peer), results, 0, theirs.of(into, peer));
    }
    builder
}

/// Each group combines up a binomial tree of messages to its rank 0, which broadcasts the result to the other
/// group down another one.
fn tree(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    if let Some(result) = combine(&mut builder, &shape.groups(rank), shape.bytes) {
        bcast::send(&mut builder, &shape.groups(rank), result);
    }
    bcast::receive(&mut builder, &shape.groups(rank), 0, Span::fixed(Buf::Recv, 0, shape.bytes));
    builder.finish()
}
