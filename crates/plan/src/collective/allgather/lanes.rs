//! Allgather over two levels by lanes: each rank collects the blocks of the ranks at its place on the other nodes, and
//! posts them for its node.
//!
//! All ranks of a node send at the same time, and nobody leads. For nodes of equal numbers of consecutive ranks, and
//! lanes that are posted at once.

use crate::build::{Builder, Origin};
use crate::collective::allgather::bruck;
use crate::peers::{dissemination, ring};
use crate::prices::Prices;
use crate::segment::SINGLE_POST_BYTES;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "lanes", admits, cost: Some(cost), plan };

fn admits(shape: &Shape) -> bool {
    shape.lanes().is_some_and(|ranks| lane_bytes(shape, ranks) <= SINGLE_POST_BYTES)
}

/// Bytes of all blocks of a lane.
fn lane_bytes(shape: &Shape, ranks: u32) -> u64 {
    u64::from(shape.ranks / ranks) * shape.bytes
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let ranks = shape.lanes().expect("admitted");
    let (nodes, node) = (shape.ranks / ranks, prices.of_node(ranks));
    let (radix, block) = (dissemination::radix(nodes, ranks), |places| bruck::blocks_of(shape, places));
    let lane = bruck::part_cost(radix, (nodes, ranks), block, prices);
    let pulls = f64::from(nodes * (ranks - 1)) * node.pull(shape.bytes as f64);
    let collected = lane_bytes(shape, ranks) as f64;
    lane + node.post(collected) + node.hop() + pulls + node.copy(collected)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let ranks = shape.lanes().expect("admitted");
    let (nodes, node, place) = (shape.ranks / ranks, rank / ranks, rank % ranks);
    let mut builder = Builder::new();
    let collected = builder.scratch(lane_bytes(shape, ranks));
    builder.copy(Span::fixed(Buf::Send, 0, shape.bytes), Origin::of(collected).bytes(shape.bytes), &[]);
    let (radix, block) = (dissemination::radix(nodes, ranks), |_| shape.bytes);
    let rank_of = |node| node * ranks + place;
    let arrived = bruck::append(&mut builder, radix, (node, nodes), collected, &block, &rank_of);
    let line = builder.line(collected.bytes, 1);
    builder.post_after(line, collected, &arrived);
    // The own node's block is the first one, then those of the nodes after it follow.
    let part = |distance: u32, place: u32| {
        let from = ring::after(node, distance, nodes) * ranks + place;
        (u64::from(distance) * shape.bytes, shape.block(Buf::Recv, from))
    };
    for distance in u32::from(in_place)..nodes {
        let (skip, into) = part(distance, place);
        builder.copy(collected.part(skip, shape.bytes), into, &[]);
    }
    for fellow in (1..ranks).map(|distance| ring::after(place, distance, ranks)) {
        for (skip, into) in (0..nodes).map(|distance| part(distance, fellow)) {
            builder.pull(node * ranks + fellow, line, skip, into);
        }
    }
    builder.finish()
}
