//! Barrier of both groups: nobody leaves before all ranks of the other group have come.
//!
//! MPI-5.0: Collective Communication, Barrier Synchronization.

use super::dissemination;
use crate::build::Builder;
use crate::peers::spread;
use crate::{Algorithm, Peer, Plan, Shape, Span};

/// The preferred ones first.
pub(super) const ALGORITHMS: &[&Algorithm] = &[
    &Algorithm { name: "node-flat", admits: |shape| shape.shares_memory(), cost: None, plan: node_flat },
    &Algorithm { name: "dissemination", admits: |_| true, cost: None, plan: disseminated },
];

/// One hop: everybody posts, and looks at all ranks of the other group.
fn node_flat(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let line = builder.line(0, 1);
    builder.post(line, Span::EMPTY);
    for peer in shape.remotes(rank) {
        builder.wait(Peer::Remote(peer), line);
    }
    builder.finish()
}

/// Each group disseminates that all its ranks have come, and then tells the other one: with `n` ranks in the
/// larger group, at most `2 + log2 n` rounds of empty messages. Everybody learns of his own group too.
fn disseminated(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let (local, remote) = (shape.ranks, shape.remote_ranks);
    let mut builder = Builder::new();
    let heard = dissemination::append(&mut builder, 2, rank, local);
    if rank < remote {
        builder.send(Peer::Remote(rank), Span::EMPTY, &heard);
    }
    let told = builder.receive(spread::parent(rank, remote), Span::EMPTY, &[]);
    for child in spread::children(rank, remote, local) {
        builder.send(child, Span::EMPTY, &[told]);
    }
    builder.finish()
}
