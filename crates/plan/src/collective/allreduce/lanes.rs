//! Allreduce over two levels by lanes: each rank of a node combines a slice of the vector for its node, does the
//! allreduce of that slice with the ranks at its place on the other nodes, and posts the result for its node.
//!
//! All ranks of a node send at the same time, each its part, and what a node sends is what its vector needs: for long
//! vectors, where nodes have several ways out, or one that a single rank does not fill. For nodes of equal numbers of
//! consecutive ranks. Slots and segments are those of the allreduce by slices on one node, between whose two halves
//! the messages are.

use crate::build::{Builder, Origin, Seat};
use crate::collective::allreduce::{circulant, node_sliced, rabenseifner};
use crate::peers::dissemination;
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Nodes, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "lanes", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    on_node(shape).is_some_and(|node| node_sliced::slices(&node).is_some())
}

/// What is done on each node, if all have equally many ranks.
fn on_node(shape: &Shape) -> Option<Shape> {
    let per_node = shape.lanes()?;
    Some(Shape { ranks: per_node, nodes: Nodes::One, ..*shape })
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let node = on_node(shape).expect("admitted");
    let slices = node_sliced::slices(&node).expect("admitted");
    let (ranks, nodes) = (node.ranks, shape.ranks / node.ranks);
    let lane = if is_circulant(shape, nodes) {
        circulant::part_cost(slices.slice_bytes, nodes, (ranks, ranks), prices)
    } else {
        rabenseifner::part_cost(slices.slice_bytes, nodes, ranks, prices)
    };
    node_sliced::cost(&node, &prices.of_node(node.ranks)) + slices.segments as f64 * lane
}

/// Whether nodes exchange slices on a circulant graph: halving and doubling would fold some of them first.
fn is_circulant(shape: &Shape, nodes: u32) -> bool {
    shape.commutative && !nodes.is_power_of_two()
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let node = on_node(shape).expect("admitted");
    let (ranks, nodes) = (node.ranks, shape.ranks / node.ranks);
    let (own_node, place) = (rank / ranks, rank % ranks);
    let slices = node_sliced::slices(&node).expect("admitted");
    let mut builder = Builder::segmented(slices.segments);
    let fellows = Seat { rank_of: &|place| own_node * ranks + place, send: Origin::SEND, recv: Origin::RECV };
    let lane = Seat { rank_of: &|node| node * ranks + place, ..fellows };
    builder.splice(node_sliced::combine(&slices, place), &fellows, &[]);
    let mut exchange = Builder::segmented(slices.segments);
    exchange.delay(1);
    let result = slices.of(Buf::Recv, place);
    if is_circulant(shape, nodes) {
        let radix = dissemination::radix(nodes, ranks);
        let part = circulant::Part { vector: result, segments: slices.whole(), unit: shape.unit, radix };
        part.append(&mut exchange, own_node, nodes);
    } else {
        let operand = slices.scratch(&mut exchange, place);
        let part = rabenseifner::Part { own: result, result, operand, unit: shape.unit, in_place: true };
        part.append(&mut exchange, own_node, nodes);
    }
    let open = builder.splice(exchange.finish(), &lane, &[]);
    let arrived = builder.receives(&open);
    builder.splice(node_sliced::pass_on(&node, &slices, place), &fellows, &arrived);
    builder.finish()
}
