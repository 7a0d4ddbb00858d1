//! Broadcast down a binomial tree of messages.
//!
//! `ceil(log2 p)` rounds, the whole vector in each; the root sends it that many times.

use crate::build::Builder;
use crate::peers::{ring, tree};
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Peer, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "binomial", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let bytes = shape.bytes as f64;
    let another = |distance| prices.tree_another(2, distance, bytes, prices.sending(bytes));
    prices.tree(2, shape.ranks, &|level| prices.tree_message(2, level, bytes), &another)
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let buffer = Span::fixed(Buf::Recv, 0, shape.bytes);
    let (root, ranks) = (shape.root.rank(), shape.ranks);
    let place = ring::before(rank, root, ranks);
    append(&mut builder, place, ranks, |place| ring::after(root, place, ranks).into(), buffer);
    builder.finish()
}

/// Appends what is done at `place` of a tree of `places`: `buffer` comes from above and goes on below.
pub(crate) fn append(
    builder: &mut Builder,
    place: u32,
    places: u32,
    peer_at: impl Fn(u32) -> Peer,
    buffer: Span,
) {
    let arrived = tree::parent(place, 2).map(|parent| builder.receive(peer_at(parent), buffer, &[]));
    for child in tree::children(place, 2, places).into_iter().rev() {
        builder.send(peer_at(child), buffer, arrived.as_slice());
    }
}
