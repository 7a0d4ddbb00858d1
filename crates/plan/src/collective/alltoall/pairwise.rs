//! Alltoall by messages: in round `k` a rank sends to the one `k` after it and receives from the one `k`
//! before it.
//!
//! A few rounds at a time are under way. In place, the blocks are copied to scratch memory first.

use crate::build::Builder;
use crate::peers::ring::{after, before};
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "pairwise", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let bytes = shape.bytes as f64;
    prices.all_others(shape.ranks, WINDOW as f64, bytes, Cost::NONE) + prices.copy(bytes)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let ranks = shape.ranks;
    let source = if in_place {
        let copy = builder.scratch(shape.total_bytes());
        builder.copy(Span::fixed(Buf::Send, 0, shape.total_bytes()), copy, &[]);
        Buf::Scratch
    } else {
        builder.copy(shape.block(Buf::Send, rank), shape.block(Buf::Recv, rank), &[]);
        Buf::Send
    };
    let mut rounds: Vec<[u32; 2]> = Vec::new();
    for round in 1..ranks {
        let earlier = (rounds.len() >= WINDOW).then(|| rounds[rounds.len() - WINDOW]);
        let waited = earlier.as_ref().map_or(&[][..], |steps| &steps[..]);
        let (to, from) = (after(rank, round, ranks), before(rank, round, ranks));
        let arrived = builder.receive(from, shape.block(Buf::Recv, from), waited);
        let sent = builder.send(to, shape.block(source, to), waited);
        rounds.push([arrived, sent]);
    }
    builder.finish()
}

/// Rounds under way at a time.
const WINDOW: usize = 8;
