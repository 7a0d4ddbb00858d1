//! Broadcast down a binomial tree of messages.
//!
//! `ceil(log2 p)` rounds, the whole vector in each; the root sends it that many times.

use crate::build::Builder;
use crate::machine::{message_ns, rounds};
use crate::peers::{ring, tree};
use crate::{Algorithm, Buf, Plan, Shape, Span};

pub(crate) const ALGORITHM: Algorithm = Algorithm { name: "binomial", admits: |_| true, cost_ns, plan };

fn cost_ns(shape: &Shape) -> f64 {
    rounds(shape.ranks) * message_ns(shape.bytes)
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let buffer = Span::fixed(Buf::Recv, 0, shape.bytes);
    let (root, ranks) = (shape.root(), shape.ranks);
    let place = ring::before(rank, root, ranks);
    let rank_at = |place| ring::after(root, place, ranks);
    let arrived = tree::parent(place, 2).map(|parent| builder.receive(rank_at(parent), buffer, &[]));
    for child in tree::children(place, 2, ranks).into_iter().rev() {
        builder.send(rank_at(child), buffer, arrived.as_slice());
    }
    builder.finish()
}
