//! Reduce up a binomial tree of messages.
//!
//! `ceil(log2 p)` rounds, the whole vector in each. For a commutative operation the tree begins at the root.
//! Otherwise it begins at rank 0, which keeps operands in the order of ranks, and rank 0 forwards the result.

use crate::build::Builder;
use crate::peers::{ring, tree};
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "binomial", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let bytes = shape.bytes as f64;
    let reduce = prices.reduce(bytes);
    let message = |level| prices.tree_message(2, level, bytes) + reduce;
    let another = |distance| prices.tree_another(2, distance, bytes, prices.receiving(bytes)) + reduce;
    let root = shape.root.rank();
    let forward = if top(shape) == root { Cost::NONE } else { prices.message(root, bytes) };
    prices.tree(2, shape.ranks, &message, &another) + forward
}

/// The rank at the top of the tree.
fn top(shape: &Shape) -> u32 {
    if shape.commutative { shape.root.rank() } else { 0 }
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let (root, ranks, top) = (shape.root.rank(), shape.ranks, top(shape));
    let place = ring::before(rank, top, ranks);
    let rank_at = |place| ring::after(top, place, ranks);
    let own = Span::fixed(Buf::Send, 0, shape.bytes);
    let result = Span::fixed(Buf::Recv, 0, shape.bytes);
    let sum = (rank == top && rank == root).then_some(result);
    let children = tree::children(place, 2, ranks).into_iter().map(rank_at);
    let partial = combine(&mut builder, children, own, sum);
    match tree::parent(place, 2) {
        Some(parent) => {
            let sent = builder.send(rank_at(parent), partial, &[]);
            if rank == root {
                builder.receive(top, result, &[sent]);
            }
        }
        None if rank != root => {
            builder.send(root, partial, &[]);
        }
        None => {}
    }
    builder.finish()
}

/// Appends: this rank's `own` is combined with what comes from `children`, which is of higher ranks in order.
///
/// The result is where the returned span says: in `sum` or, without one, in scratch memory, if there are
/// children at all.
pub(crate) fn combine(
    builder: &mut Builder,
    children: impl ExactSizeIterator<Item = u32>,
    own: Span,
    sum: Option<Span>,
) -> Span {
    if children.len() == 0 {
        return own;
    }
    let sum = sum.unwrap_or_else(|| builder.scratch(own.bytes));
    let operand = builder.scratch(own.bytes);
    let mut partial = own;
    for child in children {
        let arrived = builder.receive(child, operand, &[]);
        builder.reduce(partial, operand, sum, &[arrived]);
        partial = sum;
    }
    partial
}
