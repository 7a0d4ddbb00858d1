//! Barrier by dissemination: `ceil(log2 p)` rounds of one empty message sent and one received.

use crate::build::Builder;
use crate::peers::dissemination;
use crate::prices::Prices;
use crate::{Algorithm, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "dissemination", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    prices.doubling(shape.ranks, |distance| prices.shift(distance, 0.0))
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    append(&mut builder, rank, shape.ranks);
    builder.finish()
}

/// Appends all rounds. When the returned receive is complete, all ranks have come.
pub(crate) fn append(builder: &mut Builder, rank: u32, ranks: u32) -> Option<u32> {
    let mut heard = None;
    for (to, from) in dissemination::rounds(rank, ranks) {
        builder.send(to, Span::EMPTY, heard.as_slice());
        heard = Some(builder.receive(from, Span::EMPTY, &[]));
    }
    heard
}
