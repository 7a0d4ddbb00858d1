//! Scatter over two levels: the root sends what is for a node to one of its ranks, down a tree of messages, which
//! posts it for the others.
//!
//! The tree is that of the gather, downwards.

use crate::build::{Builder, Origin, Seat};
use crate::collective::gather::two_level::{Row, tree_cost};
use crate::collective::scatter::node_whole;
use crate::peers::levels::Levels;
use crate::peers::{runs, tree};
use crate::prices::Prices;
use crate::segment::SINGLE_POST_BYTES;
use crate::{Algorithm, Buf, Cost, Nodes, Plan, Root, Shape, Span};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "two-level", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    Levels::are_two(shape) && shape.bytes * u64::from(Levels::of(shape).largest()) <= SINGLE_POST_BYTES
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(shape);
    let (ranks, nodes) = (levels.largest(), levels.count());
    let node = Shape { ranks, nodes: Nodes::One, ..*shape };
    let tree = tree_cost(shape, &levels, &prices.of_leaders(nodes));
    node_whole::cost(&node, &prices.of_node(ranks)) + tree + prices.copy(shape.total_bytes() as f64)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let levels = Levels::of(shape);
    let row = Row::new(shape, &levels);
    let mut builder = Builder::new();
    let is_root = rank == shape.root.rank();
    if !levels.leads(rank) {
        on_node(&mut builder, &levels, shape, (rank, false), Origin::SEND, &[]);
        return builder.finish();
    }
    let place = row.place(levels.node(rank));
    let subtree = row.subtree(place);
    let blocks = builder.scratch(row.bytes(subtree.clone()));
    let part = |places: std::ops::Range<u32>| {
        let skip = row.bytes(subtree.start..places.start);
        Span::fixed(blocks.buf, blocks.offset + skip, row.bytes(places))
    };
    let mut arrived = Vec::new();
    if is_root {
        let ranks = (0..levels.count()).flat_map(|place| levels.members(row.node(place)));
        for run in runs::of(ranks) {
            let into = blocks.offset + u64::from(run.index) * shape.bytes;
            let bytes = u64::from(run.count) * shape.bytes;
            let from = Span::fixed(Buf::Send, shape.block(Buf::Send, run.first).offset, bytes);
            builder.copy(from, Span::fixed(blocks.buf, into, bytes), &[]);
        }
    } else {
        let parent = tree::parent(place, row.arity).expect("the root's node is the first");
        arrived.push(builder.receive(row.leader(parent), blocks, &[]));
    }
    for child in tree::children(place, row.arity, levels.count()).into_iter().rev() {
        builder.send(row.leader(child), part(row.subtree(child)), &std::mem::take(&mut arrived));
    }
    on_node(&mut builder, &levels, shape, (rank, is_root && in_place), Origin::of(blocks), &arrived);
    builder.finish()
}

/// Appends: the leader of the node of `rank` has a block for each in `from`, and each gets his.
pub(crate) fn on_node(
    builder: &mut Builder,
    levels: &Levels,
    shape: &Shape,
    (rank, in_place): (u32, bool),
    from: Origin,
    arrived: &[u32],
) {
    let fellows = levels.fellows(rank);
    let ranks = fellows.len() as u32;
    if ranks == 1 {
        if !in_place {
            builder.copy(from.bytes(shape.bytes), Span::fixed(Buf::Recv, 0, shape.bytes), arrived);
        }
        return;
    }
    let root = Root::Rank(levels.place_of_leader(rank));
    let node = Shape { root, ranks, nodes: Nodes::One, ..*shape };
    let seat = Seat { rank_of: &|place| fellows.at(place), send: from, recv: Origin::RECV };
    builder.splice(node_whole::plan(&node, levels.place(rank), in_place), &seat, arrived);
}
