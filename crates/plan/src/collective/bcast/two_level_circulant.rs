//! Broadcast over two levels, for long vectors: one rank of each node passes blocks on on a circulant graph, and posts
//! what has come for the others of its node.
//!
//! A node is sent each byte once, and sends about as many, where down a tree of leaders the root's node sends them to
//! as many others as the tree has levels. Segments overlap the levels. Any map will do.

use crate::collective::bcast::{circulant, two_level};
use crate::peers::levels::Levels;
use crate::prices::Prices;
use crate::{Algorithm, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "two-level-circulant", admits: Levels::are_two, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    two_level::cost_by(shape, prices, |segments, places, prices| {
        circulant::part_cost(segments, places, prices, Cost::NONE)
    })
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let between = |segments, place, places| circulant::part(segments, shape.unit, place, places);
    two_level::plan_by(shape, rank, between, circulant::DELAY)
}
