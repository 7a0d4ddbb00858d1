//! Allgather around a ring: `p - 1` rounds, each passing on the block that came last.
//!
//! The ring passes through all ranks of a node before the next one, whatever their map, so that each block comes to
//! each node once.

use crate::build::Builder;
use crate::peers::node_ring::NodeRing;
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "ring", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    f64::from(shape.ranks - 1) * prices.along_nodes().ring_step(shape.bytes as f64)
        + prices.copy(shape.bytes as f64)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let ranks = shape.ranks;
    let ring = NodeRing::new(shape.nodes, rank, ranks);
    let (next, previous) = (ring.next(), ring.before(1));
    let own = Span::fixed(Buf::Send, 0, shape.bytes);
    let mut arrived = None;
    for round in 0..ranks - 1 {
        let out = if round == 0 { own } else { shape.block(Buf::Recv, ring.before(round)) };
        builder.send(next, out, arrived.as_slice());
        let into = shape.block(Buf::Recv, ring.before(round + 1));
        arrived = Some(builder.receive(previous, into, &[]));
    }
    if !in_place {
        builder.copy(own, shape.block(Buf::Recv, rank), &[]);
    }
    builder.finish()
}
