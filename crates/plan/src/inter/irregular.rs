//! Blocks between the groups: every block is one message, straight to whom it is for.
//!
//! Serves the regular forms, with blocks of equal lengths, and the v and w forms. As in [`crate::irregular`],
//! ranks agree on the length of each block, blocks of no bytes are not sent, and the buffers are bound to the
//! blocks in the order of the remote ranks. Cost per rank: one message per block, all at the same time.
//! MPI-5.0: Collective Communication, Gather, Scatter, Gather-to-all, All-to-All Scatter/Gather.

use super::Groups;
use crate::build::Builder;
use crate::irregular::Blocks;
use crate::{Buf, Peer, Plan, Root, Shape, Span};

/// Gathers blocks of the other group at the root. The root gives the length of each remote rank's block, a
/// rank of the other group that of its own block alone; of a rank beside the root nothing counts.
pub fn gatherv(groups: &Groups, root: Root, bytes: &[u64]) -> Plan {
    let mut builder = Builder::new();
    match root {
        Root::Here => receive_all(&mut builder, groups, bytes),
        Root::Beside => {}
        Root::Rank(root) => {
            let own = own_block(Buf::Send, bytes);
            if own.bytes != 0 {
                builder.send(Peer::Remote(root), own, &[]);
            }
        }
    }
    builder.finish()
}

/// Scatters blocks from the root to the other group. `bytes` as in [`gatherv`].
pub fn scatterv(groups: &Groups, root: Root, bytes: &[u64]) -> Plan {
    let mut builder = Builder::new();
    match root {
        Root::Here => send_all(&mut builder, groups, bytes),
        Root::Beside => {}
        Root::Rank(root) => {
            let own = own_block(Buf::Recv, bytes);
            if own.bytes != 0 {
                builder.receive(Peer::Remote(root), own, &[]);
            }
        }
    }
    builder.finish()
}

/// Gathers the blocks of each group at every rank of the other one: this rank sends `sent` bytes to each
/// remote rank, and receives from each as many as `received` says.
pub fn allgatherv(groups: &Groups, sent: u64, received: &[u64]) -> Plan {
    let mut builder = Builder::new();
    receive_all(&mut builder, groups, received);
    for to in (0..groups.remote).filter(|_| sent != 0) {
        builder.send(Peer::Remote(to), own_block(Buf::Send, &[sent]), &[]);
    }
    builder.finish()
}

/// Sends a block to each remote rank, and receives one from each.
pub fn alltoallv(groups: &Groups, sent: &[u64], received: &[u64]) -> Plan {
    let mut builder = Builder::new();
    receive_all(&mut builder, groups, received);
    send_all(&mut builder, groups, sent);
    builder.finish()
}

/// The lengths that a rank of a regular gather or scatter gives.
pub(crate) fn lengths(shape: &Shape) -> Vec<u64> {
    let blocks = if shape.root == Root::Here { shape.remote_ranks as usize } else { 1 };
    vec![shape.bytes; blocks]
}

fn send_all(builder: &mut Builder, groups: &Groups, bytes: &[u64]) {
    assert_eq!(bytes.len(), groups.remote as usize, "one length for each remote rank");
    for (to, block) in (Blocks { buf: Buf::Send, bytes }).iter() {
        builder.send(Peer::Remote(to), block, &[]);
    }
}

fn receive_all(builder: &mut Builder, groups: &Groups, bytes: &[u64]) {
    assert_eq!(bytes.len(), groups.remote as usize, "one length for each remote rank");
    for (from, block) in (Blocks { buf: Buf::Recv, bytes }).iter() {
        builder.receive(Peer::Remote(from), block, &[]);
    }
}

fn own_block(buf: Buf, bytes: &[u64]) -> Span {
    let [own] = *bytes else { panic!("{} lengths, and there is one block", bytes.len()) };
    Span::fixed(buf, 0, own)
}
