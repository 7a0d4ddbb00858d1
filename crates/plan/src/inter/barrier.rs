//! Barrier of both groups.
//!
//! Each group disseminates that all its ranks have come, and then tells the other one. With `n` ranks in the
//! larger group that makes at most `2 + log2 n` rounds of empty messages.
//! MPI-5.0: Collective Communication, Barrier Synchronization.

use super::Groups;
use crate::barrier::dissemination;
use crate::build::Builder;
use crate::peers::spread;
use crate::{Peer, Plan, Span};

/// Nobody's plan is over before all ranks of both groups have begun theirs.
pub fn barrier(groups: &Groups) -> Plan {
    let &Groups { rank, local, remote } = groups;
    let mut builder = Builder::new();
    let heard = dissemination::append(&mut builder, rank, local);
    if rank < remote {
        builder.send(Peer::Remote(rank), Span::EMPTY, heard.as_slice());
    }
    let told = builder.receive(spread::parent(rank, remote), Span::EMPTY, &[]);
    for child in spread::children(rank, remote, local) {
        builder.send(child, Span::EMPTY, &[told]);
    }
    builder.finish()
}
