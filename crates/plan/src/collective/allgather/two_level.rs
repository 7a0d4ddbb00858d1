//! Allgather over two levels: one rank of each node collects the blocks of its ranks, exchanges them with those of the
//! other nodes by Bruck's algorithm, and posts what has come.
//!
//! `ceil(log_k n)` rounds of messages among `n` nodes, and two hops. Blocks of a node travel together, those of the own
//! node first; each rank puts them into order as it pulls them, or, where nodes are scattered, after it has pulled all.

use crate::build::{Builder, Origin};
use crate::collective::{allgather::bruck, gather};
use crate::peers::levels::Levels;
use crate::peers::{dissemination, ring, runs};
use crate::prices::Prices;
use crate::segment::{SINGLE_POST_BYTES, Stream};
use crate::{Algorithm, Buf, Cost, Nodes, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "two-level", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    let is_short = Stream::of(shape).segments.count == 1 && shape.total_bytes() <= SINGLE_POST_BYTES;
    is_short && Levels::are_two(shape)
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(shape);
    let (ranks, nodes) = (levels.largest(), levels.count());
    let (on_node, leaders) = (prices.of_node(ranks), prices.of_leaders(nodes));
    let node = Shape { ranks, nodes: Nodes::One, ..*shape };
    let total = shape.total_bytes() as f64;
    let read = on_node.readers(ranks - 1, total) + on_node.pull(total);
    let order = match shape.nodes {
        Nodes::Irregular(_) => on_node.copy(total),
        _ => f64::from(FEW_PIECES - 1) * on_node.pull(0.0),
    };
    let down = on_node.post(total) + on_node.hop() + read + order;
    // In each round somebody waits for who has the most to send.
    let most = |places| most_ranks(&levels, places) * shape.bytes;
    let between = bruck::part_cost(dissemination::radix(nodes, 1), (nodes, 1), most, &leaders);
    gather::node_flat::cost(&node, &on_node) + between + down
}

/// The most ranks of so many nodes that follow each other, the first one after the last one.
fn most_ranks(levels: &Levels, places: u32) -> u64 {
    let nodes = levels.count();
    let ranks = |node| levels.members(node % nodes).len() as u64;
    let first: u64 = (0..places).map(ranks).sum();
    let sums = (0..nodes).scan(first, |sum, node| {
        *sum = *sum + ranks(node + places) - ranks(node);
        Some(*sum)
    });
    sums.max().unwrap_or(first)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let levels = Levels::of(shape);
    let mut builder = Builder::new();
    let nodes = levels.count();
    let node = levels.node(rank);
    let collected = if levels.leads(rank) { builder.scratch(shape.total_bytes()) } else { Span::EMPTY };
    gather::two_level::on_node(&mut builder, &levels, shape, rank, Origin::of(collected));
    let line = builder.line(shape.total_bytes(), 1);
    if levels.leads(rank) {
        let bytes = |node: u32| levels.members(node).len() as u64 * shape.bytes;
        let (radix, leader) = (dissemination::radix(nodes, 1), |node| levels.leader(node));
        let arrived = bruck::append(&mut builder, radix, (node, nodes), collected, &bytes, &leader);
        if levels.fellows(rank).len() > 1 {
            builder.post_after(line, collected, &arrived);
        }
        for (index, (from, into)) in pieces(shape, &levels, rank, in_place).into_iter().enumerate() {
            let from = Span::fixed(collected.buf, collected.offset + from, into.bytes);
            let is_first = index == 0 && levels.fellows(rank).len() == 1;
            builder.copy(from, into, if is_first { &arrived } else { &[] });
        }
    } else {
        let (leader, pieces) = (levels.leader(node), pieces(shape, &levels, rank, in_place));
        let are_few = pieces.len() <= FEW_PIECES as usize;
        let all = if are_few { Span::EMPTY } else { builder.scratch(shape.total_bytes()) };
        if !are_few {
            builder.pull(leader, line, 0, all);
        }
        for (skip, into) in pieces {
            if are_few {
                builder.pull(leader, line, skip, into);
            } else {
                builder.copy(Span::fixed(all.buf, all.offset + skip, into.bytes), into, &[]);
            }
        }
    }
    builder.finish()
}

/// What a rank takes of all blocks in the order in which its leader has them: where it begins there, and where it goes.
fn pieces(shape: &Shape, levels: &Levels, rank: u32, in_place: bool) -> Vec<(u64, Span)> {
    let (node, nodes) = (levels.node(rank), levels.count());
    let ranks = (0..nodes).flat_map(|distance| levels.members(ring::after(node, distance, nodes)));
    let is_own = |run: &runs::Run| in_place && run.first == rank && run.count == 1;
    let piece = |run: runs::Run| {
        let into = shape.block(Buf::Recv, run.first).offset;
        (u64::from(run.index) * shape.bytes, Span::fixed(Buf::Recv, into, u64::from(run.count) * shape.bytes))
    };
    runs::of(ranks).into_iter().filter(|run| !is_own(run)).map(piece).collect()
}

/// Up to so many pieces are pulled one by one: as many as there are where nodes are ranges of ranks.
pub(crate) const FEW_PIECES: u32 = 2;
