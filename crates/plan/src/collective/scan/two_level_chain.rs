//! Scan over two levels of chains, for long vectors: along the ranks of each node by lines, along the last ranks of the
//! nodes by messages, and what comes before a node is posted for its ranks.
//!
//! A rank passes over the vector about three times, however many there are, and a node sends it once; segments overlap
//! the ranks of a chain, the nodes, and the ways up and down. A node whose ranks are not consecutive counts as several.
//!
//! What comes from above is combined so many segments behind the front as the chain of the node is long: while that is
//! on its way through the nodes, ranks go on with the chain.

use crate::build::{Builder, Origin, Seat};
use crate::peers::levels::Levels;
use crate::prices::Prices;
use crate::segment::{SLOT_BUDGET_BYTES, Segments, Stream};
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span, Take};

pub(crate) const ALGORITHM: Algorithm = Algorithm {
    name: "two-level-chain",
    admits,
    cost: Some(cost),
    plan: |shape, rank, in_place| Chains::new(shape, rank, in_place, false).plan(),
};

/// So many segments that filling both chains takes as long as what each of them costs beside its bytes: who posts for a
/// node waits for all of its readers.
fn stream(shape: &Shape, levels: &Levels) -> Stream {
    let (ranks, nodes) = (u64::from(levels.largest()), u64::from(levels.count()));
    let count = ((ranks + nodes) * shape.bytes / (ACTION_BYTES * (ranks + MORE_ACTIONS))).isqrt().max(1);
    let target = (shape.bytes / count).clamp(SHORTEST_BYTES, LONGEST_BYTES);
    Stream::new(Segments::cut(shape.bytes, shape.unit, target))
}

pub(crate) fn admits(shape: &Shape) -> bool {
    Levels::are_two(shape) && {
        let segments = stream(shape, &Levels::of(shape)).segments;
        segments.count > 1 && segments.bytes * u64::from(Stream::DEPTH) <= SLOT_BUDGET_BYTES
    }
}

pub(crate) fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let levels = Levels::of(shape);
    let segments = stream(shape, &levels).segments;
    let (ranks, nodes) = (levels.largest(), levels.count());
    let (node, leaders) = (prices.of_node(ranks), prices.of_leaders(nodes));
    let bytes = segments.bytes as f64;
    let up = node.post(bytes) + node.pull_reduce(bytes);
    let across = leaders.message(1, bytes) + leaders.reduce(bytes);
    let read = node.readers(ranks - 1, bytes) + node.pull_reduce(bytes);
    let fill = f64::from(ranks - 1) * (node.hop_of_chain() + up) + f64::from(nodes - 1) * across;
    // Of a rank in the middle, the last one of a node, and the ports.
    let last =
        up + leaders.reduce(bytes) + 2.0 * leaders.net_overhead() + f64::from(ranks - 1) * node.pull(0.0);
    let pace = (up + read).beside(last).beside(Cost::port(leaders.passage_ns(bytes)));
    fill + node.post(bytes) + node.hop() + read + (segments.rounds() - 1.0) * pace
}

/// The part of a rank, in the making.
pub(crate) struct Chains {
    builder: Builder,
    levels: Levels,
    stream: Stream,
    rank: u32,
    in_place: bool,
    /// Whether the result lacks the own vector.
    is_exclusive: bool,
    own: Span,
    result: Span,
}

impl Chains {
    pub(crate) fn new(shape: &Shape, rank: u32, in_place: bool, is_exclusive: bool) -> Self {
        let levels = Levels::of(shape);
        let stream = stream(shape, &levels);
        let [own, result] = [Buf::Send, Buf::Recv].map(|buf| stream.segments.span(buf, 0));
        let builder = Builder::segmented(stream.segments.count);
        Self { builder, levels, stream, rank, in_place, is_exclusive, own, result }
    }

    pub(crate) fn plan(mut self) -> Plan {
        let ranks = self.levels.fellows(self.rank).len() as u32;
        let through = if ranks > 1 { self.along_node(ranks) } else { self.own };
        let last = self.last_of(self.levels.node(self.rank));
        let before = if self.rank == last { self.along_nodes(through, ranks) } else { Span::EMPTY };
        if ranks > 1 {
            let behind = self.stream.segments.count.min(u64::from(ranks) * PER_RANK) as u32;
            self.builder.delay(self.stream.lag() + behind);
            let part = self.down(last);
            let seat = Seat { rank_of: &|rank| rank, send: Origin::of(before), recv: Origin::RECV };
            self.builder.splice(part, &seat, &[]);
        }
        self.builder.finish()
    }

    fn last_of(&self, node: u32) -> u32 {
        self.levels.members(node).next_back().expect("no node is empty")
    }

    /// As much memory as the vector has.
    fn vector(&mut self) -> Span {
        let memory = self.builder.scratch(self.stream.segments.total());
        self.stream.segments.span(memory.buf, memory.offset)
    }

    /// The chain of the node: the result, as far as it is of the node, and what the node has up to this rank.
    fn along_node(&mut self, ranks: u32) -> Span {
        let (fellows, place) = (self.levels.fellows(self.rank), self.levels.place(self.rank));
        let (own, result, is_exclusive) = (self.own, self.result, self.is_exclusive);
        let stream = self.stream;
        let lines = stream.declare(&mut self.builder, 1);
        if place == 0 {
            stream.await_credit(&mut self.builder, lines, std::iter::once(fellows.at(1)));
            self.builder.post(lines.data, own);
            if !is_exclusive && !self.in_place {
                self.builder.copy(own, result, &[]);
            }
            return own;
        }
        let through = if is_exclusive { self.vector() } else { result };
        let (before, is_last) = (fellows.at(place - 1), place + 1 == ranks);
        let pass = |builder: &mut Builder| {
            builder.pull_reduce(before, lines.data, 0, through, Take::Left { right: own });
            if !is_last {
                builder.post(lines.data, through);
            }
            if is_exclusive {
                // In place, this overwrites the own vector.
                builder.pull(before, lines.data, 0, result);
            }
        };
        if is_last {
            stream.read(&mut self.builder, lines, pass);
        } else {
            stream.pass_on(&mut self.builder, lines, std::iter::once(fellows.at(place + 1)), pass);
        }
        through
    }

    /// The chain of the last ranks of the nodes, of which this is one: its result, and what comes before its node.
    fn along_nodes(&mut self, through: Span, ranks: u32) -> Span {
        let (node, nodes) = (self.levels.node(self.rank), self.levels.count());
        let next = (node + 1 < nodes).then(|| self.last_of(node + 1));
        if node == 0 {
            self.builder.delay(self.stream.lag());
            next.into_iter().for_each(|next| {
                self.builder.send(next, through, &[]);
            });
            if ranks == 1 && !self.is_exclusive && !self.in_place {
                self.builder.copy(self.own, self.result, &[]);
            }
            return Span::EMPTY;
        }
        let before = self.vector();
        self.builder.delay(0);
        let arrived = self.builder.receive(self.last_of(node - 1), before, &[]);
        if !self.is_exclusive {
            self.builder.delay(self.stream.lag());
            self.builder.reduce(before, through, self.result, &[arrived]);
            next.into_iter().for_each(|next| {
                self.builder.send(next, self.result, &[]);
            });
            return before;
        }
        if let Some(next) = next {
            let sum = if ranks > 1 { through } else { self.vector() };
            self.builder.delay(self.stream.lag());
            self.builder.reduce(before, through, sum, &[arrived]);
            self.builder.send(next, sum, &[]);
        }
        // Who passes something on has waited.
        let arrived = next.is_none().then_some(arrived);
        self.builder.delay(self.stream.lag());
        if ranks > 1 {
            self.builder.reduce(before, self.result, self.result, arrived.as_slice());
        } else {
            self.builder.copy(before, self.result, arrived.as_slice());
        }
        before
    }

    /// What comes before the node, from its `last` rank to the others.
    fn down(&self, last: u32) -> Plan {
        let mut builder = Builder::segmented(self.stream.segments.count);
        // Ranges of one node have the same lines, though nothing comes before the first one.
        let lines = self.stream.declare(&mut builder, 1);
        if self.levels.node(self.rank) == 0 {
            return builder.finish();
        }
        let (result, rank) = (self.result, self.rank);
        if rank == last {
            let readers = self.levels.fellows(rank).filter(|&fellow| fellow != rank);
            self.stream.await_credit(&mut builder, lines, readers);
            builder.post(lines.data, self.own);
        } else if self.is_exclusive && self.levels.place(rank) == 0 {
            self.stream.read(&mut builder, lines, |builder| builder.pull(last, lines.data, 0, result));
        } else {
            self.stream.read(&mut builder, lines, |builder| {
                builder.pull_reduce(last, lines.data, 0, result, Take::Left { right: result });
            });
        }
        builder.finish()
    }
}

/// As many bytes are combined in the time of an action.
const ACTION_BYTES: u64 = 768;

/// What a segment costs beside an action for each reader.
const MORE_ACTIONS: u64 = 8;

/// Segments shorter than this cost more in hand-overs than they save in waiting.
const SHORTEST_BYTES: u64 = 2 << 10;

/// The longest segments of which four fit into slots.
const LONGEST_BYTES: u64 = 128 << 10;

/// Segments that a rank may be ahead of the next one.
const PER_RANK: u64 = 4;
