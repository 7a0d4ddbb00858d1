//! Reduce on a circulant graph: the broadcast there, run backwards.
//!
//! Where a broadcast receives a block, its partial sum is sent, and where it sends one, what comes is combined, in the
//! reverse order: `n - 1 + ceil(log2 p)` rounds for `n` blocks, the least possible, for any number of ranks. A long
//! vector is sent once and combined about once by each rank. The blocks of a segment that a broadcast brings a turn
//! late set out a turn early here.
//!
//! Needs a commutative operation: blocks come from all sides. For ranks of several nodes; on one node lines do better.

use crate::build::{Builder, Origin, Seat};
use crate::collective::bcast::circulant as bcast;
use crate::peers::circulant::{self, Schedule};
use crate::peers::ring;
use crate::prices::Prices;
use crate::segment::{Segments, block};
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "circulant",
    admits: |shape| shape.commutative && !shape.shares_memory(),
    cost: Some(cost),
    plan,
};

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    part_cost(bcast::segments(shape), shape.ranks, prices)
}

/// What [`part`] costs.
pub(crate) fn part_cost(segments: Segments, places: u32, prices: &Prices<'_>) -> Cost {
    let rounds = f64::from(places.next_power_of_two().ilog2());
    let bytes = segments.total() as f64 / (segments.rounds() * rounds);
    bcast::part_cost(segments, places, prices, prices.reduce(bytes))
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let (root, ranks, segments) = (shape.root.rank(), shape.ranks, bcast::segments(shape));
    let mut builder = Builder::segmented(segments.count);
    let sum = if rank == root { Origin::RECV } else { Origin::of(builder.scratch(shape.bytes)) };
    let rank_of = |place| ring::after(root, place, ranks);
    let seat = Seat { rank_of: &rank_of, send: Origin::SEND, recv: sum };
    builder.splice(part(segments, shape.unit, ring::before(rank, root, ranks), ranks), &seat, &[]);
    builder.finish()
}

/// What is done at `place` of `places`, of which the first gets the result: what is in the send buffer is combined into
/// the receive buffer. A segment is there [`DELAY`](bcast::DELAY) behind the front.
pub(crate) fn part(segments: Segments, unit: u32, place: u32, places: u32) -> Plan {
    let schedule = Schedule::new(place, places);
    let rounds = schedule.sends.len() as u32;
    let (own, sum) = (segments.span(Buf::Send, 0), segments.span(Buf::Recv, 0));
    let mut builder = Builder::segmented(segments.count);
    let [sends, receives] = [schedule.receives, schedule.sends].map(|rounds| backwards(&rounds));
    let begin = |builder: &mut Builder, &Exchange { block: index, delay, peer }: &Exchange| {
        let operand = segments.operand_for(builder, block(sum, unit, index, rounds));
        builder.delay(delay);
        (operand, builder.receive(peer, operand, &[]))
    };
    let arriving: Vec<_> =
        receives.iter().map(|came| came.as_ref().map(|came| begin(&mut builder, came))).collect();
    for (round, (sent, came)) in sends.iter().zip(&receives).enumerate() {
        if let &Some(Exchange { block: index, delay, peer }) = sent {
            let is_combined = receives.iter().flatten().any(|came| came.block == index);
            builder.delay(delay);
            builder.send(peer, block(if is_combined { sum } else { own }, unit, index, rounds), &[]);
        }
        if let (&Some(Exchange { block: index, delay, .. }), Some((operand, arrived))) =
            (came, arriving[round])
        {
            let is_before = |(other, came): (usize, &Option<Exchange>)| {
                came.as_ref().is_some_and(|came| came.block == index && (came.delay, other) < (delay, round))
            };
            let is_combined = receives.iter().enumerate().any(is_before);
            let [own, sum] = [own, sum].map(|vector| block(vector, unit, index, rounds));
            builder.delay(delay);
            builder.reduce(if is_combined { sum } else { own }, operand, sum, &[arrived]);
        }
    }
    builder.finish()
}

/// A message of a round.
struct Exchange {
    block: u32,
    /// In which turn, seen from the one whose rounds are the first to have blocks of this segment.
    delay: u32,
    peer: u32,
}

/// What a broadcast does in each round, from the last round to the first. What it does a turn late is a turn early
/// then.
fn backwards(rounds: &[Option<(i64, u32)>]) -> Vec<Option<Exchange>> {
    let exchange = |&(number, peer): &(i64, u32)| {
        let (block, turns) = circulant::block_of(number, rounds.len() as u32);
        Exchange { block, delay: bcast::DELAY - turns, peer }
    };
    rounds.iter().rev().map(|message| message.as_ref().map(exchange)).collect()
}
