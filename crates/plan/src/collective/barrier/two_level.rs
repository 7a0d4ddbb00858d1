//! Barrier over two levels: one rank of each node waits for the others of its node, then for those of all nodes by
//! dissemination, and lets its node leave.
//!
//! `log2` of the number of nodes rounds of messages, and two hops.

use super::dissemination;
use crate::build::{Builder, Origin, Seat};
use crate::machine::{HOP_NS, POST_NS, PULL_NS, message_ns, rounds};
use crate::peers::levels::Levels;
use crate::{Algorithm, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "two-level", admits: Levels::are_two, cost_ns: Some(cost_ns), plan };

fn cost_ns(shape: &Shape) -> f64 {
    let levels = Levels::of(shape);
    let on_node = 2.0 * (POST_NS + HOP_NS) + f64::from(levels.largest()) * PULL_NS;
    rounds(levels.count()) * message_ns(0) + on_node
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
    dissemination::append(&mut part, levels.node(rank), levels.count());
    let open = builder.splice(part.finish(), &seat, &[]);
    if others().next().is_some() {
        let heard = builder.receives(&open);
        builder.post_after(leave, Span::EMPTY, &heard);
    }
    builder.finish()
}
