//! Alltoall over two levels: the ranks of a node pool what they have for each rank of another node, and one of them
//! sends it.
//!
//! What a node has for a rank elsewhere is one message. Its ranks share the sending: the rank at place `i` of a node of
//! `q` collects, from what all have posted, what is for the ranks at places `i`, `i + q`, ... of the other nodes. So
//! with `n` nodes a rank sends and receives about `n - 1` messages instead of `p - 1`, and nobody leads.

use crate::build::Builder;
use crate::peers::levels::Levels;
use crate::peers::{ring, runs};
use crate::prices::Prices;
use crate::segment::SLOT_BUDGET_BYTES;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "two-level", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    shape.total_bytes() <= SLOT_BUDGET_BYTES && Levels::are_two(shape)
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(shape);
    let (ranks, nodes) = (levels.largest(), levels.count());
    let (total, block) = (shape.total_bytes() as f64, shape.bytes as f64);
    let pulls = f64::from(shape.ranks - 1) * prices.pull(block);
    let collect = prices.post(total) + prices.hop() + pulls;
    // Each rank of a node sends to one of each other node, all at the same time.
    let pool = f64::from(shape.ranks - ranks) / f64::from(nodes - 1) * block;
    let port = Cost::port(f64::from(ranks) * prices.passage_ns(pool));
    // Those of a smaller node have more to send.
    let fewest = levels.smallest();
    let messages = ((shape.ranks - fewest) / fewest).max(nodes - 1);
    let cores = f64::from(messages - 1 + nodes - 2) * prices.net_overhead();
    collect + prices.exchange(ranks, pool) + cores.beside(f64::from(nodes - 2) * port)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let levels = Levels::of(shape);
    let mut builder = Builder::new();
    let line = builder.line(shape.total_bytes(), 1);
    let fellows = levels.fellows(rank);
    if fellows.len() > 1 {
        builder.post(line, Span::fixed(Buf::Send, 0, shape.total_bytes()));
    }
    let (nodes, node) = (levels.count(), levels.node(rank));
    let far = |distance| ring::after(node, distance, nodes);
    let mut kept = Vec::new();
    for other in (1..nodes).map(far) {
        for receiver in levels.members(other).filter(|&receiver| agent(&levels, node, receiver) == rank) {
            let pool = builder.scratch(shape.bytes * fellows.len() as u64);
            let mut end = pool.offset;
            for fellow in fellows {
                let into = Span::fixed(pool.buf, end, shape.bytes);
                let block = shape.block(Buf::Send, receiver);
                end += shape.bytes;
                if fellow == rank {
                    builder.copy(block, into, &[]);
                } else {
                    builder.pull(fellow, line, block.offset, into);
                }
            }
            builder.send(receiver, pool, &[]);
        }
    }
    if !in_place {
        builder.copy(shape.block(Buf::Send, rank), shape.block(Buf::Recv, rank), &[]);
    }
    for (other, sender) in (1..nodes).map(|distance| {
        let other = ring::before(node, distance, nodes);
        (other, agent(&levels, other, rank))
    }) {
        let senders = levels.members(other);
        let bytes = shape.bytes * senders.len() as u64;
        let whole = runs::of(senders);
        if let [run] = whole[..] {
            let into = Span::fixed(Buf::Recv, shape.block(Buf::Recv, run.first).offset, bytes);
            builder.receive(sender, into, &[]);
        } else {
            let pool = builder.scratch(bytes);
            kept.push((builder.receive(sender, pool, &[]), pool, whole));
        }
    }
    for fellow in fellows.filter(|&fellow| fellow != rank) {
        builder.pull(fellow, line, shape.block(Buf::Send, rank).offset, shape.block(Buf::Recv, fellow));
    }
    for (arrived, pool, whole) in kept {
        for run in whole {
            let from = pool.offset + u64::from(run.index) * shape.bytes;
            let bytes = u64::from(run.count) * shape.bytes;
            let into = Span::fixed(Buf::Recv, shape.block(Buf::Recv, run.first).offset, bytes);
            let after = if run.index == 0 { &[arrived][..] } else { &[] };
            builder.copy(Span::fixed(pool.buf, from, bytes), into, after);
        }
    }
    builder.finish()
}

/// Who sends what a node has for `receiver`.
fn agent(levels: &Levels, node: u32, receiver: u32) -> u32 {
    let members = levels.members(node);
    members.at(levels.place(receiver) % members.len() as u32)
}
