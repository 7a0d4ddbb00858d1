//! Reduce-scatter around a ring: a block begins behind its rank, and is combined with the operand of each rank that it
//! passes until it is there.
//!
//! `p - 1` rounds; each rank sends and combines `p - 1` blocks, as with the other algorithms of messages, but from a
//! node only the last of its ranks sends to another one: so a node of `m` ranks sends `1/m` as much as pairwise. For
//! long blocks on nodes of several ranks, whatever their map.
//!
//! Needs a commutative operation: every block begins at another rank.

use super::task::{Task, Way};
use crate::build::Builder;
use crate::peers::node_ring::NodeRing;
use crate::prices::Prices;
use crate::{Buf, Cost, Plan, Span};

pub(super) const WAY: Way = Way { name: "ring", admits, cost: Some(cost), plan };

fn admits(task: &Task) -> bool {
    task.commutative && task.remote_ranks == 0 && !task.shares_memory()
}

fn cost(task: &Task, prices: &Prices<'_>) -> Cost {
    let block = task.longest() as f64;
    f64::from(task.ranks() - 1) * (prices.along_nodes().ring_step(block) + prices.reduce(block))
}

fn plan(task: &Task, rank: u32, in_place: bool) -> Plan {
    let ranks = task.ranks();
    let ring = NodeRing::new(task.nodes, rank, ranks);
    let mut builder = Builder::new();
    let slots = [(); SLOTS].map(|()| builder.scratch(task.longest()));
    // The last send from each slot, and that from the send buffer.
    let (mut sent, mut first) = ([None; SLOTS], None);
    let mut sum = Span::EMPTY;
    for round in 0..ranks - 1 {
        let out = ring.before(round + 1);
        if task.bytes(out) > 0 {
            if round == 0 {
                first = Some(builder.send(ring.next(), task.block(Buf::Send, out), &[]));
            } else {
                sent[(round as usize - 1) % SLOTS] = Some(builder.send(ring.next(), sum, &[]));
            }
        }
        let coming = ring.before(round + 2);
        let slot = round as usize % SLOTS;
        if task.bytes(coming) > 0 {
            sum = Span::fixed(slots[slot].buf, slots[slot].offset, task.bytes(coming));
            let arrived = builder.receive(ring.before(1), sum, sent[slot].take().as_slice());
            builder.reduce(sum, task.block(Buf::Send, coming), sum, &[arrived]);
        }
    }
    if task.bytes(rank) > 0 {
        // In place, the result comes to where the first block is, or the first ones are.
        let is_covered = in_place && task.begin(ring.before(1)) < task.bytes(rank);
        builder.copy(sum, task.result(rank), first.filter(|_| is_covered).as_slice());
    }
    builder.finish()
}

/// Blocks that have come, are combined, or go on.
const SLOTS: usize = 3;
