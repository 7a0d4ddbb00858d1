//! Reduce over two levels: one rank of each node combines what its ranks have posted, and passes that on by messages.
//!
//! Of each node one vector goes out. Where operands must stay in the order of ranks, a node whose ranks are not
//! consecutive counts as several.

use crate::build::{Builder, Origin, Seat};
use crate::collective::bcast::two_level::{MANY_RANKS, over_levels};
use crate::collective::reduce::{knomial, node_flat, node_tree};
use crate::peers::levels::Levels;
use crate::peers::ring;
use crate::prices::Prices;
use crate::segment::{Segments, Stream};
use crate::{Algorithm, Cost, Nodes, Plan, Root, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "two-level", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    Levels::are_two(shape) && Stream::of(shape).fits()
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(shape);
    let count = levels.count();
    let segments = Stream::of(shape).segments;
    let leaders = prices.of_leaders(count);
    let between = knomial::part_cost(segments, count, &leaders);
    let on_node = |ranks| {
        let node = Shape { ranks, nodes: Nodes::One, ..*shape };
        if ranks > 1 { cost_on_node(&node, &prices.of_node(ranks)) } else { Cost::NONE }
    };
    if segments.count > 1 {
        return over_levels(&levels, between, segments, on_node);
    }
    // Only those that are ready at the same time wait for each other at ports, and who is below has a longer way.
    let here = levels.members(levels.first()).len() as u32;
    let together = (between + on_node(levels.second_largest_other())).beside(on_node(here));
    let message = knomial::message_cost(segments, &leaders);
    let alone = |(depth, ranks)| f64::from(depth) * message + on_node(ranks);
    (1u32..).zip(most_by_depth(shape, &levels, segments)).map(alone).fold(together, Cost::beside)
}

/// The most ranks of a node at each depth of the tree of nodes, without the first node.
fn most_by_depth(shape: &Shape, levels: &Levels, segments: Segments) -> Vec<u32> {
    let count = levels.count();
    let mut most = Vec::new();
    let places = match shape.nodes {
        Nodes::Irregular(_) => 1..count,
        // All are alike, so the deepest one counts: whose number has the most digits that are not zero.
        _ => knomial::deepest(segments, count)..knomial::deepest(segments, count) + 1,
    };
    for place in places {
        let depth = knomial::depth(segments, place) as usize;
        most.resize(most.len().max(depth), 0);
        let ranks = levels.members(ring::after(top(shape, levels), place, count)).len() as u32;
        most[depth - 1] = most[depth - 1].max(ranks);
    }
    most
}

/// The node at the top of the tree.
fn top(shape: &Shape, levels: &Levels) -> u32 {
    if shape.commutative { levels.first() } else { 0 }
}

/// What [`on_node`] costs.
pub(crate) fn cost_on_node(node: &Shape, prices: &Prices<'_>) -> Cost {
    if takes_tree(node) { node_tree::cost(node, prices) } else { node_flat::cost(node, prices) }
}

/// Whether a node has so many ranks that a tree is better.
fn takes_tree(node: &Shape) -> bool {
    node.ranks > MANY_RANKS && node_tree::is_in_order(node)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let levels = Levels::of(shape);
    let stream = Stream::of(shape);
    let segments = stream.segments;
    let root = shape.root.rank();
    let mut builder = Builder::segmented(segments.count);
    let sum = if !levels.leads(rank) || levels.fellows(rank).len() == 1 {
        None
    } else if rank == root {
        Some(Origin::RECV)
    } else {
        Some(Origin::of(builder.scratch(shape.bytes)))
    };
    on_node(&mut builder, &levels, shape, rank, sum.unwrap_or(Origin::RECV));
    if levels.leads(rank) {
        builder.delay(stream.lag());
        let (first, nodes) = (top(shape, &levels), levels.count());
        let tree = knomial::Tree {
            place: ring::before(levels.node(rank), first, nodes),
            places: nodes,
            rank_of: &|place| levels.leader(ring::after(first, place, nodes)),
        };
        knomial::append(&mut builder, segments, &tree, (rank, root, in_place), sum);
    }
    builder.finish()
}

/// Appends: the leader of the node of `rank` combines in `sum` what all have in their send buffers.
pub(crate) fn on_node(builder: &mut Builder, levels: &Levels, shape: &Shape, rank: u32, sum: Origin) {
    let fellows = levels.fellows(rank);
    let ranks = fellows.len() as u32;
    if ranks == 1 {
        return;
    }
    let root = Root::Rank(levels.place_of_leader(rank));
    let node = Shape { root, ranks, nodes: Nodes::One, ..*shape };
    let seat = Seat { rank_of: &|place| fellows.at(place), send: Origin::SEND, recv: sum };
    let plan = if takes_tree(&node) { node_tree::plan } else { node_flat::plan };
    builder.splice(plan(&node, levels.place(rank), false), &seat, &[]);
}
