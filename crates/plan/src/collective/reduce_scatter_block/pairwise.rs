//! Reduce-scatter by messages: in round `k` a rank sends its block to the one `k` after it, and receives its own
//! from the one `k` before it.
//!
//! `p - 1` messages, a few of them under way at a time. What comes from lower ranks is combined with the own operand
//! downwards; what comes from higher ranks after that is combined by itself, if the order matters, and joins at the
//! end. In place, the result waits in scratch memory until all has been sent.

use super::task::{Task, Way};
use crate::build::Builder;
use crate::peers::ring::{after, before};
use crate::prices::Prices;
use crate::{Buf, Cost, Plan, Span};

pub(super) const WAY: Way = Way { name: "pairwise", admits: |_| true, cost: Some(cost), plan };

fn cost(task: &Task, prices: &Prices<'_>) -> Cost {
    let block = task.longest() as f64;
    prices.all_others(task.ranks(), WINDOW as f64, block, prices.reduce(block))
}

fn plan(task: &Task, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let ranks = task.ranks();
    let result = task.result(rank);
    let sum = if in_place { builder.scratch(result.bytes) } else { result };
    let mut combination = Combination::new(&mut builder, task, rank, sum);
    let mut sent = Vec::new();
    for round in 1..ranks {
        let to = after(rank, round, ranks);
        if task.bytes(to) > 0 {
            let earlier = sent.len().checked_sub(WINDOW).map(|index: usize| sent[index]);
            sent.push(builder.send(to, task.block(Buf::Send, to), earlier.as_slice()));
        }
        if result.bytes > 0 {
            combination.receive(&mut builder, before(rank, round, ranks));
        }
    }
    combination.finish(&mut builder);
    if in_place {
        builder.copy(sum, result, &sent);
    }
    builder.finish()
}

/// The block of a rank as far as it has been combined, and what is on its way.
struct Combination {
    rank: u32,
    sum: Span,
    /// Where the combination of this rank and those below is, so far.
    lower: Span,
    /// Where that of the ranks above goes, and is if there is any.
    upper: Span,
    has_upper: bool,
    /// Whether what comes from above need not wait for the end.
    commutative: bool,
    operands: Vec<Span>,
    /// From whom, where, and by which step.
    arriving: Vec<(u32, Span, u32)>,
}

impl Combination {
    /// The own operand of `rank`, to be combined into `sum`.
    fn new(builder: &mut Builder, task: &Task, rank: u32, sum: Span) -> Self {
        let under_way = (task.ranks() as usize - 1).min(WINDOW);
        let needs_upper = !task.commutative && rank < task.ranks() - 1;
        Self {
            rank,
            sum,
            lower: task.block(Buf::Send, rank),
            upper: if needs_upper { builder.scratch(sum.bytes) } else { Span::EMPTY },
            has_upper: false,
            commutative: task.commutative,
            operands: (0..under_way).map(|_| builder.scratch(sum.bytes)).collect(),
            arriving: Vec::new(),
        }
    }

    /// Begins to receive what `peer` sends, when there is room.
    fn receive(&mut self, builder: &mut Builder, peer: u32) {
        if self.operands.is_empty() {
            self.combine_first(builder);
        }
        let operand = self.operands.pop().expect("there is one, or one has just been combined");
        self.arriving.push((peer, operand, builder.receive(peer, operand, &[])));
    }

    fn combine_first(&mut self, builder: &mut Builder) {
        let (peer, operand, step) = self.arriving.remove(0);
        if peer < self.rank || self.commutative {
            builder.reduce(operand, self.lower, self.sum, &[step]);
            self.lower = self.sum;
        } else if self.has_upper {
            builder.reduce(operand, self.upper, self.upper, &[step]);
        } else {
            builder.copy(operand, self.upper, &[step]);
            self.has_upper = true;
        }
        self.operands.push(operand);
    }

    /// Combines all that is on its way.
    fn finish(&mut self, builder: &mut Builder) {
        while !self.arriving.is_empty() {
            self.combine_first(builder);
        }
        if self.has_upper {
            builder.reduce(self.lower, self.upper, self.sum, &[]);
        }
    }
}

/// Messages under way at a time, in either direction.
const WINDOW: usize = 4;
