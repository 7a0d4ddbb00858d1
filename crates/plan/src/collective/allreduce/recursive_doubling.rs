//! Allreduce by recursive doubling: in each round pairs exchange what they have and both combine it.
//!
//! `log2 p` rounds of the whole vector, and two more for the ranks beyond a power of two. Both partners
//! compute the same expression, and blocks of ranks stay in order, so any operation will do.

use crate::build::Builder;
use crate::peers::doubling::{Role, role};
use crate::prices::Prices;
use crate::segment::Segments;
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "recursive-doubling", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    part_cost(Segments::whole(shape.bytes), shape.ranks, prices)
}

/// What [`part`] costs.
pub(crate) fn part_cost(segments: Segments, ranks: u32, prices: &Prices<'_>) -> Cost {
    let bytes = segments.bytes as f64;
    let actors = 1 << ranks.ilog2();
    // Where some are folded, actors are up to two ranks from each other.
    let stride = if actors == ranks { 1 } else { 2 };
    let round = |distance| prices.exchange(distance * stride, bytes) + prices.reduce(bytes);
    let ways = fold_ways(ranks - actors, actors / 2);
    let fold = || ways * prices.fold(ranks - actors, bytes) + prices.reduce(bytes);
    let surplus = if actors == ranks { Cost::NONE } else { fold() };
    segments.rounds() * (prices.doubling(actors, round) + surplus)
}

/// How often the longest path goes from a folded rank to its actor or back, where actors that know of so many places
/// exchange that in the last round. What comes in that has not waited for those that are folded, if others have.
pub(super) fn fold_ways(folded: u32, known: u32) -> f64 {
    if folded <= known { 1.0 } else { 2.0 }
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
