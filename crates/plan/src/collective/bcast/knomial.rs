//! Broadcast down a k-nomial tree of messages, segment by segment.
//!
//! `ceil(log_k p)` levels. Short vectors go down a flat tree, of which each level costs one message and the sending of
//! the others; long ones down a binomial tree in segments, of which a rank receives one while it passes on another.

use crate::build::{Builder, Origin, Seat};
use crate::peers::{ring, tree};
use crate::prices::Prices;
use crate::segment::{Segments, Stream};
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "k-nomial", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    part_cost(Stream::of(shape).segments, shape.ranks, prices)
}

/// What [`part`] costs.
pub(crate) fn part_cost(segments: Segments, places: u32, prices: &Prices<'_>) -> Cost {
    let (arity, bytes) = (arity(segments), segments.bytes as f64);
    let message = |level| prices.tree_message(arity, level, bytes);
    let another = |distance| prices.tree_another(arity, distance, bytes, prices.sending(bytes));
    let fill = prices.tree(arity, places, &message, &another);
    let pace = prices.tree_pace(places, bytes, prices.sending(bytes), Cost::NONE);
    fill + (segments.rounds() - 1.0) * pace.beside(prices.another_received(places, bytes))
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let segments = Stream::of(shape).segments;
    let (root, ranks) = (shape.root.rank(), shape.ranks);
    let seat =
        Seat { rank_of: &|place| ring::after(root, place, ranks), send: Origin::RECV, recv: Origin::RECV };
    let mut builder = Builder::segmented(segments.count);
    builder.splice(part(segments, ring::before(rank, root, ranks), ranks), &seat, &[]);
    builder.finish()
}

/// What is done at `place` of a tree of `places`, of which the first has the vector: it comes from above and goes on
/// below. What is received goes on one segment behind, as [`part_delay`] says.
pub(crate) fn part(segments: Segments, place: u32, places: u32) -> Plan {
    let arity = arity(segments);
    let mut builder = Builder::segmented(segments.count);
    let buffer = segments.span(Buf::Recv, 0);
    let arrived = tree::parent(place, arity).map(|parent| builder.receive(parent, buffer, &[]));
    builder.delay(part_delay(segments));
    for child in tree::children(place, arity, places).into_iter().rev() {
        builder.send(child, buffer, arrived.as_slice());
    }
    builder.finish()
}

/// How far behind the front a segment has come: the next one is being received by then.
pub(crate) fn part_delay(segments: Segments) -> u32 {
    u32::from(segments.count > 1)
}

fn arity(segments: Segments) -> u32 {
    if segments.total() <= SHORT_BYTES { 4 } else { 2 }
}

/// The longest vector of which a rank sends several more quickly than another passes one on.
const SHORT_BYTES: u64 = 8 << 10;
