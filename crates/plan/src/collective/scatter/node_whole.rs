//! Scatter by one line: the root posts its whole buffer, everybody else pulls his block of it.
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

pub(crate) fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let bytes = shape.bytes as f64;
    let read = prices.readers(shape.ranks - 1, bytes) + prices.pull(bytes);
    prices.post(shape.total_bytes() as f64) + prices.hop() + read.beside(prices.copy(bytes))
}

pub(crate) fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let line = builder.line(shape.total_bytes(), 1);
    let root = shape.root.rank();
    let own = Span::fixed(Buf::Recv, 0, shape.bytes);
    if rank == root {
        builder.post(line, Span::fixed(Buf::Send, 0, shape.total_bytes()));
        if !in_place {
            builder.copy(shape.block(Buf::Send, root), own, &[]);
        }
    } else {
        builder.pull(root, line, shape.block(Buf::Send, rank).offset, own);
    }
    builder.finish()
}
