//! Allgather by lines: everybody posts, everybody pulls from all.
//!
//! One hop. With segments, a rank posts segment `i` and then pulls segment `i - 1`. When it posts segment `s`
//! it has pulled `s - 2` from all, which had pulled `s - 4` before they posted that: four slots suffice.

use crate::build::Builder;
use crate::prices::Prices;
use crate::segment::{Segments, Stream};
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "node-flat", admits, cost: Some(cost), plan };

/// The slots of all ranks together keep within the budget of one: each rank reads them all.
fn segments(shape: &Shape) -> Option<Segments> {
    Segments::cut_for_lines(shape.bytes, shape.ranks)
}

fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && segments(shape).is_some()
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let segments = segments(shape).expect("admitted");
    let peers = f64::from(shape.ranks - 1);
    let segment = segments.bytes.min(shape.bytes) as f64;
    let each = prices.post(segment) + prices.copy(segment) + peers * prices.pull(segment);
    prices.hop_among_all() + segments.rounds() * each
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let segments = segments(shape).expect("admitted");
    let mut builder = Builder::segmented(segments.count);
    let line = Stream::new(segments).declare_unpaced(&mut builder, 1);
    let own = segments.span(Buf::Send, 0);
    let block_of = |rank| segments.span(Buf::Recv, shape.block(Buf::Recv, rank).offset);
    builder.post(line, own);
    if !in_place {
        builder.copy(own, block_of(rank), &[]);
    }
    builder.delay(1);
    for peer in shape.others(rank) {
        builder.pull(peer, line, 0, block_of(peer));
    }
    builder.finish()
}
