//! Exscan by lines: everybody posts, and combines what all lower ranks have posted.

use crate::build::Builder;
use crate::collective::scan::node_flat::{admits, operands, pull_lower};
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(crate) const ALGORITHM: Algorithm = Algorithm { name: "node-flat", admits, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    prices.hop() + prices.post(shape.bytes as f64) + operands(shape, prices)
}

pub(crate) fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let line = builder.line(shape.bytes, 1);
    if rank < shape.ranks - 1 {
        builder.post(line, Span::fixed(Buf::Send, 0, shape.bytes));
    }
    if rank > 0 {
        pull_lower(&mut builder, line, rank, Span::fixed(Buf::Recv, 0, shape.bytes));
    }
    builder.finish()
}
