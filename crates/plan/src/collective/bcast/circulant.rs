//! Broadcast on a circulant graph: the vector in `n` blocks, of which everybody receives one in each round, and passes
//! on another.
//!
//! `n - 1 + ceil(log2 p)` rounds, the least possible, for any number of ranks: a long vector is sent once and received
//! once by each rank, with logarithmic latency. Which block goes where is found without a word, see
//! `peers/circulant.rs`. As many blocks as there are skips make a segment, whose rounds are a turn of the loop: what is
//! new in a turn comes in it, and what has been missed comes in the next one. For ranks of several nodes; on one node
//! lines do better.

use crate::build::{Builder, Origin, Seat};
use crate::peers::circulant::{self, Schedule};
use crate::peers::ring;
use crate::prices::Prices;
use crate::segment::{Segments, block};
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "circulant", admits: |shape| !shape.shares_memory(), cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    part_cost(segments(shape), shape.ranks, prices, Cost::NONE)
}

/// What [`part`] costs, with `more` to do for each block, while the next one comes: as long as ports have something to
/// do, nobody waits for what is on its way.
pub(crate) fn part_cost(segments: Segments, places: u32, prices: &Prices<'_>, more: Cost) -> Cost {
    let skips = circulant::skips(places);
    let (rounds, vector) = (skips.len() as f64 - 1.0, segments.total() as f64);
    let bytes = vector / (segments.rounds() * rounds);
    let turn: Cost = skips[..skips.len() - 1].iter().map(|&skip| prices.shift(skip, bytes)).sum();
    let core = rounds * (2.0 * prices.net_overhead() + more);
    let flow = prices.flow(turn, bytes);
    let pace = Cost { net_ns: 0.0, ..flow }.beside(Cost::net(flow.net_ns)).beside(core);
    turn + rounds * more + (segments.rounds() - 1.0 / rounds) * pace
}

/// The vector cut into turns: so many that filling the pipeline takes as long as what the rounds cost beside their
/// bytes.
pub(crate) fn segments(shape: &Shape) -> Segments {
    let rounds = u64::from(shape.ranks.next_power_of_two().ilog2());
    let turns = (shape.bytes / (rounds * ROUND_BYTES)).isqrt().max(1);
    Segments::cut(shape.bytes, shape.unit, shape.bytes.div_ceil(turns))
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let (root, ranks, segments) = (shape.root.rank(), shape.ranks, segments(shape));
    let mut builder = Builder::segmented(segments.count);
    let rank_of = |place| ring::after(root, place, ranks);
    let seat = Seat { rank_of: &rank_of, send: Origin::RECV, recv: Origin::RECV };
    builder.splice(part(segments, shape.unit, ring::before(rank, root, ranks), ranks), &seat, &[]);
    builder.finish()
}

/// What is done at `place` of `places`, of which the first has the vector. A segment is there [`DELAY`] behind the
/// front.
pub(crate) fn part(segments: Segments, unit: u32, place: u32, places: u32) -> Plan {
    let schedule = Schedule::new(place, places);
    let rounds = schedule.sends.len() as u32;
    let vector = segments.span(Buf::Recv, 0);
    let mut builder = Builder::segmented(segments.count);
    let mut arrived = vec![None; rounds as usize];
    for &(number, from) in schedule.receives.iter().flatten() {
        let (index, turns) = circulant::block_of(number, rounds);
        builder.delay(turns);
        arrived[index as usize] = Some(builder.receive(from, block(vector, unit, index, rounds), &[]));
    }
    let sends = schedule.sends.iter().flatten();
    let sends: Vec<_> = sends.map(|&(number, to)| (circulant::block_of(number, rounds), to)).collect();
    for (place, &((index, turns), to)) in sends.iter().enumerate() {
        // Who has waited for a block, in an earlier turn or step, need not wait for it again.
        let waits_before = |(other, &((of, when), _)): (usize, &((u32, u32), u32))| {
            of == index && (when, other) < (turns, place)
        };
        let has_waited = sends.iter().enumerate().any(waits_before);
        let arrived = arrived[index as usize].filter(|_| !has_waited);
        builder.delay(turns);
        builder.send(to, block(vector, unit, index, rounds), arrived.as_slice());
    }
    builder.finish()
}

/// How far behind the front a segment has come.
pub(crate) const DELAY: u32 = 1;

/// As many bytes between nodes take as long as a message that has none.
const ROUND_BYTES: u64 = 24 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Collective, Nodes};

    #[test]
    fn each_rank_receives_each_byte_once_in_one_round_more_than_the_fewest_at_most() {
        for ranks in 2..=64u32 {
            for bytes in [1, 1 << 20, 1 << 24] {
                let shape = Shape { nodes: Nodes::APART, ..Shape::of(Collective::Bcast, ranks, bytes) };
                let (turns, skips) = (segments(&shape).count, ranks.next_power_of_two().ilog2() as usize);
                for rank in 0..ranks {
                    let plan = plan(&shape, rank, false);
                    assert!(plan.iterations() <= turns + u64::from(DELAY));
                    let received = |turn| {
                        plan.steps.iter().filter_map(move |step| match step.action {
                            Action::Receive { into, .. } => Some(into.at(turn).1),
                            _ => None,
                        })
                    };
                    let of_turn = received(0).count();
                    assert_eq!(of_turn, if rank == 0 { 0 } else { skips });
                    assert!(plan.steps.len() - of_turn <= skips, "a message a round");
                    let all: u64 = (0..turns).flat_map(received).sum();
                    assert_eq!(all, if rank == 0 { 0 } else { bytes }, "{ranks} ranks");
                }
            }
        }
    }
}
