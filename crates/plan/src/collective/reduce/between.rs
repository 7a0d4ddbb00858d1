//! Reduce: the vectors of the other group combined, at the root, in the order of ranks.
//!
//! Only the root has [`Buf::Recv`], and only the others [`Buf::Send`].
//! MPI-5.0: Collective Communication, Reduce.

use super::binomial;
use crate::build::Builder;
use crate::inter::Groups;
use crate::peers::tree;
use crate::segment::{SLOT_BUDGET_BYTES, Segments, Stream};
use crate::slices::{SliceLines, Slices};
use crate::{Algorithm, Buf, Peer, Plan, Root, Shape, Span, Take};

/// The preferred ones first.
pub(super) const ALGORITHMS: &[&Algorithm] = &[
    &Algorithm {
        name: "node-flat",
        admits: |shape| is_light(shape, shape.far_from_root()) && fits(shape, Stream::of_all(shape).segments),
        cost: None,
        plan: node_flat,
    },
    &Algorithm {
        name: "node-sliced",
        admits: |shape| shape.far_from_root() > 1 && fits(shape, sliced_segments(shape)),
        cost: None,
        plan: node_sliced,
    },
    &Algorithm { name: "binomial", admits: |_| true, cost: None, plan: up_a_tree },
];

/// Whether one rank may as well combine the vectors of `ranks` ranks alone.
pub(in crate::collective) fn is_light(shape: &Shape, ranks: u32) -> bool {
    shape.bytes * u64::from(ranks - 1) <= LIGHT_BYTES
}

/// Whether lines of the most slots that are used here stay within the budget.
pub(in crate::collective) fn fits(shape: &Shape, segments: Segments) -> bool {
    shape.shares_memory() && segments.bytes * u64::from(Stream::DEPTH) <= SLOT_BUDGET_BYTES
}

/// The segments of a vector whose slices are combined by all ranks of a group.
pub(in crate::collective) fn sliced_segments(shape: &Shape) -> Segments {
    Segments::cut(shape.bytes, shape.unit, SLICED_BYTES)
}

/// One hop: the other group posts, the root combines.
fn node_flat(shape: &Shape, _rank: u32, _in_place: bool) -> Plan {
    let stream = Stream::of_all(shape);
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, 1);
    if let Root::Rank(root) = shape.root {
        stream.await_credit(&mut builder, lines, std::iter::once(Peer::Remote(root)));
        builder.post(lines.data, stream.segments.span(Buf::Send, 0));
    } else {
        let result = stream.segments.span(Buf::Recv, 0);
        stream.read(&mut builder, lines, |builder| pull_all(builder, shape, lines.data, result));
    }
    builder.finish()
}

/// `into` = what all ranks of the other group have posted on `line`, in order.
pub(in crate::collective) fn pull_all(builder: &mut Builder, shape: &Shape, line: u8, into: Span) {
    builder.pull(Peer::Remote(0), line, 0, into);
    for peer in 1..shape.remote_ranks {
        builder.pull_reduce(Peer::Remote(peer), line, 0, into, Take::Right { left: into });
    }
}

/// Two hops: each rank of the other group combines its slice for the root, which pulls the results.
///
/// In iteration `i` a rank posts slices of segment `i`, and combines segment `i - 1` and posts the result. When
/// it posts slices of `s` it has combined `s - 2`, which its peers posted after they combined `s - 4`: four
/// slots suffice. For results the root gives credit.
fn node_sliced(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let segments = sliced_segments(shape);
    let stream = Stream::new(segments);
    let slices = Slices::of_segments(segments, shape.unit, shape.far_from_root(), Stream::DEPTH);
    let mut builder = Builder::segmented(segments.count);
    let results = stream.declare(&mut builder, 1);
    let lines = SliceLines::declare(&mut builder, slices.posted_bytes(), slices.depth);
    if let Root::Rank(root) = shape.root {
        let result = slices.scratch(&mut builder, rank);
        stream.await_credit(&mut builder, results, std::iter::once(Peer::Remote(root)));
        slices.combine(&mut builder, lines, rank, result);
        builder.post(results.data, result);
    } else {
        stream.read(&mut builder, results, |builder| {
            for peer in shape.remotes(rank) {
                builder.pull(Peer::Remote(peer), results.data, 0, slices.of(Buf::Recv, peer));
            }
        });
    }
    builder.finish()
}

/// Up a binomial tree of messages to rank 0 of the other group, which sends the result to the root:
/// `1 + ceil(log2 p)` rounds of the whole vector.
fn up_a_tree(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    if let Root::Rank(root) = shape.root {
        if let Some(result) = combine(&mut builder, &shape.groups(rank), shape.bytes) {
            builder.send(Peer::Remote(root), result, &[]);
        }
    } else {
        builder.receive(Peer::Remote(0), Span::fixed(Buf::Recv, 0, shape.bytes), &[]);
    }
    builder.finish()
}

/// Appends a reduction in this group by messages. Where the result is, at its rank 0.
pub(in crate::collective) fn combine(builder: &mut Builder, groups: &Groups, bytes: u64) -> Option<Span> {
    let children = tree::children(groups.rank, 2, groups.local).into_iter();
    let partial = binomial::combine(builder, children, Span::fixed(Buf::Send, 0, bytes), None);
    let Some(parent) = tree::parent(groups.rank, 2) else { return Some(partial) };
    builder.send(parent, partial, &[]);
    None
}

/// Up to as many bytes of others a rank combines alone rather than wait for one hop more.
const LIGHT_BYTES: u64 = 16 << 10;

/// Bytes of a segment that is cut into slices.
const SLICED_BYTES: u64 = 128 << 10;
