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
    let own = if shape.ranks > 2 { prices.reduce(bytes) } else { Cost::NONE };
    prices.hop() + prices.post(bytes) + operands(shape, prices) + own
}

/// What the last rank takes of all others, and those that share its core of theirs.
pub(crate) fn operands(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let last = f64::from(shape.ranks - 1);
    let (cores, ranks) = prices.shared_cores().unwrap_or((shape.ranks, shape.ranks));
    let sharers = f64::from(ranks.div_ceil(cores));
    let operands = sharers * last - f64::from(cores) * sharers * (sharers - 1.0) / 2.0;
    operands * prices.of_workers(1).pull_reduce(shape.bytes as f64)
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
