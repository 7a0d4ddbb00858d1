//! Scan by messages over doubling distances: after round `k` a rank has combined the `2^(k+1)` vectors that end
//! with its own.
//!
//! `ceil(log2 p)` rounds, the whole vector in each. What arrives comes from lower ranks than what is there, so
//! any operation will do.

use crate::build::Builder;
use crate::peers::distance;
use crate::prices::{Level, Prices};
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(crate) const ALGORITHM: Algorithm =
    Algorithm { name: "doubling", admits: |_| true, cost: Some(cost), plan };

pub(crate) fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let bytes = shape.bytes as f64;
    let reduce = prices.reduce(bytes);
    let message = |level: Level| prices.upward(level.distance, bytes) + reduce;
    let another = |distance| prices.another_received(distance, bytes) + reduce;
    // What the first rank sends waits for nothing: the longest path is as in a tree.
    prices.tree(2, shape.ranks, &message, &another)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let own = Span::fixed(Buf::Send, 0, shape.bytes);
    let result = Span::fixed(Buf::Recv, 0, shape.bytes);
    if rank == 0 && !in_place {
        builder.copy(own, result, &[]);
    }
    let operand = if rank == 0 { Span::EMPTY } else { builder.scratch(shape.bytes) };
    let mut partial = own;
    for (above, below) in distance::rounds(rank, shape.ranks) {
        let sent = above.map(|above| builder.send(above, partial, &[]));
        if let Some(below) = below {
            let arrived = builder.receive(below, operand, &[]);
            // The partial result is overwritten, unless it still is what the user has given.
            let is_kept = partial == own && !in_place;
            let sent = sent.filter(|_| !is_kept);
            let awaited: Vec<_> = sent.into_iter().chain([arrived]).collect();
            builder.reduce(operand, partial, result, &awaited);
            partial = result;
        }
    }
    builder.finish()
}
