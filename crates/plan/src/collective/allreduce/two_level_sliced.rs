//! Allreduce over two levels, for long vectors: the ranks of each node combine slices for one of them, these leaders do
//! an allreduce on a circulant graph, and post the result.
//!
//! A node sends and receives about two vectors, as a rank does where each has a node of its own, and its leader
//! combines about two. Segments overlap the levels. Needs a commutative operation, as the circulant graph does; any map
//! will do.
//!
//! In iteration `i` fellows pull the result of segment `i - 3`. When the leader posts that of `s`, it has pulled what
//! its fellows have combined of `s`, which they posted after they had pulled the result of `s - 3`: four slots suffice.

use crate::build::{Builder, Origin, Seat};
use crate::collective::allreduce::circulant;
use crate::collective::reduce::node_sliced;
use crate::collective::reduce::two_level_sliced::{admits, cost_on_node, on_node};
use crate::peers::dissemination;
use crate::peers::levels::Levels;
use crate::prices::Prices;
use crate::segment::Stream;
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "two-level-sliced", admits, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(shape);
    let (ranks, nodes) = (levels.largest(), levels.count());
    let segments = Stream::of(shape).segments;
    let (node, leaders) = (prices.of_node(ranks), prices.of_leaders(nodes));
    let between = segments.rounds() * circulant::part_cost(segments.bytes, nodes, (1, 1), &leaders);
    let bytes = segments.bytes as f64;
    let read = node.readers(ranks - 1, bytes) + node.pull(bytes);
    let results = node.hop() + segments.rounds() * (node.post(bytes) + read);
    // Leaders do one after the other, and wait for those who do the same. Only who is alone on its node sends what it
    // has of a segment while a leader combines one, in the first round.
    let work = segments.rounds() * node.post(bytes) + cost_on_node(shape, segments, &node, ranks);
    let others_are_alone = ranks + nodes - 1 == shape.ranks;
    let rounds = dissemination::distances(dissemination::radix(nodes, 1), nodes).count();
    let leader = if others_are_alone && rounds == 1 {
        Cost::port(between.port_ns).overlapping(Cost { port_ns: 0.0, ..between } + work, segments.rounds())
    } else {
        between + work
    };
    leader.beside(results) + (1.0 / segments.rounds()) * read
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let levels = Levels::of(shape);
    let segments = Stream::of(shape).segments;
    let mut builder = Builder::segmented(segments.count);
    let result = segments.span(Buf::Recv, 0);
    let is_alone = levels.fellows(rank).len() == 1;
    on_node(&mut builder, &levels, shape, segments, rank, Origin::RECV);
    builder.delay(node_sliced::DELAY);
    let results = (!is_alone).then(|| builder.line(segments.bytes, Stream::DEPTH));
    if levels.leads(rank) {
        let nodes = levels.count();
        if is_alone && !in_place {
            builder.copy(segments.span(Buf::Send, 0), result, &[]);
        }
        let mut exchange = Builder::segmented(segments.count);
        let radix = dissemination::radix(nodes, 1);
        let part = circulant::Part { vector: result, segments, unit: shape.unit, radix };
        part.append(&mut exchange, levels.node(rank), nodes);
        let seat = Seat { rank_of: &|node| levels.leader(node), send: Origin::SEND, recv: Origin::RECV };
        let open = builder.splice(exchange.finish(), &seat, &[]);
        let arrived = builder.receives(&open);
        if let Some(line) = results {
            builder.post_after(line, result, &arrived);
        }
    } else if let Some(line) = results {
        builder.delay(node_sliced::DELAY + 1);
        builder.pull(levels.leader(levels.node(rank)), line, 0, result);
    }
    builder.finish()
}
