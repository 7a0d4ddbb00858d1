//! Reduce-scatter on a circulant graph: Bruck's allgather run backwards, in as few rounds for any number of ranks.
//!
//! In the round of weight `w = k^i`, the greatest first, a rank has partial sums of the blocks of the `k w` ranks from
//! its own one on, as far as there are so many, in a row. It sends those from place `j w` on, up to `w` of them, to the
//! rank as far above it, `0 < j < k`, to whom they are the first ones, and combines with its first ones what comes from
//! below. `ceil(log_k p)` rounds of up to `k - 1` messages; each rank sends `p - 1` blocks and combines as many.
//!
//! Needs a commutative operation: every block begins at another rank. For ranks of several nodes; on one node lines do
//! better.

use super::task::{Task, Way};
use crate::build::Builder;
use crate::peers::{dissemination, ring};
use crate::prices::Prices;
use crate::{Buf, Cost, Plan, Span};

pub(super) const WAY: Way = Way { name: "circulant", admits, cost: Some(cost), plan };

fn admits(task: &Task) -> bool {
    task.commutative && task.remote_ranks == 0 && !task.shares_memory()
}

fn cost(task: &Task, prices: &Prices<'_>) -> Cost {
    let (ranks, block) = (task.ranks(), task.longest());
    let round = |round: Vec<u32>| {
        let bytes = |distance: u32| (u64::from(round[0].min(ranks - distance)) * block) as f64;
        let combined: f64 = round.iter().map(|&distance| bytes(distance)).sum();
        prices.shifts(&round, &bytes) + prices.reduce(combined)
    };
    dissemination::distances(radix(task), ranks).map(round).sum::<Cost>() + prices.copy(task.total() as f64)
}

fn radix(task: &Task) -> u32 {
    dissemination::radix(task.ranks(), task.nodes.largest(task.ranks()))
}

fn plan(task: &Task, rank: u32, _in_place: bool) -> Plan {
    let ranks = task.ranks();
    let mut builder = Builder::new();
    let row = Row::new(&mut builder, task, rank);
    let rounds: Vec<_> = dissemination::distances(radix(task), ranks).collect();
    for round in rounds.into_iter().rev() {
        let count = |distance| round[0].min(ranks - distance);
        for &distance in &round {
            let sums = row.places(distance, distance + count(distance));
            if sums.bytes > 0 {
                builder.send(ring::after(rank, distance, ranks), sums, &[]);
            }
        }
        let mut arriving = Vec::new();
        for &distance in &round {
            let first = row.places(0, count(distance));
            if first.bytes > 0 {
                let operand = builder.scratch(first.bytes);
                let step = builder.receive(ring::before(rank, distance, ranks), operand, &[]);
                arriving.push((first, operand, step));
            }
        }
        for (first, operand, step) in arriving {
            builder.reduce(operand, first, first, &[step]);
        }
    }
    let result = task.result(rank);
    if result.bytes > 0 {
        builder.copy(row.places(0, 1), result, &[]);
    }
    builder.finish()
}

/// The blocks of all ranks in scratch memory, from that of the own rank on around the ring.
struct Row {
    whole: Span,
    begins: Vec<u64>,
}

impl Row {
    /// With the own operands.
    fn new(builder: &mut Builder, task: &Task, rank: u32) -> Self {
        let (ranks, whole) = (task.ranks(), builder.scratch(task.total()));
        let above = task.total() - task.begin(rank);
        for (begin, end, to) in [(task.begin(rank), task.total(), 0), (0, task.begin(rank), above)] {
            if begin < end {
                let into = Span::fixed(whole.buf, whole.offset + to, end - begin);
                builder.copy(Span::fixed(Buf::Send, begin, end - begin), into, &[]);
            }
        }
        let ends = (0..ranks).scan(0, |end, place| {
            *end += task.bytes(ring::after(rank, place, ranks));
            Some(*end)
        });
        Self { whole, begins: std::iter::once(0).chain(ends).collect() }
    }

    fn places(&self, begin: u32, end: u32) -> Span {
        let (begin, end) = (self.begins[begin as usize], self.begins[end as usize]);
        Span::fixed(self.whole.buf, self.whole.offset + begin, end - begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Nodes};

    #[test]
    fn each_rank_sends_all_blocks_but_its_own_once_in_as_few_messages_as_the_doc_says() {
        for ranks in 2..=64 {
            let task = Task::new((0..ranks).map(|_| 8), 0, 8, true, Nodes::APART);
            let messages: usize =
                dissemination::distances(radix(&task), ranks).map(|round| round.len()).sum();
            for rank in 0..ranks {
                let sent = plan(&task, rank, false).steps.into_iter().filter_map(|step| match step.action {
                    Action::Send { from, .. } => Some(from.bytes),
                    _ => None,
                });
                let sent: Vec<u64> = sent.collect();
                assert_eq!(
                    (sent.len(), sent.iter().sum()),
                    (messages, 8 * u64::from(ranks - 1)),
                    "{ranks} ranks"
                );
            }
        }
    }

    #[test]
    fn what_does_not_commute_is_refused() {
        let task = |commutative| Task::new([8, 8].into_iter(), 0, 8, commutative, Nodes::APART);
        assert_eq!([true, false].map(|commutative| admits(&task(commutative))), [true, false]);
    }
}
