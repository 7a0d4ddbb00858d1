//! Allgather over doubling distances: in round `k` a rank passes on the `2^k` blocks that it has, to the one as far
//! below it, and gets as many from the one as far above it.
//!
//! `ceil(log2 p)` messages, the least possible, for any number of ranks; what has come is put into order at the end.

use crate::build::Builder;
use crate::peers::{dissemination, ring};
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "bruck", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    part_cost(2, (shape.ranks, 1), |places| blocks_of(shape, places), prices)
        + prices.copy(shape.total_bytes() as f64)
}

/// What [`append`] costs among places of which neighbours are `apart` ranks apart, where so many that follow each other
/// have `bytes` bytes at most.
pub(super) fn part_cost(
    radix: u32,
    (places, apart): (u32, u32),
    bytes: impl Fn(u32) -> u64,
    prices: &Prices<'_>,
) -> Cost {
    let round = |round: Vec<u32>| {
        let distances: Vec<u32> = round.iter().map(|distance| distance * apart).collect();
        prices.shifts(&distances, &|distance| bytes(round[0].min(places - distance / apart)) as f64)
    };
    dissemination::distances(radix, places).map(round).sum()
}

/// Bytes of the blocks of so many places.
pub(super) fn blocks_of(shape: &Shape, places: u32) -> u64 {
    u64::from(places) * shape.bytes
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    plan_by(2, shape, rank, in_place)
}

/// The plan with a radix.
pub(super) fn plan_by(radix: u32, shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let ranks = shape.ranks;
    let mut builder = Builder::new();
    let blocks = builder.scratch(shape.total_bytes());
    builder.copy(Span::fixed(Buf::Send, 0, shape.bytes), Span { bytes: shape.bytes, ..blocks }, &[]);
    let mut arrived = append(&mut builder, radix, (rank, ranks), blocks, &|_| shape.bytes, &|rank| rank);
    // Those from this rank on, and those before it.
    let above = u64::from(ranks - rank) * shape.bytes;
    let first = if in_place { shape.bytes } else { 0 };
    let whole = |begin: u64, end: u64| Span::fixed(blocks.buf, blocks.offset + begin, end - begin);
    let into = |offset, bytes| Span::fixed(Buf::Recv, offset, bytes);
    let own = shape.block(Buf::Recv, rank).offset;
    for (from, into) in [
        (whole(first, above), into(own + first, above - first)),
        (whole(above, shape.total_bytes()), into(0, own)),
    ] {
        if from.bytes > 0 {
            builder.copy(from, into, &std::mem::take(&mut arrived));
        }
    }
    builder.finish()
}

/// Appends the rounds of a place of `places`, with a radix: `blocks` begins with what it has, and gets what the places
/// after it have, `bytes(place)` each, in their order. Returns what has to be complete before all is there.
pub(crate) fn append(
    builder: &mut Builder,
    radix: u32,
    (place, places): (u32, u32),
    blocks: Span,
    bytes: &dyn Fn(u32) -> u64,
    rank_of: &dyn Fn(u32) -> u32,
) -> Vec<u32> {
    let begins: Vec<u64> = std::iter::once(0)
        .chain((0..places).scan(0, |end, distance| {
            *end += bytes(ring::after(place, distance, places));
            Some(*end)
        }))
        .collect();
    let part = |begin: u32, end: u32| {
        let (begin, end) = (begins[begin as usize], begins[end as usize]);
        Span::fixed(blocks.buf, blocks.offset + begin, end - begin)
    };
    let mut arrived = Vec::new();
    for round in dissemination::distances(radix, places) {
        // So many blocks are known, as far as the nearest ones are.
        let count = |distance| round[0].min(places - distance);
        for &distance in &round {
            let below = rank_of(ring::before(place, distance, places));
            builder.send(below, part(0, count(distance)), &arrived);
        }
        let receive = |&distance: &u32| {
            let above = rank_of(ring::after(place, distance, places));
            builder.receive(above, part(distance, distance + count(distance)), &[])
        };
        // Earlier ones are waited for by these sends.
        arrived = round.iter().map(receive).collect();
    }
    arrived
}
