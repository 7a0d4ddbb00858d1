//! Alltoall by one line each: everybody posts his whole buffer, and pulls his block from all.
//!
//! One post for any number of ranks: best while blocks are short.

use crate::build::Builder;
use crate::prices::Prices;
use crate::segment::SINGLE_POST_BYTES;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "node-whole", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && shape.total_bytes() <= SINGLE_POST_BYTES
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let bytes = shape.bytes as f64;
    let pulls = f64::from(shape.ranks - 1) * prices.pull(bytes);
    prices.post(shape.total_bytes() as f64) + prices.copy(bytes) + prices.hop_among_all() + pulls
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let line = builder.line(shape.total_bytes(), 1);
    builder.post(line, Span::fixed(Buf::Send, 0, shape.total_bytes()));
    if !in_place {
        builder.copy(shape.block(Buf::Send, rank), shape.block(Buf::Recv, rank), &[]);
    }
    let skip = shape.block(Buf::Send, rank).offset;
    for peer in shape.others(rank) {
        builder.pull(peer, line, skip, shape.block(Buf::Recv, peer));
    }
    builder.finish()
}
