//! The v and w forms within one group.

use super::{Pattern, in_a_row, only};
use crate::{Buf, Span};

/// Gathers blocks of `bytes` each at `root`. Another rank gives the length of its own block alone.
pub fn gatherv(bytes: &[u64], rank: u32, root: u32, in_place: bool) -> Pattern {
    let mut pattern = Pattern::default();
    if rank == root {
        pattern.receive_all(bytes, rank, in_place);
    } else {
        pattern.send(root, only(Buf::Send, bytes));
    }
    pattern
}

/// Scatters blocks of `bytes` each from `root`. Another rank gives the length of its own block alone.
pub fn scatterv(bytes: &[u64], rank: u32, root: u32, in_place: bool) -> Pattern {
    let mut pattern = Pattern::default();
    if rank != root {
        pattern.receive(root, only(Buf::Recv, bytes));
        return pattern;
    }
    for (to, block) in starting_after(rank, in_a_row(Buf::Send, bytes)) {
        if to != rank {
            pattern.send(to, block);
        } else if !in_place {
            pattern.keep(block, Span::fixed(Buf::Recv, 0, block.bytes));
        }
    }
    pattern
}

/// Gathers blocks of `bytes` each at every rank.
pub fn allgatherv(bytes: &[u64], rank: u32, in_place: bool) -> Pattern {
    let mut pattern = Pattern::default();
    pattern.receive_all(bytes, rank, in_place);
    let own = Span::fixed(Buf::Send, 0, bytes[rank as usize]);
    for (to, _) in starting_after(rank, in_a_row(Buf::Recv, bytes)).filter(|&(to, _)| to != rank) {
        pattern.send(to, own);
    }
    pattern
}

/// Exchanges blocks of `sent` and `received` bytes with each rank. In place, blocks are received where those are
/// that are sent.
pub fn alltoallv(sent: &[u64], received: &[u64], rank: u32, in_place: bool) -> Pattern {
    let mut pattern = Pattern { in_place, ..Pattern::default() };
    let outgoing = in_a_row(Buf::Send, sent).zip(in_a_row(Buf::Recv, received));
    for (peer, (from, into)) in starting_after(rank, outgoing) {
        if peer != rank {
            pattern.send(peer, from);
            pattern.receive(peer, into);
        } else if !in_place {
            pattern.keep(from, into);
        }
    }
    pattern
}

impl Pattern {
    /// Receives the blocks of the others, and copies the own one unless it is there.
    fn receive_all(&mut self, bytes: &[u64], rank: u32, in_place: bool) {
        for (from, block) in starting_after(rank, in_a_row(Buf::Recv, bytes)) {
            if from != rank {
                self.receive(from, block);
            } else if !in_place {
                self.keep(Span::fixed(Buf::Send, 0, block.bytes), block);
            }
        }
    }
}

/// All ranks with what they have, beginning with the successor of `rank`, so that ranks do not all turn to the same
/// peer first.
fn starting_after<T>(rank: u32, of_ranks: impl Iterator<Item = T> + Clone) -> impl Iterator<Item = (u32, T)> {
    let all = (0..).zip(of_ranks);
    let first = rank as usize + 1;
    all.clone().skip(first).chain(all.take(first))
}
