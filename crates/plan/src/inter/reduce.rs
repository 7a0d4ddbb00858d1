//! Reductions whose result is the other group's: reduce and allreduce.
//!
//! The ranks of a group combine what they have up a binomial tree to their rank 0, in the order of ranks,
//! which suits any operation. It sends the result to the root, or broadcasts it to the whole other group,
//! while that one does the same. Every rank of a group gets the same bits.
//! Cost: `ceil(log2 p)` rounds of the whole vector, and one more, or those of the broadcast.
//! MPI-5.0: Collective Communication, Reduce; All-Reduce.

use super::{Groups, Root, bcast};
use crate::build::Builder;
use crate::peers::tree;
use crate::reduce::binomial;
use crate::{Buf, Peer, Plan, Span};

/// All `bytes` bytes of the group that the root is not in, combined, at the root. Only the root has
/// [`Buf::Recv`], and only the others [`Buf::Send`]. The root's plan reduces nothing.
pub fn reduce(groups: &Groups, root: Root, bytes: u64) -> Plan {
    let mut builder = Builder::new();
    match root {
        _ if bytes == 0 => {}
        Root::Here => {
            builder.receive(Peer::Remote(0), Span::fixed(Buf::Recv, 0, bytes), &[]);
        }
        Root::Beside => {}
        Root::Remote(root) => {
            if let Some(result) = combine(&mut builder, groups, bytes) {
                builder.send(Peer::Remote(root), result, &[]);
            }
        }
    }
    builder.finish()
}

/// All `bytes` bytes of each group, combined, at every rank of the other one.
pub fn allreduce(groups: &Groups, bytes: u64) -> Plan {
    let mut builder = Builder::new();
    if bytes != 0 {
        if let Some(result) = combine(&mut builder, groups, bytes) {
            bcast::send(&mut builder, groups, result);
        }
        bcast::receive(&mut builder, groups, 0, Span::fixed(Buf::Recv, 0, bytes));
    }
    builder.finish()
}

/// Appends a reduction in this group. Where the result is, at its rank 0.
fn combine(builder: &mut Builder, groups: &Groups, bytes: u64) -> Option<Span> {
    let children = tree::children(groups.rank, 2, groups.local).into_iter();
    let partial = binomial::combine(builder, children, Span::fixed(Buf::Send, 0, bytes), None);
    let Some(parent) = tree::parent(groups.rank, 2) else { return Some(partial) };
    builder.send(parent, partial, &[]);
    None
}
