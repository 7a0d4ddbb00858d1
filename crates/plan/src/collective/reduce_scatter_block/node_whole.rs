//! Reduce-scatter by one line each: everybody posts his whole vector, and combines his block of all.
//!
//! One post for any number of ranks: best while blocks are short.

use super::task::{Task, Way};
use crate::build::Builder;
use crate::machine::{HOP_NS, POST_BYTE_NS, POST_NS, PULL_NS, REDUCE_BYTE_NS};
use crate::segment::{SINGLE_POST_BYTES, Segments};
use crate::{Buf, Plan, Span};

pub(super) const WAY: Way = Way { name: "node-whole", admits, cost_ns: Some(cost_ns), plan };

fn admits(task: &Task) -> bool {
    task.shares_memory() && task.total() <= SINGLE_POST_BYTES
}

fn cost_ns(task: &Task) -> f64 {
    let post = POST_NS + task.total() as f64 * POST_BYTE_NS;
    let operand = PULL_NS + task.longest() as f64 * REDUCE_BYTE_NS;
    post + HOP_NS + f64::from(task.ranks() - 1) * operand
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
