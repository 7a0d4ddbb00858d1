//! Gather by messages straight to the root: `p - 1` of them, all begun at once.

use crate::build::Builder;
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "linear", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    prices.fan_in(shape.ranks, shape.bytes as f64) + prices.copy(shape.bytes as f64)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let root = shape.root.rank();
    let own = Span::fixed(Buf::Send, 0, shape.bytes);
    if rank == root {
        for peer in shape.others(root) {
            builder.receive(peer, shape.block(Buf::Recv, peer), &[]);
        }
        if !in_place {
            builder.copy(own, shape.block(Buf::Recv, root), &[]);
        }
    } else {
        builder.send(root, own, &[]);
    }
    builder.finish()
}
