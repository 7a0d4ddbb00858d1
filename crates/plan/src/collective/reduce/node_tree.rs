//! Reduce up a tree of lines: each rank combines what those below it have posted with its own vector, and posts
//! that for the one above it.
//!
//! `log_k p` hops with `k = 8`, and `(k - 1) log_k p` vectors for a rank to pass over: for so many ranks that the root
//! would have too much to do. Subtrees are ranges of ranks; so where the order matters, the root must be rank 0.
//! Segments overlap the levels.

use crate::build::Builder;
use crate::peers::{ring, tree};
use crate::prices::Prices;
use crate::segment::Stream;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Take};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "node-tree", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && Stream::of(shape).fits() && is_in_order(shape)
}

/// Whether a tree that begins at the root keeps the order, or need not.
pub(crate) fn is_in_order(shape: &Shape) -> bool {
    shape.commutative || shape.root.rank() == 0
}

pub(crate) fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let segments = Stream::of(shape).segments;
    let segment = segments.bytes.min(shape.bytes) as f64;
    let operands = |count: u32, prices: &Prices<'_>| f64::from(count) * prices.pull_reduce(segment);
    let below = tree::depth(ARITY, shape.ranks) - 1;
    // What the root takes last; the others it has taken while it waited for these.
    let last = shape.ranks.div_ceil(ARITY.pow(below)) - 1;
    let of_all = operands(last, &prices.of_workers(1))
        + operands(below * (ARITY - 1), &prices.of_workers_apart(shape.ranks / ARITY, ARITY));
    let passed = f64::from(below + 1) * (prices.post(segment) + prices.hop());
    passed + segments.count as f64 * of_all
}

pub(crate) fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let stream = Stream::of(shape);
    let (root, ranks) = (shape.root.rank(), shape.ranks);
    let at = |place| ring::after(root, place, ranks);
    let place = ring::before(rank, root, ranks);
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, 1);
    let own = stream.segments.span(Buf::Send, 0);
    let children = tree::children(place, ARITY, ranks);
    let parent = tree::parent(place, ARITY).map(at);
    let sum = match parent {
        _ if children.is_empty() => own,
        Some(_) => stream.segments.operand(&mut builder),
        None => stream.segments.span(Buf::Recv, 0),
    };
    let combine = |builder: &mut Builder| {
        let mut partial = own;
        for &child in &children {
            builder.pull_reduce(at(child), lines.data, 0, sum, Take::Right { left: partial });
            partial = sum;
        }
    };
    match parent {
        None => stream.read(&mut builder, lines, combine),
        Some(parent) if children.is_empty() => {
            stream.await_credit(&mut builder, lines, std::iter::once(parent));
            builder.post(lines.data, own);
        }
        Some(parent) => stream.pass_on(&mut builder, lines, std::iter::once(parent), |builder| {
            combine(builder);
            builder.post(lines.data, sum);
        }),
    }
    builder.finish()
}

const ARITY: u32 = 8;
