//! Collectives whose blocks have lengths of their own: the v and w forms.
//!
//! What one rank knows of the lengths the others need not know, so nothing here is chosen by shape: every
//! block is one message, straight to whom it is for. Ranks agree on the length of each block, and blocks of
//! no bytes are not sent. Cost per rank: one message per block, all at the same time.
//!
//! The buffers are bound to the blocks in the order of the ranks, one after the other.
//! MPI-5.0: Collective Communication, Gather, Scatter, Gather-to-all, All-to-All Scatter/Gather.

use crate::build::Builder;
use crate::{Buf, Plan, Span};

/// Where the block of each rank lies in a buffer of blocks.
pub(crate) struct Blocks<'a> {
    pub(crate) buf: Buf,
    pub(crate) bytes: &'a [u64],
}

impl Blocks<'_> {
    /// The blocks that are not empty, with their ranks.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Span)> {
        let ends = self.bytes.iter().scan(0, |end, bytes| {
            *end += bytes;
            Some(*end)
        });
        let blocks =
            self.bytes.iter().zip(ends).map(|(&bytes, end)| Span::fixed(self.buf, end - bytes, bytes));
        (0..).zip(blocks).filter(|(_, span)| span.bytes != 0)
    }
}

/// Gathers blocks of `bytes` each at `root`. Another rank gives the length of its own block alone.
pub fn gatherv(bytes: &[u64], rank: u32, root: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    if rank == root {
        receive_blocks(&mut builder, &Blocks { buf: Buf::Recv, bytes }, rank, in_place);
    } else if let [own] = *bytes
        && own != 0
    {
        builder.send(root, Span::fixed(Buf::Send, 0, own), &[]);
    }
    builder.finish()
}

/// Scatters blocks of `bytes` each from `root`. Another rank gives the length of its own block alone.
pub fn scatterv(bytes: &[u64], rank: u32, root: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    if rank == root {
        for (to, block) in (Blocks { buf: Buf::Send, bytes }).iter() {
            if to != rank {
                builder.send(to, block, &[]);
            } else if !in_place {
                builder.copy(block, Span::fixed(Buf::Recv, 0, block.bytes), &[]);
            }
        }
    } else if let [own] = *bytes
        && own != 0
    {
        builder.receive(root, Span::fixed(Buf::Recv, 0, own), &[]);
    }
    builder.finish()
}

/// Gathers blocks of `bytes` each at every rank.
pub fn allgatherv(bytes: &[u64], rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    receive_blocks(&mut builder, &Blocks { buf: Buf::Recv, bytes }, rank, in_place);
    let own = bytes[rank as usize];
    let peers = 0..bytes.len() as u32;
    for to in peers.filter(|&to| to != rank && own != 0) {
        builder.send(to, Span::fixed(Buf::Send, 0, own), &[]);
    }
    builder.finish()
}

/// Exchanges blocks of `sent` and `received` bytes with each rank. In place, what is sent is copied first.
pub fn alltoallv(sent: &[u64], received: &[u64], rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let mut outgoing = Blocks { buf: Buf::Send, bytes: sent };
    if in_place {
        let total = sent.iter().sum();
        let copy = builder.scratch(total);
        builder.copy(Span::fixed(Buf::Send, 0, total), copy, &[]);
        outgoing.buf = Buf::Scratch;
    }
    let incoming = Blocks { buf: Buf::Recv, bytes: received };
    for (from, block) in incoming.iter().filter(|&(from, _)| from != rank) {
        builder.receive(from, block, &[]);
    }
    for (to, block) in outgoing.iter() {
        if to != rank {
            builder.send(to, block, &[]);
        } else if !in_place && let Some((_, into)) = incoming.iter().find(|&(from, _)| from == rank) {
            builder.copy(block, into, &[]);
        }
    }
    builder.finish()
}

/// Receives the blocks of the others, and copies the own one unless it is there.
fn receive_blocks(builder: &mut Builder, blocks: &Blocks<'_>, rank: u32, in_place: bool) {
    for (from, block) in blocks.iter() {
        if from != rank {
            builder.receive(from, block, &[]);
        } else if !in_place {
            builder.copy(Span::fixed(Buf::Send, 0, block.bytes), block, &[]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Action;

    fn messages(plan: &Plan) -> (usize, usize) {
        let count = |is: fn(&Action) -> bool| plan.steps.iter().filter(|step| is(&step.action)).count();
        (count(|a| matches!(a, Action::Send { .. })), count(|a| matches!(a, Action::Receive { .. })))
    }

    #[test]
    fn every_message_that_is_sent_is_received_and_empty_blocks_travel_not_at_all() {
        let sizes = [3u64, 0, 7, 1];
        let all: Vec<_> = (0..4).map(|rank| messages(&allgatherv(&sizes, rank, false))).collect();
        assert_eq!(all, [(3, 2), (0, 3), (3, 2), (3, 2)]);
        let gather = |rank: u32| if rank == 2 { sizes.to_vec() } else { vec![sizes[rank as usize]] };
        let all: Vec<_> = (0..4).map(|rank| messages(&gatherv(&gather(rank), rank, 2, false))).collect();
        assert_eq!(all, [(1, 0), (0, 0), (0, 2), (1, 0)]);
        let all: Vec<_> = (0..4).map(|rank| messages(&scatterv(&gather(rank), rank, 2, true))).collect();
        assert_eq!(all, [(0, 1), (0, 0), (2, 0), (0, 1)]);
    }

    #[test]
    fn an_exchange_in_place_sends_from_a_copy() {
        let plan = alltoallv(&[2, 5, 0], &[2, 5, 0], 0, true);
        assert_eq!(plan.scratch_bytes, 7);
        assert!(
            plan.steps
                .iter()
                .all(|step| !matches!(step.action, Action::Send { from, .. } if from.buf != Buf::Scratch))
        );
        assert_eq!(messages(&plan), (1, 1));
    }
}
