//! Reduce up a k-nomial tree of messages, segment by segment.
//!
//! `ceil(log_k p)` levels. Subtrees are ranges of ranks, so operands stay in order. While one operand is combined, the
//! next one is being received. For a commutative operation the tree begins at the root, otherwise at rank 0, which
//! forwards the result.

use crate::build::{Builder, Origin, Seat};
use crate::peers::{ring, tree};
use crate::prices::Prices;
use crate::segment::{Segments, Stream};
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "k-nomial", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let root = shape.root.rank();
    let forward = if top(shape) == root { Cost::NONE } else { prices.message(root, shape.bytes as f64) };
    part_cost(Stream::of(shape).segments, shape.ranks, prices) + forward
}

/// What [`part`] costs.
pub(crate) fn part_cost(segments: Segments, places: u32, prices: &Prices<'_>) -> Cost {
    let (arity, bytes) = (arity(segments), segments.bytes as f64);
    let (inside, reduce) = (prices.receiving(bytes), prices.reduce(bytes));
    let message = |level| prices.tree_message(arity, level, bytes) + reduce;
    let another = |distance| prices.tree_another(arity, distance, bytes, inside) + reduce;
    let fill = prices.tree(arity, places, &message, &another);
    fill + (segments.rounds() - 1.0) * prices.tree_pace(places, bytes, inside, reduce)
}

/// What a message of [`part`] between neighbours costs where no other one is in its way.
pub(crate) fn message_cost(segments: Segments, prices: &Prices<'_>) -> Cost {
    let bytes = segments.bytes as f64;
    prices.message(1, bytes) + prices.reduce(bytes)
}

/// How many messages it is from a place to the top.
pub(crate) fn depth(segments: Segments, place: u32) -> u32 {
    std::iter::successors(Some(place), |&place| tree::parent(place, arity(segments))).count() as u32 - 1
}

/// One of the places from which it is the farthest, of at least 2.
pub(crate) fn deepest(segments: Segments, places: u32) -> u32 {
    let arity = arity(segments);
    // 1, 11, 111 and so on, as far as there are such places.
    let ones = std::iter::successors(Some(1u32), |&ones| ones.checked_mul(arity)?.checked_add(1));
    ones.take_while(|&ones| ones < places).last().unwrap_or(1)
}

/// The rank at the top of the tree.
fn top(shape: &Shape) -> u32 {
    if shape.commutative { shape.root.rank() } else { 0 }
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let segments = Stream::of(shape).segments;
    let mut builder = Builder::segmented(segments.count);
    let (ranks, top) = (shape.ranks, top(shape));
    let tree = Tree {
        place: ring::before(rank, top, ranks),
        places: ranks,
        rank_of: &|place| ring::after(top, place, ranks),
    };
    append(&mut builder, segments, &tree, (rank, shape.root.rank(), in_place), None);
    builder.finish()
}

/// The places of a tree, and who has them.
pub(crate) struct Tree<'a> {
    /// That of this rank.
    pub(crate) place: u32,
    /// How many there are.
    pub(crate) places: u32,
    /// Who has a place.
    pub(crate) rank_of: &'a dyn Fn(u32) -> u32,
}

/// Appends the part of `rank` in a tree, and the way of the result from the top to the root, which gets it in its
/// receive buffer. What it begins with is in its send buffer, or has been combined in `sum` already.
pub(crate) fn append(
    builder: &mut Builder,
    segments: Segments,
    tree: &Tree<'_>,
    (rank, root, in_place): (u32, u32, bool),
    sum: Option<Origin>,
) {
    let top = (tree.rank_of)(0);
    let has_children = !tree::children(tree.place, arity(segments), tree.places).is_empty();
    let send = sum.unwrap_or(Origin::SEND);
    let recv = match sum {
        Some(sum) => sum,
        None if rank == root || !has_children => Origin::RECV,
        None => Origin::of(builder.scratch(segments.total())),
    };
    let seat = Seat { rank_of: tree.rank_of, send, recv };
    let sent = builder.splice(part(segments, tree.place, tree.places), &seat, &[]);
    if top == root {
        return;
    }
    if rank == top {
        builder.send(root, recv.vector(segments), &[]);
    } else if rank == root {
        // What it has sent on may lie where the result comes to.
        let is_apart = sum.is_none() && !has_children && !in_place;
        builder.receive(top, Origin::RECV.vector(segments), if is_apart { &[] } else { &sent });
    }
}

/// What is done at `place` of a tree of `places`: what comes from below is combined into the receive buffer, if there
/// is anything, and goes on above.
fn part(segments: Segments, place: u32, places: u32) -> Plan {
    let arity = arity(segments);
    let mut builder = Builder::segmented(segments.count);
    let sum = segments.span(Buf::Recv, 0);
    let mut partial = segments.span(Buf::Send, 0);
    let children = tree::children(place, arity, places);
    let operands: Vec<_> = (0..children.len().min(2)).map(|_| segments.operand(&mut builder)).collect();
    let mut arriving = None;
    let receive = |builder: &mut Builder, index: usize| {
        let operand = operands[index % 2];
        (operand, builder.receive(children[index], operand, &[]))
    };
    for index in 0..children.len() {
        let (operand, arrived) = arriving.take().unwrap_or_else(|| receive(&mut builder, index));
        arriving = (index + 1 < children.len()).then(|| receive(&mut builder, index + 1));
        builder.reduce(partial, operand, sum, &[arrived]);
        partial = sum;
    }
    if let Some(parent) = tree::parent(place, arity) {
        builder.send(parent, partial, &[]);
    }
    builder.finish()
}

fn arity(segments: Segments) -> u32 {
    if segments.total() <= SHORT_BYTES { 4 } else { 2 }
}

/// The longest vector of which a rank takes several more quickly than another passes one on.
const SHORT_BYTES: u64 = 8 << 10;
