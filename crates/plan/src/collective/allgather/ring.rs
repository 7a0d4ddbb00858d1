//! Allgather around a ring: `p - 1` rounds, each passing on the block that came last.

use crate::build::Builder;
use crate::peers::ring::{after, before};
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "ring", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    f64::from(shape.ranks - 1) * prices.ring_step(shape.bytes as f64) + prices.copy(shape.bytes as f64)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let ranks = shape.ranks;
    let (next, previous) = (after(rank, 1, ranks), before(rank, 1, ranks));
    let own = Span::fixed(Buf::Send, 0, shape.bytes);
    let mut arrived = None;
    for round in 0..ranks - 1 {
        let out = if round == 0 { own } else { shape.block(Buf::Recv, before(rank, round, ranks)) };
        builder.send(next, out, arrived.as_slice());
        let into = shape.block(Buf::Recv, before(rank, round + 1, ranks));
        arrived = Some(builder.receive(previous, into, &[]));
    }
    if !in_place {
        builder.copy(own, shape.block(Buf::Recv, rank), &[]);
    }
    builder.finish()
}
