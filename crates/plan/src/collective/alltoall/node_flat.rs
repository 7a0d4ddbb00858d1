//! Alltoall by lines: everybody posts each block on a line of its own, and pulls his from all.
//!
//! One hop; no byte is posted that nobody reads. With segments, a rank posts segment `i` and then pulls
//! segment `i - 1`. When it posts segment `s` it has pulled `s - 2` from all, which had pulled `s - 4` before
//! they posted that: four slots suffice. In place, a segment of a block is overwritten after it was posted.
//! For one rank more than there are lines.

use crate::build::Builder;
use crate::peers::ring;
use crate::prices::Prices;
use crate::segment::{Segments, Stream};
use crate::{Algorithm, Buf, Cost, MAX_LINES, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "node-flat", admits, cost: Some(cost), plan };

fn segments(shape: &Shape) -> Option<Segments> {
    Segments::cut_for_lines(shape.bytes, shape.ranks.max(2) - 1)
}

fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && shape.ranks as usize <= MAX_LINES + 1 && segments(shape).is_some()
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let segments = segments(shape).expect("admitted");
    let segment = segments.bytes.min(shape.bytes) as f64;
    let each = prices.post(segment) + prices.pull(segment);
    prices.hop_among_all() + segments.rounds() * (f64::from(shape.ranks - 1) * each + prices.copy(segment))
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let segments = segments(shape).expect("admitted");
    let ranks = shape.ranks;
    let mut builder = Builder::segmented(segments.count);
    // A rank's line `d - 1` carries its block for the rank `d` after it.
    let first = Stream::new(segments).declare_unpaced(&mut builder, ranks - 1);
    let line_between = |from, to| {
        let distance = u8::try_from(ring::before(to, from, ranks)).expect("there are few lines");
        first + distance - 1
    };
    let block_of = |buf, rank| segments.span(buf, shape.block(buf, rank).offset);
    for peer in shape.others(rank) {
        builder.post(line_between(rank, peer), block_of(Buf::Send, peer));
    }
    if !in_place {
        builder.copy(block_of(Buf::Send, rank), block_of(Buf::Recv, rank), &[]);
    }
    builder.delay(1);
    for peer in shape.others(rank) {
        builder.pull(peer, line_between(peer, rank), 0, block_of(Buf::Recv, peer));
    }
    builder.finish()
}
