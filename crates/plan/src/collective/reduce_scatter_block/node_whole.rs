//! Reduce-scatter by one line each: everybody posts his whole vector, and combines his block of all.
//!
//! One post for any number of ranks: best while blocks are short.

use super::task::{Task, Way};
use crate::build::Builder;
use crate::prices::Prices;
use crate::segment::{SINGLE_POST_BYTES, Segments};
use crate::{Buf, Cost, Plan, Span};

pub(super) const WAY: Way = Way { name: "node-whole", admits, cost: Some(cost), plan };

fn admits(task: &Task) -> bool {
    task.shares_memory() && task.total() <= SINGLE_POST_BYTES
}

fn cost(task: &Task, prices: &Prices<'_>) -> Cost {
    let operands = f64::from(task.ranks() - 1) * prices.pull_reduce(task.longest() as f64);
    prices.post(task.total() as f64) + prices.hop_among_all() + operands
}

fn plan(task: &Task, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let line = builder.line(task.total(), 1);
    builder.post(line, Span::fixed(Buf::Send, 0, task.total()));
    let bytes = task.bytes(rank);
    if bytes > 0 {
        let whole = Segments::cut(bytes, task.unit, bytes);
        task.combine(&mut builder, whole, (rank, in_place), |_| (line, task.begin(rank)));
    }
    builder.finish()
}
