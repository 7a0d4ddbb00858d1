//! Allreduce on a circulant graph: the reduce-scatter there, and the same backwards as an allgather.
//!
//! The vector is cut into a block for each rank. In the round of weight `w = k^i`, the greatest first, a rank sends
//! partial sums of up to `w` blocks to those `j w` above it, `0 < j < k`, to whom they belong, and combines what comes
//! from below into the blocks from its own one on; then the results go back in the opposite order. `2 ceil(log_k p)`
//! rounds of `2 (p - 1) / p` of the vector together, the least possible, for any number of ranks: where that is no
//! power of two, halving and doubling has to fold ranks first. Träff: Optimal, Non-pipelined Reduce-scatter and
//! Allreduce Algorithms (2024).
//!
//! Needs a commutative operation: every block begins at another rank. For ranks of several nodes; on one node lines do
//! better.

use std::ops::Range;

use crate::build::Builder;
use crate::peers::{dissemination, ring};
use crate::prices::Prices;
use crate::segment::{Segments, blocks};
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "circulant",
    admits: |shape| shape.commutative && !shape.shares_memory(),
    cost: Some(cost),
    plan,
};

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let sharing = shape.nodes.largest(shape.ranks);
    part_cost(shape.bytes, shape.ranks, (1, sharing), prices) + prices.copy(shape.bytes as f64)
}

/// What [`Part::append`] costs, among ranks of which each is `stride` from the next, where `sharing` ranks of a node do
/// it at a time.
pub(crate) fn part_cost(bytes: u64, ranks: u32, (stride, sharing): (u32, u32), prices: &Prices<'_>) -> Cost {
    let block = bytes as f64 / f64::from(ranks);
    let round = |round: Vec<u32>| {
        let bytes = |distance: u32| f64::from(round[0].min(ranks - distance / stride)) * block;
        let apart: Vec<u32> = round.iter().map(|distance| distance * stride).collect();
        let combined: f64 = apart.iter().map(|&distance| bytes(distance)).sum();
        let shifts = prices.shifts(&apart, &bytes);
        2.0 * shifts + prices.reduce(combined)
    };
    dissemination::distances(dissemination::radix(ranks, sharing), ranks).map(round).sum()
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let [own, result] = [Buf::Send, Buf::Recv].map(|buf| Span::fixed(buf, 0, shape.bytes));
    if !in_place {
        builder.copy(own, result, &[]);
    }
    let radix = dissemination::radix(shape.ranks, shape.nodes.largest(shape.ranks));
    let part = Part { vector: result, segments: Segments::whole(shape.bytes), unit: shape.unit, radix };
    part.append(&mut builder, rank, shape.ranks);
    builder.finish()
}

/// What is combined.
pub(crate) struct Part {
    /// What each rank contributes, and gets the result in.
    pub(crate) vector: Span,
    /// Of which this is a part.
    pub(crate) segments: Segments,
    /// Bytes of an element.
    pub(crate) unit: u32,
    /// `k`.
    pub(crate) radix: u32,
}

impl Part {
    /// Appends the part of `rank`; returns the last messages.
    pub(crate) fn append(&self, builder: &mut Builder, rank: u32, ranks: u32) -> Vec<u32> {
        let rounds: Vec<_> = dissemination::distances(self.radix, ranks).collect();
        let own = |distance: u32, round: &[u32]| (rank, round[0].min(ranks - distance));
        let away = |distance: u32, round: &[u32]| {
            (ring::after(rank, distance, ranks), round[0].min(ranks - distance))
        };
        let mut sent = Vec::new();
        for round in rounds.iter().rev() {
            for &distance in round {
                let (peer, count) = away(distance, round);
                let spans = self.spans(peer, count, ranks);
                sent.push(spans.map(|span| builder.send(peer, span, &[])).collect::<Vec<_>>());
            }
            let mut arriving = Vec::new();
            for &distance in round {
                let (first, count) = own(distance, round);
                for span in self.spans(first, count, ranks) {
                    let operand = self.segments.operand_for(builder, span);
                    let from = ring::before(rank, distance, ranks);
                    arriving.push((span, operand, builder.receive(from, operand, &[])));
                }
            }
            for (span, operand, arrived) in arriving {
                builder.reduce(operand, span, span, &[arrived]);
            }
        }
        let mut arrived = Vec::new();
        for round in &rounds {
            for &distance in round {
                let (first, count) = own(distance, round);
                for span in self.spans(first, count, ranks) {
                    builder.send(ring::before(rank, distance, ranks), span, &std::mem::take(&mut arrived));
                }
            }
            for &distance in round.iter().rev() {
                let (peer, count) = away(distance, round);
                let sent = sent.pop().expect("what went away comes back");
                let spans = self.spans(peer, count, ranks);
                arrived.extend(spans.map(|span| builder.receive(peer, span, &sent)));
            }
        }
        arrived
    }

    /// The blocks of `count` ranks from `first` on around the ring, those that are not empty.
    fn spans(&self, first: u32, count: u32, ranks: u32) -> impl Iterator<Item = Span> {
        let end = first + count;
        let parts: [Range<u32>; 2] = [first..end.min(ranks), 0..end.saturating_sub(ranks)];
        let spans = parts.map(|part| blocks(self.vector, self.unit, part, ranks));
        spans.into_iter().filter(|span| span.bytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Collective, Nodes};

    #[test]
    fn each_rank_sends_as_little_as_possible_in_as_few_rounds_as_can_be() {
        for ranks in 2..=64u32 {
            let bytes = u64::from(ranks) * 64;
            let shape =
                Shape { nodes: Nodes::APART, unit: 8, ..Shape::of(Collective::Allreduce, ranks, bytes) };
            for rank in 0..ranks {
                let plan = plan(&shape, rank, false);
                let sent = plan.steps.iter().filter_map(|step| match step.action {
                    Action::Send { from, .. } => Some(from.bytes),
                    _ => None,
                });
                assert_eq!(sent.sum::<u64>(), 2 * 64 * u64::from(ranks - 1), "{ranks} ranks");
            }
        }
    }
}
