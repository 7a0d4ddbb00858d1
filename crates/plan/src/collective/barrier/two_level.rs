//! Barrier over two levels: one rank of each node waits for the others of its node, then for those of all nodes by
//! dissemination with radix `k`, and lets its node leave.
//!
//! `ceil(log_k n)` rounds of messages among `n` nodes, and two hops.

use super::{dissemination::append, k_dissemination};
use crate::build::{Builder, Origin, Seat};
use crate::peers::dissemination;
use crate::peers::levels::Levels;
use crate::prices::Prices;
use crate::{Algorithm, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "two-level", admits: Levels::are_two, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(shape);
    let (count, largest) = (levels.count(), levels.largest());
    let (leaders, node) = (prices.of_leaders(count), prices.of_node(largest));
    let come = node.post(0.0) + node.hop() + f64::from(largest - 1) * node.pull(0.0);
    let leave = node.post(0.0) + node.hop() + node.readers(largest - 1, 0.0) + node.pull(0.0);
    come + k_dissemination::part_cost(dissemination::radix(count, 1), count, &leaders) + leave
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let levels = Levels::of(shape);
    let mut builder = Builder::new();
    let come = builder.line(0, 1);
    let leave = builder.line(0, 1);
    let leader = levels.leader(levels.node(rank));
    let others = || levels.fellows(rank).filter(|&fellow| fellow != leader);
    if rank != leader {
        builder.post(come, Span::EMPTY);
        builder.wait(leader, leave);
        return builder.finish();
    }
    others().for_each(|fellow| builder.wait(fellow, come));
    let seat = Seat { rank_of: &|node| levels.leader(node), send: Origin::SEND, recv: Origin::RECV };
    let mut part = Builder::new();
    let (node, nodes) = (levels.node(rank), levels.count());
    append(&mut part, dissemination::radix(nodes, 1), node, nodes);
    let open = builder.splice(part.finish(), &seat, &[]);
    if others().next().is_some() {
        let heard = builder.receives(&open);
        builder.post_after(leave, Span::EMPTY, &heard);
    }
    builder.finish()
}
