//! Scan over two levels: by lines within each node; the last rank of each has then what its node contributes, learns
//! by messages over doubling distances what comes before, and posts that for the others.
//!
//! `log2` of the number of nodes rounds of messages, and two hops. A node whose ranks are not consecutive counts as
//! several.

use crate::build::{Builder, Origin, Seat};
use crate::collective::exscan;
use crate::collective::scan::{doubling, node_flat};
use crate::peers::levels::Levels;
use crate::prices::Prices;
use crate::segment::SINGLE_POST_BYTES;
use crate::{Algorithm, Buf, Cost, Nodes, Plan, Shape, Span, Take};

pub(crate) const ALGORITHM: Algorithm = Algorithm { name: "two-level", admits, cost: Some(cost), plan };

pub(crate) fn admits(shape: &Shape) -> bool {
    shape.bytes <= SINGLE_POST_BYTES && Levels::are_two(shape)
}

pub(crate) fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(shape);
    let (ranks, nodes) = (levels.largest(), levels.count());
    let (on_node, leaders) = (prices.of_node(ranks), prices.of_ranges(shape.nodes, nodes));
    let far = Shape { ranks: nodes, ..*shape };
    let bytes = shape.bytes as f64;
    let read = on_node.readers(ranks - 1, bytes) + on_node.pull_reduce(bytes);
    let down = on_node.post(bytes) + on_node.hop() + read;
    let within = |ranks| {
        let node = Shape { ranks, nodes: Nodes::One, ..*shape };
        if ranks > 1 { node_flat::cost(&node, &prices.of_node(ranks)) } else { Cost::NONE }
    };
    // Nobody waits for what the last node contributes.
    let before = within(levels.largest_before(nodes - 1)) + doubling::cost(&far, &leaders);
    before.beside(within(ranks)) + down
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let levels = Levels::of(shape);
    let mut builder = Builder::new();
    let own = Span::fixed(Buf::Send, 0, shape.bytes);
    let result = Span::fixed(Buf::Recv, 0, shape.bytes);
    let is_alone = levels.fellows(rank).len() == 1;
    if !is_alone {
        on_node(&mut builder, &levels, shape, rank, node_flat::plan, in_place, Origin::RECV);
    }
    let total = if is_alone { own } else { result };
    match between(&mut builder, &levels, shape, rank, total) {
        Before::Nothing if is_alone && !in_place => builder.copy(own, result, &[]),
        Before::Nothing => {}
        Before::Posted { peer, line } => {
            builder.pull_reduce(peer, line, 0, result, Take::Left { right: result });
        }
        Before::There { sum, sent } => {
            let after = if is_alone && !in_place { Vec::new() } else { sent };
            builder.reduce(sum, total, result, &after);
        }
    }
    builder.finish()
}

/// Appends the part of `rank` in what its node does by lines, with the result in `recv`.
pub(crate) fn on_node(
    builder: &mut Builder,
    levels: &Levels,
    shape: &Shape,
    rank: u32,
    plan: fn(&Shape, u32, bool) -> Plan,
    in_place: bool,
    recv: Origin,
) {
    let fellows = levels.fellows(rank);
    let node = Shape { ranks: fellows.len() as u32, nodes: Nodes::One, ..*shape };
    let seat = Seat { rank_of: &|place| fellows.at(place), send: Origin::SEND, recv };
    builder.splice(plan(&node, levels.place(rank), in_place), &seat, &[]);
}

/// What the nodes before the own one contribute.
pub(crate) enum Before {
    /// This node is the first.
    Nothing,
    /// The last rank of the node posts it.
    Posted { peer: u32, line: u8 },
    /// This is the last rank of the node, and has it here; `sent` carry what the node contributes.
    There { sum: Span, sent: Vec<u32> },
}

/// Appends: the last ranks of all nodes, which have in `total` what their nodes contribute, tell each other.
pub(crate) fn between(
    builder: &mut Builder,
    levels: &Levels,
    shape: &Shape,
    rank: u32,
    total: Span,
) -> Before {
    let (node, nodes) = (levels.node(rank), levels.count());
    let last_of = |node| levels.members(node).next_back().expect("no node is empty");
    let is_alone = levels.fellows(rank).len() == 1;
    // Ranges of one node have the same lines, and the first posts nothing on this one.
    let line = (!is_alone).then(|| builder.line(shape.bytes, 1));
    let peer = last_of(node);
    if rank != peer {
        let posted = line.filter(|_| node > 0).map(|line| Before::Posted { peer, line });
        return posted.unwrap_or(Before::Nothing);
    }
    let sum = if node > 0 { builder.scratch(shape.bytes) } else { Span::EMPTY };
    let seat = Seat { rank_of: &last_of, send: Origin::of(total), recv: Origin::of(sum) };
    let far = Shape { ranks: nodes, ..*shape };
    let open = builder.splice(exscan::doubling::plan(&far, node, false), &seat, &[]);
    if node == 0 {
        return Before::Nothing;
    }
    if let Some(line) = line {
        builder.post(line, sum);
    }
    Before::There { sum, sent: builder.sends(&open, total) }
}
