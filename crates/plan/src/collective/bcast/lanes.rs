//! Broadcast over two levels by lanes: of what the root posts for its node, each rank there sends its slice to the
//! ranks at its place on the other nodes, which post it for theirs.
//!
//! A node gets each byte once, and all its ranks receive and send at the same time: for long vectors. For nodes of
//! equal numbers of consecutive ranks.
//!
//! On the root's node the root posts whole segments and waits for credit. On the others a rank receives its slice of
//! segment `i`, sends on and posts that of `i - 1`, and pulls the others' of `i - 2`. When it posts a slice of `s` it
//! has pulled those of `s - 2` from all, which had pulled those of `s - 4` before they posted that: four slots suffice.

use crate::build::{Builder, Origin, Seat};
use crate::collective::bcast::node_flat;
use crate::peers::{ring, tree};
use crate::prices::Prices;
use crate::segment::Stream;
use crate::slices::Slices;
use crate::{Algorithm, Buf, Cost, Nodes, Plan, Root, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "lanes", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    shape.lanes().is_some_and(|ranks| slices(&on_node(shape, ranks)).is_some())
}

/// What is done on the root's node.
fn on_node(shape: &Shape, ranks: u32) -> Shape {
    let root = Root::Rank(shape.root.rank() % ranks);
    Shape { root, ranks, nodes: Nodes::One, ..*shape }
}

fn slices(node: &Shape) -> Option<Slices> {
    Slices::cut(node, Stream::DEPTH)
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let ranks = shape.lanes().expect("admitted");
    let slices = slices(&on_node(shape, ranks)).expect("admitted");
    let (nodes, node) = (shape.ranks / ranks, prices.of_node(ranks));
    let (slice, whole) = (slices.slice_bytes as f64, (u64::from(ranks) * slices.slice_bytes) as f64);
    let first = node.post(whole) + node.hop() + node.readers(ranks - 1, whole) + node.pull(whole);
    let lane = prices.doubling(nodes, |distance| prices.exchange(distance * ranks, slice));
    let last = node.post(slice) + node.hop() + f64::from(ranks - 1) * node.pull(slice);
    // The first node sends each segment to all its children before the next one.
    let children = f64::from(nodes.next_power_of_two().ilog2());
    let pace = children * f64::from(ranks) * Cost::port(prices.passage_ns(slice));
    let more = (slices.segments - 1) as f64;
    first + lane + last + more * pace.beside(node.post(whole).beside(node.pull(whole)))
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let ranks = shape.lanes().expect("admitted");
    let node_shape = on_node(shape, ranks);
    let slices = slices(&node_shape).expect("admitted");
    let (nodes, node, place) = (shape.ranks / ranks, rank / ranks, rank % ranks);
    let first = shape.root.rank() / ranks;
    let tree_place = ring::before(node, first, nodes);
    let at = |tree_place| ring::after(first, tree_place, nodes) * ranks + place;
    let slice = slices.of(Buf::Recv, place);
    let mut builder = Builder::segmented(slices.segments);
    let mut arrived = None;
    if node == first {
        let stream = Stream::new(slices.whole());
        let fellows = Seat { rank_of: &|place| node * ranks + place, send: Origin::RECV, recv: Origin::RECV };
        builder.splice(node_flat::part(stream, &node_shape, place), &fellows, &[]);
        builder.delay(if rank == shape.root.rank() { 0 } else { stream.lag() });
    } else {
        let parent = tree::parent(tree_place, 2).expect("only the first has none");
        arrived = Some(builder.receive(at(parent), slice, &[]));
        builder.delay(1);
    }
    for child in tree::children(tree_place, 2, nodes).into_iter().rev() {
        builder.send(at(child), slice, arrived.as_slice());
    }
    if node != first {
        let line = builder.line(slices.slice_bytes, slices.depth);
        builder.post_after(line, slice, arrived.as_slice());
        builder.delay(2);
        for fellow in (1..ranks).map(|distance| ring::after(place, distance, ranks)) {
            builder.pull(node * ranks + fellow, line, 0, slices.of(Buf::Recv, fellow));
        }
    }
    builder.finish()
}
