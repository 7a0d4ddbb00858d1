//! Reduce over two levels, for long vectors: the ranks of each node combine slices for one of them, and these leaders
//! combine what their nodes have on a circulant graph.
//!
//! Nobody combines more than about a vector for its node and one between nodes, and a node sends one vector, and
//! receives about one. Segments overlap the levels. Needs a commutative operation, as the circulant graph does; any
//! map will do.

use crate::build::{Builder, Origin, Seat};
use crate::collective::bcast::two_level::over_levels;
use crate::collective::reduce::{circulant, node_sliced};
use crate::peers::levels::Levels;
use crate::peers::ring;
use crate::prices::Prices;
use crate::segment::{Segments, Stream};
use crate::slices::Slices;
use crate::{Algorithm, Cost, Nodes, Plan, Root, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "two-level-sliced", admits, cost: Some(cost), plan };

pub(crate) fn admits(shape: &Shape) -> bool {
    shape.commutative && Levels::are_two(shape) && Stream::of(shape).fits()
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(shape);
    let (ranks, nodes) = (levels.largest(), levels.count());
    let segments = Stream::of(shape).segments;
    let between = circulant::part_cost(segments, nodes, &prices.of_leaders(nodes));
    let inside_of = |ranks| cost_on_node(shape, segments, &prices.of_node(ranks), ranks);
    if segments.count == 1 && levels.largest_other() > 1 {
        return over_levels(&levels, between, segments, inside_of);
    }
    let inside = inside_of(ranks);
    // A rank that is alone on its node has nothing to wait for before it sends, nor has the other leader then.
    let is_one_alone = nodes == 2 && ranks + 1 == shape.ranks;
    if is_one_alone { between.beside(inside) } else { between.overlapping(inside, segments.rounds()) }
}

/// What [`on_node`] costs among so many ranks.
pub(crate) fn cost_on_node(shape: &Shape, segments: Segments, prices: &Prices<'_>, ranks: u32) -> Cost {
    node_sliced::part_cost(&slices(shape, segments, ranks), ranks, prices)
}

/// What the ranks of a node of so many combine.
fn slices(shape: &Shape, segments: Segments, ranks: u32) -> Slices {
    Slices::of_segments(segments, shape.unit, ranks, Stream::DEPTH)
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let levels = Levels::of(shape);
    let segments = Stream::of(shape).segments;
    let mut builder = Builder::segmented(segments.count);
    let is_root = rank == shape.root.rank();
    let sum =
        if levels.leads(rank) && !is_root { Origin::of(builder.scratch(shape.bytes)) } else { Origin::RECV };
    on_node(&mut builder, &levels, shape, segments, rank, sum);
    if levels.leads(rank) {
        let (first, nodes) = (levels.first(), levels.count());
        let rank_of = |place| levels.leader(ring::after(first, place, nodes));
        let send = if levels.fellows(rank).len() == 1 { Origin::SEND } else { sum };
        let place = ring::before(levels.node(rank), first, nodes);
        builder.delay(node_sliced::DELAY);
        let part = circulant::part(segments, shape.unit, place, nodes);
        builder.splice(part, &Seat { rank_of: &rank_of, send, recv: sum }, &[]);
    }
    builder.finish()
}

/// Appends: the ranks of the node of `rank` combine what they have in their send buffers, in `sum` of the leader, who
/// has it [`DELAY`](node_sliced::DELAY) behind the front.
pub(crate) fn on_node(
    builder: &mut Builder,
    levels: &Levels,
    shape: &Shape,
    segments: Segments,
    rank: u32,
    sum: Origin,
) {
    let fellows = levels.fellows(rank);
    let ranks = fellows.len() as u32;
    if ranks == 1 {
        return;
    }
    let root = Root::Rank(levels.place_of_leader(rank));
    let node = Shape { root, ranks, nodes: Nodes::One, ..*shape };
    let seat = Seat { rank_of: &|place| fellows.at(place), send: Origin::SEND, recv: sum };
    let part = node_sliced::part(&slices(shape, segments, ranks), &node, levels.place(rank));
    builder.splice(part, &seat, &[]);
}
