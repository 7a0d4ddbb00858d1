//! Broadcast to the remote group, down a binomial tree of messages.
//!
//! The root is the top of the tree, the ranks of the other group are the places below it: with `q` of them,
//! `ceil(log2(q + 1))` rounds of the whole vector.
//! MPI-5.0: Collective Communication, Broadcast.

use super::{Groups, Root};
use crate::bcast::binomial;
use crate::build::Builder;
use crate::{Buf, Peer, Plan, Span};

/// `bytes` bytes of the root to every rank of the other group. There is only one buffer, [`Buf::Recv`].
pub fn bcast(groups: &Groups, root: Root, bytes: u64) -> Plan {
    let mut builder = Builder::new();
    let buffer = Span::fixed(Buf::Recv, 0, bytes);
    match root {
        _ if bytes == 0 => {}
        Root::Here => send(&mut builder, groups, buffer),
        Root::Beside => {}
        Root::Remote(root) => receive(&mut builder, groups, root, buffer),
    }
    builder.finish()
}

/// Appends the root's part.
pub(super) fn send(builder: &mut Builder, groups: &Groups, from: Span) {
    binomial::append(builder, 0, groups.remote + 1, |place| Peer::Remote(place - 1), from);
}

/// Appends the part of a rank of the other group than `root`.
pub(super) fn receive(builder: &mut Builder, groups: &Groups, root: u32, into: Span) {
    let peer_at = |place: u32| place.checked_sub(1).map_or(Peer::Remote(root), Peer::Local);
    binomial::append(builder, groups.rank + 1, groups.local + 1, peer_at, into);
}
