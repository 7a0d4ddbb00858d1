//! Gather over two levels: one rank of each node collects the blocks of its ranks, and passes them on up a tree of
//! messages.
//!
//! The tree of nodes is binomial where they are many and what each has is short, so that the root is not flooded; and
//! flat where they are few, or what they have is long, so that nothing is sent twice. The root puts what came into the
//! order of ranks.

use crate::build::{Builder, Origin, Seat};
use crate::collective::gather::node_flat;
use crate::peers::levels::Levels;
use crate::peers::{ring, runs, tree};
use crate::prices::Prices;
use crate::segment::Stream;
use crate::{Algorithm, Buf, Cost, Nodes, Plan, Root, Shape, Span};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "two-level", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    Levels::are_two(shape) && Stream::of(shape).segments.count == 1
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(shape);
    let (ranks, nodes) = (levels.largest(), levels.count());
    let node = Shape { ranks, nodes: Nodes::One, ..*shape };
    let tree = tree_cost(shape, &levels, &prices.of_leaders(nodes));
    node_flat::cost(&node, &prices.of_node(ranks)) + tree + prices.copy(shape.total_bytes() as f64)
}

/// What the messages between nodes cost, in either direction.
pub(crate) fn tree_cost(shape: &Shape, levels: &Levels, leaders: &Prices<'_>) -> Cost {
    let (arity, nodes) = (arity(shape, levels), levels.count());
    if arity == nodes {
        let away = shape.ranks - levels.fellows(shape.root.rank()).len() as u32;
        return leaders.fan_in(nodes, shape.bytes as f64 * f64::from(away) / f64::from(nodes - 1));
    }
    let block = shape.total_bytes() as f64 / f64::from(nodes);
    // No path goes over the longest distance and all others, unless distances and nodes end alike.
    leaders.doubling(nodes, |distance| {
        if distance.saturating_mul(2) > nodes {
            leaders.another_received(distance, f64::from(nodes - distance) * block)
        } else {
            leaders.message(distance, f64::from(distance) * block)
        }
    })
}

/// Of the tree of nodes.
pub(crate) fn arity(shape: &Shape, levels: &Levels) -> u32 {
    let of_node = shape.bytes * u64::from(levels.largest());
    if of_node <= SHORT_BYTES && levels.count() > FEW_NODES { 2 } else { levels.count() }
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let levels = Levels::of(shape);
    let row = Row::new(shape, &levels);
    let mut builder = Builder::new();
    let is_root = rank == shape.root.rank();
    let place = row.place(levels.node(rank));
    // The root has all in the order of its row, the others their subtrees.
    let subtree = if levels.leads(rank) { row.subtree(place) } else { 0..0 };
    let collected = builder.scratch(row.bytes(subtree.clone()));
    let part = |places: std::ops::Range<u32>| {
        let skip = row.bytes(subtree.start..places.start);
        Span::fixed(collected.buf, collected.offset + skip, row.bytes(places))
    };
    on_node(&mut builder, &levels, shape, rank, Origin::of(collected));
    if !levels.leads(rank) {
        return builder.finish();
    }
    let children = tree::children(place, row.arity, levels.count());
    let mut arrived = Vec::new();
    for child in children {
        arrived.push(builder.receive(row.leader(child), part(row.subtree(child)), &[]));
    }
    if is_root {
        let ranks = (0..levels.count()).flat_map(|place| levels.members(row.node(place)));
        for run in
            runs::of(ranks).into_iter().filter(|run| !(in_place && run.first == rank && run.count == 1))
        {
            let from = collected.offset + u64::from(run.index) * shape.bytes;
            let bytes = u64::from(run.count) * shape.bytes;
            let into = Span::fixed(Buf::Recv, shape.block(Buf::Recv, run.first).offset, bytes);
            builder.copy(Span::fixed(collected.buf, from, bytes), into, &std::mem::take(&mut arrived));
        }
    } else {
        let parent = tree::parent(place, row.arity).expect("the root's node is the first");
        builder.send(row.leader(parent), collected, &arrived);
    }
    builder.finish()
}

/// Appends: the leader of the node of `rank` collects the blocks of all in `into`.
pub(crate) fn on_node(builder: &mut Builder, levels: &Levels, shape: &Shape, rank: u32, into: Origin) {
    let fellows = levels.fellows(rank);
    let ranks = fellows.len() as u32;
    if ranks == 1 {
        let own = Span::fixed(Buf::Send, 0, shape.bytes);
        return builder.copy(own, into.bytes(shape.bytes), &[]);
    }
    let root = Root::Rank(levels.place_of_leader(rank));
    let node = Shape { root, ranks, nodes: Nodes::One, ..*shape };
    let seat = Seat { rank_of: &|place| fellows.at(place), send: Origin::SEND, recv: into };
    builder.splice(node_flat::plan(&node, levels.place(rank), false), &seat, &[]);
}

/// The nodes in a row that begins with that of the root, and the tree of its places.
pub(crate) struct Row<'a> {
    levels: &'a Levels,
    block: u64,
    pub(crate) arity: u32,
}

impl<'a> Row<'a> {
    pub(crate) fn new(shape: &Shape, levels: &'a Levels) -> Self {
        Self { levels, block: shape.bytes, arity: arity(shape, levels) }
    }

    /// The place of a node.
    pub(crate) fn place(&self, node: u32) -> u32 {
        ring::before(node, self.levels.first(), self.levels.count())
    }

    /// The node at a place.
    pub(crate) fn node(&self, place: u32) -> u32 {
        ring::after(self.levels.first(), place, self.levels.count())
    }

    /// Who leads the node at a place.
    pub(crate) fn leader(&self, place: u32) -> u32 {
        self.levels.leader(self.node(place))
    }

    /// The places below and at one.
    pub(crate) fn subtree(&self, place: u32) -> std::ops::Range<u32> {
        place..tree::subtree_end(place, self.arity, self.levels.count())
    }

    /// Bytes of the blocks of all ranks at these places.
    pub(crate) fn bytes(&self, places: std::ops::Range<u32>) -> u64 {
        let ranks: usize = places.map(|place| self.levels.members(self.node(place)).len()).sum();
        ranks as u64 * self.block
    }
}

/// So many send their messages to the root sooner than they pass them on.
const FEW_NODES: u32 = 32;

/// What a node has is passed on along a tree up to this length.
const SHORT_BYTES: u64 = 8 << 10;
