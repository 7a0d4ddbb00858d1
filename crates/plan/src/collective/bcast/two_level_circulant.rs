//! Broadcast over two levels, for long vectors: one rank of each node passes blocks on on a circulant graph, and posts
//! what has come for the others of its node.
//!
//! A node is sent each byte once, and sends about as many, where down a tree of leaders the root's node sends them to
//! as many others as the tree has levels. Segments overlap the levels. Any map will do.

use crate::build::{Builder, Origin, Seat};
use crate::collective::bcast::circulant;
use crate::collective::bcast::two_level::{cost_on_node, on_node, over_levels};
use crate::peers::levels::Levels;
use crate::peers::ring;
use crate::prices::Prices;
use crate::segment::Stream;
use crate::{Algorithm, Cost, Nodes, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "two-level-circulant", admits: Levels::are_two, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(shape);
    let count = levels.count();
    let segments = Stream::of(shape).segments;
    let between = circulant::part_cost(segments, count, &prices.of_leaders(count), Cost::NONE);
    over_levels(&levels, between, segments, |ranks| {
        let node = Shape { ranks, nodes: Nodes::One, ..*shape };
        if ranks > 1 { cost_on_node(&node, &prices.of_node(ranks)) } else { Cost::NONE }
    })
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let levels = Levels::of(shape);
    let segments = Stream::of(shape).segments;
    let mut builder = Builder::segmented(segments.count);
    let mut arrived = Vec::new();
    if levels.leads(rank) {
        let (first, nodes) = (levels.first(), levels.count());
        let rank_of = |place| levels.leader(ring::after(first, place, nodes));
        let seat = Seat { rank_of: &rank_of, send: Origin::RECV, recv: Origin::RECV };
        let place = ring::before(levels.node(rank), first, nodes);
        let begun = builder.splice(circulant::part(segments, shape.unit, place, nodes), &seat, &[]);
        arrived = builder.receives(&begun);
    }
    builder.delay(circulant::DELAY);
    on_node(&mut builder, &levels, shape, rank, &arrived);
    builder.finish()
}
