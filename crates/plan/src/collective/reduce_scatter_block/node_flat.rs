//! Reduce-scatter by lines: everybody posts each block on a line of its own, and combines his.
//!
//! One hop; no byte is posted that nobody reads. A rank begins with its own operand and goes down to rank 0, then
//! up to the last rank, so operands stay in order and nothing is copied first. With segments it posts segment `i`
//! and then combines segment `i - 1`. When it posts segment `s` it has combined `s - 2` of all, which had combined
//! `s - 4` before they posted that: four slots suffice. For one rank more than there are lines.

use super::task::{Task, Way};
use crate::build::Builder;
use crate::peers::ring;
use crate::prices::Prices;
use crate::segment::{Segments, Stream};
use crate::{Buf, Cost, MAX_LINES, Plan};

pub(super) const WAY: Way = Way { name: "node-flat", admits, cost: Some(cost), plan };

fn segments(task: &Task) -> Option<Segments> {
    Segments::cut_units_for_lines(task.longest(), task.unit, task.ranks().max(2) - 1)
}

fn admits(task: &Task) -> bool {
    task.shares_memory() && task.ranks() as usize <= MAX_LINES + 1 && segments(task).is_some()
}

fn cost(task: &Task, prices: &Prices<'_>) -> Cost {
    let segments = segments(task).expect("admitted");
    let segment = segments.bytes.min(task.longest()) as f64;
    let each = prices.post(segment) + prices.pull_reduce(segment);
    prices.hop_among_all() + f64::from(task.ranks() - 1) * segments.rounds() * each
}

fn plan(task: &Task, rank: u32, in_place: bool) -> Plan {
    let segments = segments(task).expect("admitted");
    let ranks = task.ranks();
    let mut builder = Builder::segmented(segments.count);
    // A rank's line `d - 1` carries its block for the rank `d` after it.
    let first = Stream::new(segments).declare_unpaced(&mut builder, ranks - 1);
    let line_between = |from, to| {
        let distance = u8::try_from(ring::before(to, from, ranks)).expect("there are few lines");
        first + distance - 1
    };
    for peer in task.others(rank) {
        builder.post(line_between(rank, peer), segments.part(Buf::Send, task.begin(peer), task.bytes(peer)));
    }
    builder.delay(1);
    task.combine(&mut builder, segments, (rank, in_place), |peer| (line_between(peer, rank), 0));
    builder.finish()
}
