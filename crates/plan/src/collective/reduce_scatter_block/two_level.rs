//! Reduce-scatter over two levels: one rank of each node combines the vectors of its ranks, exchanges the parts for
//! whole nodes with those of the others, and posts the blocks.
//!
//! Between nodes goes what the pairwise algorithm sends, or that on a circulant graph while blocks are short, with
//! nodes in place of ranks. Nodes are ranges of ranks here,
//! so that their blocks are ranges of the vector: one whose ranks are not consecutive counts as several.

use super::task::{Task, Way};
use super::{circulant, pairwise};
use crate::build::{Builder, Origin, Seat};
use crate::collective::{reduce, scatter};
use crate::peers::levels::Levels;
use crate::prices::Prices;
use crate::segment::{SINGLE_POST_BYTES, Stream};
use crate::{Algorithm, Buf, Collective, Cost, Nodes, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "two-level", admits, cost: Some(cost), plan };

/// The reduction of the vectors to the leader of each node.
fn vector(shape: &Shape) -> Shape {
    Shape { collective: Collective::Allreduce, bytes: shape.total_bytes(), commutative: false, ..*shape }
}

fn admits(shape: &Shape) -> bool {
    Levels::are_two(&vector(shape)) && is_in_one_segment(shape)
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(&vector(shape));
    let (ranks, nodes) = (levels.largest(), levels.count());
    let (node, leaders) = (prices.of_node(ranks), prices.of_ranges(shape.nodes, nodes));
    let task = task(shape, &levels);
    let between = way(&task).cost.map_or(Cost::NONE, |cost| cost(&task, &leaders));
    let total = shape.total_bytes() as f64;
    let block = shape.bytes as f64 * f64::from(ranks);
    let combine = node.post(total) + node.hop() + f64::from(ranks - 1) * node.pull_reduce(total);
    let read = node.readers(ranks - 1, shape.bytes as f64) + node.pull(shape.bytes as f64);
    combine + between + node.post(block) + node.hop() + read
}

/// Whether the whole vector is posted at once.
fn is_in_one_segment(shape: &Shape) -> bool {
    shape.total_bytes() <= SINGLE_POST_BYTES && Stream::of(&vector(shape)).segments.count == 1
}

/// How nodes exchange it: in few rounds while blocks are short.
fn way(task: &Task) -> Way {
    let is_short = task.longest() <= SHORT_BYTES && (circulant::WAY.admits)(task);
    if is_short { circulant::WAY } else { pairwise::WAY }
}

/// What nodes exchange, one rank of each.
fn task(shape: &Shape, levels: &Levels) -> Task {
    let lengths = (0..levels.count()).map(|node| levels.members(node).len() as u64 * shape.bytes);
    Task::new(lengths, 0, shape.unit, shape.commutative, Nodes::APART)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let vector = vector(shape);
    let levels = Levels::of(&vector);
    let mut builder = Builder::new();
    let longest = u64::from(levels.largest()) * shape.bytes;
    if !levels.leads(rank) {
        reduce::two_level::on_node(&mut builder, &levels, &vector, rank, Origin::RECV);
        scatter::two_level::on_node(&mut builder, &levels, shape, (rank, false), Origin::RECV, &[]);
        return builder.finish_widened(longest);
    }
    let (task, node) = (task(shape, &levels), levels.node(rank));
    let is_alone = levels.fellows(rank).len() == 1;
    let sum = if is_alone { Origin::SEND } else { Origin::of(builder.scratch(vector.bytes)) };
    reduce::two_level::on_node(&mut builder, &levels, &vector, rank, sum);
    let blocks = Origin::of(builder.scratch(task.bytes(node)));
    let seat = Seat { rank_of: &|node| levels.leader(node), send: sum, recv: blocks };
    let open = builder.splice((way(&task).plan)(&task, node, false), &seat, &[]);
    // In place, the result comes to where the first node's blocks are, which may still be on their way.
    let first = Span::fixed(Buf::Send, 0, 0);
    let sent = if is_alone && in_place { builder.sends(&open, first) } else { Vec::new() };
    scatter::two_level::on_node(&mut builder, &levels, shape, (rank, false), blocks, &sent);
    builder.finish_widened(longest)
}

/// The longest blocks of nodes that are sent several times in order that there are fewer messages.
const SHORT_BYTES: u64 = 2 << 10;
