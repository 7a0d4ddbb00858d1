//! Broadcast over two levels: by messages to one rank of each node, which posts for the others.
//!
//! A node gets each byte once. Segments overlap the levels: while one goes on to the next node, the one before it is
//! posted and pulled.

use crate::build::{Builder, Origin, Seat};
use crate::collective::bcast::{knomial, node_flat, node_tree};
use crate::peers::levels::Levels;
use crate::peers::ring;
use crate::prices::Prices;
use crate::segment::{Segments, Stream};
use crate::{Algorithm, Cost, Nodes, Plan, Root, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "two-level", admits: Levels::are_two, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    cost_by(shape, prices, knomial::part_cost)
}

/// What it costs where leaders bring each other so many segments by `between`.
pub(super) fn cost_by(
    shape: &Shape,
    prices: &Prices<'_>,
    between: impl Fn(Segments, u32, &Prices<'_>) -> Cost,
) -> Cost {
    let levels = Levels::of(shape);
    let count = levels.count();
    let segments = Stream::of(shape).segments;
    let between = between(segments, count, &prices.of_leaders(count));
    over_levels(&levels, between, segments, |ranks| {
        let node = Shape { ranks, nodes: Nodes::One, ..*shape };
        if ranks > 1 { cost_on_node(&node, &prices.of_node(ranks)) } else { Cost::NONE }
    })
}

/// What comes from other nodes, or goes there, overlapped with what `on_node` costs so many ranks; the ranks of the
/// root's node do that meanwhile.
pub(crate) fn over_levels(
    levels: &Levels,
    between: Cost,
    segments: Segments,
    on_node: impl Fn(u32) -> Cost,
) -> Cost {
    let here = levels.members(levels.first()).len() as u32;
    between.overlapping(on_node(levels.largest_other()), segments.rounds()).beside(on_node(here))
}

/// What [`on_node`] costs.
pub(crate) fn cost_on_node(node: &Shape, prices: &Prices<'_>) -> Cost {
    if node.ranks > MANY_RANKS { node_tree::cost(node, prices) } else { node_flat::cost(node, prices) }
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let delay = knomial::part_delay(Stream::of(shape).segments);
    plan_by(shape, rank, knomial::part, delay)
}

/// Leaders bring each other the segments by `between` - at a place of so many, of which the first has the vector -,
/// and post them so far behind the front.
pub(super) fn plan_by(
    shape: &Shape,
    rank: u32,
    between: impl Fn(Segments, u32, u32) -> Plan,
    delay: u32,
) -> Plan {
    let levels = Levels::of(shape);
    let segments = Stream::of(shape).segments;
    let mut builder = Builder::segmented(segments.count);
    let mut arrived = Vec::new();
    if levels.leads(rank) {
        let (first, nodes) = (levels.first(), levels.count());
        let seat = Seat {
            rank_of: &|place| levels.leader(ring::after(first, place, nodes)),
            send: Origin::RECV,
            recv: Origin::RECV,
        };
        let place = ring::before(levels.node(rank), first, nodes);
        let begun = builder.splice(between(segments, place, nodes), &seat, &[]);
        arrived = builder.receives(&begun);
    }
    builder.delay(delay);
    on_node(&mut builder, &levels, shape, rank, &arrived);
    builder.finish()
}

/// Appends: the leader of the node of `rank` posts what it has in its receive buffer, and the others pull it.
pub(crate) fn on_node(builder: &mut Builder, levels: &Levels, shape: &Shape, rank: u32, arrived: &[u32]) {
    let fellows = levels.fellows(rank);
    let root = Root::Rank(levels.place_of_leader(rank));
    let ranks = fellows.len() as u32;
    if ranks == 1 {
        return;
    }
    let node = Shape { root, ranks, nodes: Nodes::One, ..*shape };
    let seat = Seat { rank_of: &|place| fellows.at(place), send: Origin::RECV, recv: Origin::RECV };
    let plan = if ranks > MANY_RANKS { node_tree::plan } else { node_flat::plan };
    builder.splice(plan(&node, levels.place(rank), false), &seat, arrived);
}

/// More ranks of a node than these are reached by a tree of lines.
pub(crate) const MANY_RANKS: u32 = 32;
