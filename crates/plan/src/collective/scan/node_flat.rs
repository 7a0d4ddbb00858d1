//! Scan by lines: everybody posts, and combines what all lower ranks have posted.
//!
//! One hop, but the last rank passes over `p` vectors: best while the vector is short.

use crate::build::Builder;
use crate::prices::Prices;
use crate::segment::SINGLE_POST_BYTES;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span, Take};

pub(crate) const ALGORITHM: Algorithm = Algorithm { name: "node-flat", admits, cost: Some(cost), plan };

pub(crate) fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && shape.bytes <= SINGLE_POST_BYTES
}

pub(crate) fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let bytes = shape.bytes as f64;
    // The last rank takes all that the others have, these half of it on the average.
    let operand = prices.of_workers(shape.ranks / 2).pull_reduce(bytes);
    prices.post(bytes) + prices.hop() + f64::from(shape.ranks - 1) * operand
}

pub(crate) fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let line = builder.line(shape.bytes, 1);
    let own = Span::fixed(Buf::Send, 0, shape.bytes);
    let result = Span::fixed(Buf::Recv, 0, shape.bytes);
    if rank < shape.ranks - 1 {
        builder.post(line, own);
    }
    match rank {
        0 if in_place => {}
        0 => builder.copy(own, result, &[]),
        1 => builder.pull_reduce(0, line, 0, result, Take::Left { right: own }),
        _ => {
            // In place, the own vector must outlive the sum of those before it.
            let sum = if in_place { builder.scratch(shape.bytes) } else { result };
            pull_lower(&mut builder, line, rank, sum);
            builder.reduce(sum, own, result, &[]);
        }
    }
    builder.finish()
}

/// `into` = what all ranks below `rank` have posted on `line`, from the left; there is at least one.
pub(crate) fn pull_lower(builder: &mut Builder, line: u8, rank: u32, into: Span) {
    builder.pull(0, line, 0, into);
    for peer in 1..rank {
        builder.pull_reduce(peer, line, 0, into, Take::Right { left: into });
    }
}
