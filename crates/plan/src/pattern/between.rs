//! Blocks between two groups: the v and w forms, and regular ones by messages.
//!
//! Nothing is in place, and no rank has anything for its own group.

use super::{Pattern, in_a_row, only};
use crate::inter::Groups;
use crate::{Buf, Peer, Root, Span};

/// Gathers blocks of the other group at the root. The root gives the length of each remote rank's block, a
/// rank of the other group that of its own block alone; of a rank beside the root nothing counts.
pub fn gatherv(groups: &Groups, root: Root, bytes: &[u64]) -> Pattern {
    let mut pattern = Pattern::default();
    match root {
        Root::Here => pattern.receive_from_remotes(groups, bytes),
        Root::Beside => {}
        Root::Rank(root) => pattern.send(Peer::Remote(root), only(Buf::Send, bytes)),
    }
    pattern
}

/// Scatters blocks from the root to the other group. `bytes` as in [`gatherv`].
pub fn scatterv(groups: &Groups, root: Root, bytes: &[u64]) -> Pattern {
    let mut pattern = Pattern::default();
    match root {
        Root::Here => pattern.send_to_remotes(groups, bytes),
        Root::Beside => {}
        Root::Rank(root) => pattern.receive(Peer::Remote(root), only(Buf::Recv, bytes)),
    }
    pattern
}

/// Gathers the blocks of each group at every rank of the other one: this rank sends `sent` bytes to each
/// remote rank, and receives from each as many as `received` says.
pub fn allgatherv(groups: &Groups, sent: u64, received: &[u64]) -> Pattern {
    let mut pattern = Pattern::default();
    pattern.receive_from_remotes(groups, received);
    for to in 0..groups.remote {
        pattern.send(Peer::Remote(to), Span::fixed(Buf::Send, 0, sent));
    }
    pattern
}

/// Sends a block to each remote rank, and receives one from each.
pub fn alltoallv(groups: &Groups, sent: &[u64], received: &[u64]) -> Pattern {
    let mut pattern = Pattern::default();
    pattern.receive_from_remotes(groups, received);
    pattern.send_to_remotes(groups, sent);
    pattern
}

impl Pattern {
    fn send_to_remotes(&mut self, groups: &Groups, bytes: &[u64]) {
        assert_eq!(bytes.len(), groups.remote as usize, "one length for each remote rank");
        for (to, block) in (0..).zip(in_a_row(Buf::Send, bytes)) {
            self.send(Peer::Remote(to), block);
        }
    }

    fn receive_from_remotes(&mut self, groups: &Groups, bytes: &[u64]) {
        assert_eq!(bytes.len(), groups.remote as usize, "one length for each remote rank");
        for (from, block) in (0..).zip(in_a_row(Buf::Recv, bytes)) {
            self.receive(Peer::Remote(from), block);
        }
    }
}
