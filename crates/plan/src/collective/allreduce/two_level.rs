//! Allreduce over two levels: one rank of each node combines what its ranks have posted, exchanges that with those of
//! the other nodes by recursive doubling, and posts the result.
//!
//! `log2` of the number of nodes rounds of messages, and two hops. Segments overlap the levels. Where operands must
//! stay in the order of ranks, a node whose ranks are not consecutive counts as several.

use crate::build::{Builder, Origin, Seat};
use crate::collective::allreduce::recursive_doubling;
use crate::collective::{bcast, reduce};
use crate::peers::levels::Levels;
use crate::prices::Prices;
use crate::segment::Stream;
use crate::{Algorithm, Cost, Nodes, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "two-level", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    Levels::are_two(shape) && Stream::of(shape).fits()
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(shape);
    let (count, ranks) = (levels.count(), levels.largest());
    let shape_of_node = Shape { ranks, nodes: Nodes::One, ..*shape };
    let node = prices.of_node(ranks);
    let on_node = reduce::two_level::cost_on_node(&shape_of_node, &node)
        + bcast::two_level::cost_on_node(&shape_of_node, &node);
    recursive_doubling::part_cost(Stream::of(shape).segments, count, &prices.of_leaders(count)) + on_node
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let levels = Levels::of(shape);
    let stream = Stream::of(shape);
    let mut builder = Builder::segmented(stream.segments.count);
    reduce::two_level::on_node(&mut builder, &levels, shape, rank, Origin::RECV);
    builder.delay(stream.lag());
    let mut open = Vec::new();
    if levels.leads(rank) {
        let is_single = levels.fellows(rank).len() == 1;
        let send = if is_single { Origin::SEND } else { Origin::RECV };
        let seat = Seat { rank_of: &|node| levels.leader(node), send, recv: Origin::RECV };
        let part = recursive_doubling::part(stream.segments, levels.node(rank), levels.count());
        open = builder.splice(part, &seat, &[]);
    }
    let arrived = builder.receives(&open);
    bcast::two_level::on_node(&mut builder, &levels, shape, rank, &arrived);
    builder.finish()
}
