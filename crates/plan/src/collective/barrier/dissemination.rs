//! Barrier by dissemination: `ceil(log2 p)` rounds of one empty message sent and one received.

use crate::build::Builder;
use crate::peers::{dissemination, ring};
use crate::prices::Prices;
use crate::{Algorithm, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "dissemination", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    prices.doubling(shape.ranks, |distance| prices.shift(distance, 0.0))
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    append(&mut builder, 2, rank, shape.ranks);
    builder.finish()
}

/// Appends all rounds with a radix. When the receives that are returned are complete, all ranks have come.
pub(crate) fn append(builder: &mut Builder, radix: u32, rank: u32, ranks: u32) -> Vec<u32> {
    let mut heard = Vec::new();
    for round in dissemination::distances(radix, ranks) {
        for &distance in &round {
            builder.send(ring::after(rank, distance, ranks), Span::EMPTY, &heard);
        }
        let receive = |distance| builder.receive(ring::before(rank, distance, ranks), Span::EMPTY, &[]);
        heard = round.into_iter().map(receive).collect();
    }
    heard
}
