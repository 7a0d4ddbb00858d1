//! Blocks of all lengths over two levels.
//!
//! Only where all ranks know all lengths: who leads a node sends what its ranks have, and they would have to tell it
//! how long that is.

use std::mem;

use super::in_a_row;
use crate::build::Builder;
use crate::collective::allgather::bruck;
use crate::collective::allgather::two_level::FEW_PIECES;
use crate::peers::levels::Levels;
use crate::peers::runs::{self, Run};
use crate::peers::{dissemination, ring};
use crate::segment::SINGLE_POST_BYTES;
use crate::{Buf, Collective, Nodes, Plan, Shape, Span};

/// Gathers blocks of `bytes` each at every rank: one rank of each node collects what its ranks have posted, exchanges
/// that with those of the other nodes by Bruck's algorithm, and posts what has come. Nothing where there are no two
/// levels, or the blocks are too long to be posted at once.
///
/// # Panics
/// If there is no such rank.
pub fn allgatherv_over_levels(bytes: &[u64], nodes: Nodes, rank: u32, in_place: bool) -> Option<Plan> {
    let ranks = u32::try_from(bytes.len()).expect("one block for each rank");
    let shape = Shape { nodes, ..Shape::of(Collective::Allgather, ranks, 1) };
    let total: u64 = bytes.iter().sum();
    let is_short = (1..=SINGLE_POST_BYTES).contains(&total);
    (is_short && Levels::are_two(&shape)).then(|| {
        let blocks: Vec<Span> = in_a_row(Buf::Recv, bytes).collect();
        let seat = Seat { levels: &Levels::of(&shape), blocks: &blocks, total, rank, in_place };
        if seat.levels.leads(rank) { seat.lead() } else { seat.follow() }
    })
}

/// A rank on its node.
struct Seat<'a> {
    levels: &'a Levels,
    /// Where the block of each rank goes.
    blocks: &'a [Span],
    total: u64,
    rank: u32,
    in_place: bool,
}

impl Seat<'_> {
    fn lead(&self) -> Plan {
        let Self { levels, rank, .. } = *self;
        let (mut builder, [up, down]) = self.begin();
        let collected = builder.scratch(self.total);
        let fellows = levels.fellows(rank);
        let mut begin = collected.offset;
        for fellow in fellows {
            let block = Span::fixed(collected.buf, begin, self.bytes(fellow));
            begin += block.bytes;
            if fellow == rank {
                builder.copy(Span::fixed(Buf::Send, 0, block.bytes), block, &[]);
            } else if block.bytes > 0 {
                builder.pull(fellow, up, 0, block);
            }
        }
        let (node, nodes) = (levels.node(rank), levels.count());
        let of_node = |node| levels.members(node).map(|rank| self.bytes(rank)).sum();
        let leader = |node| levels.leader(node);
        let radix = dissemination::radix(nodes, 1);
        let mut awaited: Vec<u32> =
            bruck::append(&mut builder, radix, (node, nodes), collected, &of_node, &leader);
        if fellows.len() > 1 {
            builder.post_after(down, collected, &mem::take(&mut awaited)[..]);
        }
        for (skip, into) in self.pieces() {
            let from = Span::fixed(collected.buf, collected.offset + skip, into.bytes);
            builder.copy(from, into, &mem::take(&mut awaited)[..]);
        }
        builder.finish()
    }

    fn follow(&self) -> Plan {
        let (mut builder, [up, down]) = self.begin();
        let leader = self.levels.leader(self.levels.node(self.rank));
        let bytes = self.bytes(self.rank);
        if bytes > 0 {
            builder.post(up, Span::fixed(Buf::Send, 0, bytes));
        }
        let pieces = self.pieces();
        if pieces.len() <= FEW_PIECES as usize {
            pieces.into_iter().for_each(|(skip, into)| builder.pull(leader, down, skip, into));
            return builder.finish();
        }
        let all = builder.scratch(self.total);
        builder.pull(leader, down, 0, all);
        for (skip, into) in pieces {
            builder.copy(Span::fixed(all.buf, all.offset + skip, into.bytes), into, &[]);
        }
        builder.finish()
    }

    /// A plan with a line for the block of each rank, and one for all of them.
    fn begin(&self) -> (Builder, [u8; 2]) {
        let mut builder = Builder::new();
        let longest = self.levels.fellows(self.rank).map(|fellow| self.bytes(fellow)).max();
        let lines = [longest.expect("this rank is one"), self.total].map(|bytes| builder.line(bytes, 1));
        (builder, lines)
    }

    fn bytes(&self, rank: u32) -> u64 {
        self.blocks[rank as usize].bytes
    }

    /// What this rank takes of all blocks, which its leader has by nodes, its own first: where it begins there, and
    /// where it goes.
    fn pieces(&self) -> Vec<(u64, Span)> {
        let (node, nodes) = (self.levels.node(self.rank), self.levels.count());
        let row = (0..nodes).flat_map(|distance| self.levels.members(ring::after(node, distance, nodes)));
        let mut skip = 0;
        let mut pieces = Vec::new();
        for Run { first, count, .. } in runs::of(row) {
            let blocks = &self.blocks[first as usize..][..count as usize];
            let bytes = blocks.iter().map(|block| block.bytes).sum();
            let is_there = self.in_place && first == self.rank && count == 1;
            if bytes > 0 && !is_there {
                pieces.push((skip, Span::fixed(Buf::Recv, blocks[0].offset, bytes)));
            }
            skip += bytes;
        }
        pieces
    }
}
