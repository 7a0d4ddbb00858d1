//! Scatter by messages straight from the root: `p - 1` of them, all begun at once.

use crate::build::Builder;
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "linear", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    prices.fan_out(shape.ranks, shape.bytes as f64) + prices.copy(shape.bytes as f64)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let root = shape.root.rank();
    let own = Span::fixed(Buf::Recv, 0, shape.bytes);
    if rank == root {
        for peer in shape.others(root) {
            builder.send(peer, shape.block(Buf::Send, peer), &[]);
        }
        if !in_place {
            builder.copy(shape.block(Buf::Send, root), own, &[]);
        }
    } else {
        builder.receive(root, own, &[]);
    }
    builder.finish()
}
