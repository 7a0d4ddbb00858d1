//! Broadcast by scatter and allgather (van de Geijn's algorithm): a part for each rank goes down a binomial tree, and
//! then all parts go around a ring.
//!
//! Each rank receives the vector once and sends about twice its length in all, whatever the number of ranks; the
//! latency is linear in it: for long vectors on few ranks. Nobody is sent what the tree has brought already.

use std::ops::Range;

use crate::build::Builder;
use crate::peers::{ring, tree};
use crate::prices::{Level, Prices};
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "scatter-allgather", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let bytes = shape.bytes as f64;
    let part = bytes / f64::from(shape.ranks);
    let below = |distance: u32| f64::from(distance.min(shape.ranks - distance)) * part;
    let message = |level: Level| prices.tree_message(2, level, below(level.distance));
    let another =
        |distance| prices.tree_another(2, distance, below(distance), prices.sending(below(distance)));
    let scatter = prices.tree(2, shape.ranks, &message, &another);
    scatter + f64::from(shape.ranks - 1) * prices.ring_step(part)
}

/// The parts for the ranks at these places; some may be empty.
fn parts(shape: &Shape, places: Range<u32>) -> Span {
    let begin = |place: u32| {
        let (ranks, place) = (u64::from(shape.ranks), u64::from(place));
        let (each, more) = (shape.bytes / ranks, shape.bytes % ranks);
        place * each + place.min(more)
    };
    let (first, end) = (begin(places.start), begin(places.end));
    Span::fixed(Buf::Recv, first, end - first)
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let (root, ranks) = (shape.root.rank(), shape.ranks);
    let at = |place| ring::after(root, place, ranks);
    let place = ring::before(rank, root, ranks);
    // What the tree brings to a place.
    let brought = |place| place..tree::subtree_end(place, 2, ranks);
    let mut builder = Builder::new();
    let mut arrived = None;
    if let Some(parent) = tree::parent(place, 2) {
        let into = parts(shape, brought(place));
        arrived = (into.bytes > 0).then(|| builder.receive(at(parent), into, &[]));
    }
    for child in tree::children(place, 2, ranks).into_iter().rev() {
        let from = parts(shape, brought(child));
        if from.bytes > 0 {
            builder.send(at(child), from, arrived.take().as_slice());
        }
    }
    let (next, previous) = (ring::after(place, 1, ranks), ring::before(place, 1, ranks));
    for round in 0..ranks - 1 {
        let out = ring::before(place, round, ranks);
        let part = parts(shape, out..out + 1);
        if part.bytes > 0 && !brought(next).contains(&out) {
            builder.send(at(next), part, arrived.take().as_slice());
        }
        let coming = ring::before(previous, round, ranks);
        let part = parts(shape, coming..coming + 1);
        if part.bytes > 0 && !brought(place).contains(&coming) {
            arrived = Some(builder.receive(at(previous), part, &[]));
        }
    }
    builder.finish()
}
