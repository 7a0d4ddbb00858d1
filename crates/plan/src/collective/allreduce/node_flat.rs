//! Allreduce by lines: everybody posts, everybody combines everything.
//!
//! One hop, but `p - 1` vectors to pass over for each rank: best while the vector is short. All ranks combine
//! from the left, so that all get the same bits.

use crate::build::Builder;
use crate::prices::Prices;
use crate::segment::SINGLE_POST_BYTES;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span, Take};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "node-flat", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && shape.bytes <= SINGLE_POST_BYTES
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let bytes = shape.bytes as f64;
    prices.post(bytes) + prices.hop_among_all() + f64::from(shape.ranks - 1) * prices.pull_reduce(bytes)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let line = builder.line(shape.bytes, 1);
    let own = Span::fixed(Buf::Send, 0, shape.bytes);
    let result = Span::fixed(Buf::Recv, 0, shape.bytes);
    builder.post(line, own);
    let next = match rank {
        0 => {
            builder.pull_reduce(1, line, 0, result, Take::Right { left: own });
            2
        }
        1 => {
            builder.pull_reduce(0, line, 0, result, Take::Left { right: own });
            2
        }
        _ => {
            builder.pull(0, line, 0, result);
            1
        }
    };
    for peer in next..shape.ranks {
        if peer == rank && !in_place {
            builder.reduce(result, own, result, &[]);
        } else {
            // In place, this rank's operand has been overwritten by now, except on its line.
            builder.pull_reduce(peer, line, 0, result, Take::Right { left: result });
        }
    }
    builder.finish()
}
