//! Allgather: the blocks of each group, in order, at every rank of the other one.
//!
//! MPI-5.0: Collective Communication, Gather-to-all.

use crate::build::Builder;
use crate::segment::{Segments, Stream};
use crate::{Algorithm, Buf, Peer, Plan, Shape, pattern};

/// The preferred ones first.
pub(super) const ALGORITHMS: &[&Algorithm] = &[
    &Algorithm {
        name: "node-flat",
        admits: |shape| shape.shares_memory() && segments(shape).is_some(),
        cost: None,
        plan: node_flat,
    },
    &Algorithm { name: "direct", admits: |_| true, cost: None, plan: direct },
];

/// The slots of all ranks of a group together keep within the budget of one: each remote rank reads them all.
fn segments(shape: &Shape) -> Option<Segments> {
    Segments::cut_for_lines(shape.longest(), shape.most_ranks())
}

/// One hop: everybody posts, and pulls from all ranks of the other group.
///
/// With segments, a rank posts segment `i` and then pulls segment `i - 1`. When it posts segment `s` it has
/// pulled `s - 2` from all, which had pulled `s - 4` before they posted that: four slots suffice. The group
/// with the shorter blocks posts nothing in the end.
fn node_flat(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let segments = segments(shape).expect("admitted");
    let mut builder = Builder::segmented(segments.count);
    let line = Stream::new(segments).declare_unpaced(&mut builder, 1);
    builder.post(line, segments.part(Buf::Send, 0, shape.bytes));
    builder.delay(1);
    for peer in shape.remotes(rank) {
        let block = shape.received_block(peer);
        builder.pull(Peer::Remote(peer), line, 0, segments.part(block.buf, block.offset, block.bytes));
    }
    builder.finish()
}

/// A message from each rank to each rank of the other group.
fn direct(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    pattern::inter::allgatherv(
        &shape.groups(rank),
        shape.bytes,
        &vec![shape.received; shape.remote_ranks as usize],
    )
    .by_messages()
}
