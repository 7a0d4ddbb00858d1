//! Exscan over two levels, as the scan: what comes before a rank are the nodes before its own one, and the ranks before
//! it on its node.

use super::node_flat;
use crate::build::{Builder, Origin};
use crate::collective::scan::two_level::{Before, admits, between, cost, on_node};
use crate::peers::levels::Levels;
use crate::{Algorithm, Buf, Plan, Shape, Span, Take};

pub(crate) const ALGORITHM: Algorithm = Algorithm { name: "two-level", admits, cost: Some(cost), plan };

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let levels = Levels::of(shape);
    let fellows = levels.fellows(rank).len() as u32;
    let (place, is_alone) = (levels.place(rank), fellows == 1);
    let mut builder = Builder::new();
    let own = Span::fixed(Buf::Send, 0, shape.bytes);
    let result = Span::fixed(Buf::Recv, 0, shape.bytes);
    if !is_alone && place + 1 == fellows {
        // What the node contributes is computed from both, and the result comes last.
        let lower = builder.scratch(shape.bytes);
        let total = builder.scratch(shape.bytes);
        on_node(&mut builder, &levels, shape, rank, node_flat::plan, false, Origin::of(lower));
        builder.reduce(lower, own, total, &[]);
        match between(&mut builder, &levels, shape, rank, total) {
            Before::There { sum, .. } => builder.reduce(sum, lower, result, &[]),
            _ => builder.copy(lower, result, &[]),
        }
        return builder.finish();
    }
    if !is_alone {
        on_node(&mut builder, &levels, shape, rank, node_flat::plan, in_place, Origin::RECV);
    }
    match between(&mut builder, &levels, shape, rank, own) {
        Before::Nothing => {}
        Before::Posted { peer, line } if place == 0 => builder.pull(peer, line, 0, result),
        Before::Posted { peer, line } => {
            builder.pull_reduce(peer, line, 0, result, Take::Left { right: result });
        }
        Before::There { sum, sent } => {
            let after = if in_place { sent } else { Vec::new() };
            builder.copy(sum, result, &after);
        }
    }
    builder.finish()
}
