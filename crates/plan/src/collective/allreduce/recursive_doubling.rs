//! Allreduce by recursive doubling: in each round pairs exchange what they have and both combine it.
//!
//! `log2 p` rounds of the whole vector, and two more for the ranks beyond a power of two. Both partners
//! compute the same expression, and blocks of ranks stay in order, so any operation will do.

use crate::build::Builder;
use crate::machine::{REDUCE_BYTE_NS, message_ns};
use crate::peers::doubling::{Role, role};
use crate::segment::Segments;
use crate::{Algorithm, Buf, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "recursive-doubling", admits: |_| true, cost_ns: Some(cost_ns), plan };

fn cost_ns(shape: &Shape) -> f64 {
    part_ns(Segments::whole(shape.bytes), shape.ranks)
}

/// What [`part`] costs.
pub(crate) fn part_ns(segments: Segments, ranks: u32) -> f64 {
    let surplus_rounds = if ranks.is_power_of_two() { 0.0 } else { 2.0 };
    let rounds = f64::from(ranks.ilog2()) + surplus_rounds;
    let round = message_ns(segments.bytes) + segments.bytes as f64 * REDUCE_BYTE_NS;
    segments.count as f64 * rounds * round
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    part(Segments::whole(shape.bytes), rank, shape.ranks)
}

/// The same of a vector that is cut into segments.
pub(crate) fn part(segments: Segments, rank: u32, ranks: u32) -> Plan {
    let mut builder = Builder::segmented(segments.count);
    let own = segments.span(Buf::Send, 0);
    let result = segments.span(Buf::Recv, 0);
    match role(rank, ranks) {
        Role::Folded { actor } => {
            let sent = builder.send(actor, own, &[]);
            builder.receive(actor, result, &[sent]);
        }
        Role::Actor { folded, peers } => {
            let operand = segments.operand(&mut builder);
            let mut partial = own;
            if let Some(folded) = folded {
                let arrived = builder.receive(folded, operand, &[]);
                builder.reduce(operand, partial, result, &[arrived]);
                partial = result;
            }
            for peer in peers {
                let sent = builder.send(peer, partial, &[]);
                let arrived = builder.receive(peer, operand, &[]);
                let (left, right) = if peer < rank { (operand, partial) } else { (partial, operand) };
                builder.reduce(left, right, result, &[sent, arrived]);
                partial = result;
            }
            if let Some(folded) = folded {
                builder.send(folded, result, &[]);
            }
        }
    }
    builder.finish()
}
