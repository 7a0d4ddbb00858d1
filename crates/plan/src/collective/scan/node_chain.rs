//! Scan along a chain of lines: each rank combines the result of the rank before it with its own vector, and
//! posts that for the next one.
//!
//! Nobody passes over more than one vector, but the last rank waits for `p - 1` hops. Segments overlap these:
//! a long vector takes about as long as one rank needs for it.

use crate::build::Builder;
use crate::prices::Prices;
use crate::segment::{SLOT_BUDGET_BYTES, Stream};
use crate::{Algorithm, Buf, Cost, Plan, Shape, Take};

pub(crate) const ALGORITHM: Algorithm = Algorithm { name: "node-chain", admits, cost: Some(cost), plan };

/// Segments are shorter than elsewhere, because every rank of the chain waits for the first one.
pub(crate) fn stream(shape: &Shape) -> Stream {
    Stream::with_shortest(shape, SHORTEST_BYTES)
}

pub(crate) fn admits(shape: &Shape) -> bool {
    let longest = stream(shape).segments.bytes;
    shape.shares_memory() && longest * u64::from(Stream::DEPTH) <= SLOT_BUDGET_BYTES
}

pub(crate) fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let segments = stream(shape).segments;
    let bytes = segments.bytes.min(shape.bytes) as f64;
    let segment = |prices: &Prices<'_>| prices.post(bytes) + prices.pull_reduce(bytes);
    let first = prices.hop_of_chain() + segment(&prices.of_workers(1));
    let pace = segment(&prices.of_flow(shape.ranks - 1));
    f64::from(shape.ranks - 1) * first + (segments.rounds() - 1.0) * pace
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let stream = stream(shape);
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, 1);
    let (own, result) = (stream.segments.span(Buf::Send, 0), stream.segments.span(Buf::Recv, 0));
    let combine = |builder: &mut Builder| {
        builder.pull_reduce(rank - 1, lines.data, 0, result, Take::Left { right: own });
    };
    if rank == 0 {
        stream.await_credit(&mut builder, lines, std::iter::once(1));
        builder.post(lines.data, own);
        if !in_place {
            builder.copy(own, result, &[]);
        }
    } else if rank < shape.ranks - 1 {
        stream.pass_on(&mut builder, lines, std::iter::once(rank + 1), |builder| {
            combine(builder);
            builder.post(lines.data, result);
        });
    } else {
        stream.read(&mut builder, lines, combine);
    }
    builder.finish()
}

/// Segments shorter than this cost more in hops than they save in waiting.
const SHORTEST_BYTES: u64 = 16 << 10;
