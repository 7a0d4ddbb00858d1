//! Reduce-scatter: the vectors of each group combined, in the order of ranks, of which each rank of the other one
//! gets its block.
//!
//! Both groups have vectors of the same length, which each cuts into blocks for its own ranks. How the other one
//! cuts them nobody knows, so ways are judged by the whole.
//! MPI-5.0: Collective Communication, Reduce-Scatter.

use super::task::{Task, Way};
use crate::build::Builder;
use crate::collective::allreduce::between as allreduce;
use crate::collective::reduce::between as reduce;
use crate::segment::SINGLE_POST_BYTES;
use crate::{Buf, Collective, Peer, Plan, Shape, Span, Take};

/// One hop: everybody posts his vector, and combines his block of those of the other group.
pub(super) const NODE_WHOLE: Way = Way {
    name: "node-whole",
    admits: |task| task.shares_memory() && task.total() <= SINGLE_POST_BYTES,
    cost: None,
    plan: node_whole,
};

/// Two hops: as the allreduce by slices, of whose result a rank keeps its block. For vectors that are too long for one
/// post: what a rank pulls of other blocks is in vain.
pub(super) const NODE_SLICED: Way = Way {
    name: "node-sliced",
    admits: |task| {
        let vector = vector(task);
        task.total() > SINGLE_POST_BYTES && reduce::fits(&vector, reduce::sliced_segments(&vector))
    },
    cost: None,
    plan: node_sliced,
};

/// Each group combines up a binomial tree of messages to its rank 0, and gives the result to that of the other group,
/// which scatters it.
pub(super) const THROUGH_ROOTS: Way =
    Way { name: "through-roots", admits: |_| true, cost: None, plan: through_roots };

/// The allreduce of the whole vectors.
fn vector(task: &Task) -> Shape {
    let &Task { remote_ranks, unit, nodes, .. } = task;
    let total = task.total();
    Shape {
        remote_ranks,
        received: total,
        unit,
        nodes,
        ..Shape::of(Collective::Allreduce, task.ranks(), total)
    }
}

fn node_whole(task: &Task, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let line = builder.line(task.total(), 1);
    builder.post(line, Span::fixed(Buf::Send, 0, task.total()));
    let (skip, result) = (task.begin(rank), task.result(rank));
    if result.bytes > 0 {
        builder.pull(Peer::Remote(0), line, skip, result);
        for peer in 1..task.remote_ranks {
            builder.pull_reduce(Peer::Remote(peer), line, skip, result, Take::Right { left: result });
        }
    }
    builder.finish()
}

fn node_sliced(task: &Task, rank: u32, _in_place: bool) -> Plan {
    let vector = vector(task);
    let mut builder = allreduce::sliced(&vector, rank, Buf::Scratch);
    // The block moves in the first segment of a step that comes after the last one has been pulled.
    let segments = reduce::sliced_segments(&vector).count;
    builder.delay(u32::try_from(segments + 1).expect("segments are long"));
    let at_once = |span: Span| Span { stride: span.bytes, ..span };
    builder.copy(at_once(task.block(Buf::Scratch, rank)), at_once(task.result(rank)), &[]);
    builder.finish()
}

fn through_roots(task: &Task, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let result = task.result(rank);
    if let Some(combined) = reduce::combine(&mut builder, &vector(task).groups(rank), task.total()) {
        builder.send(Peer::Remote(0), combined, &[]);
        let vector = builder.scratch(task.total());
        let arrived = builder.receive(Peer::Remote(0), vector, &[]);
        let block = |rank| Span::fixed(vector.buf, vector.offset + task.begin(rank), task.bytes(rank));
        for peer in task.others(rank).filter(|&peer| task.bytes(peer) > 0) {
            builder.send(peer, block(peer), &[arrived]);
        }
        if result.bytes > 0 {
            builder.copy(block(rank), result, &[arrived]);
        }
    } else if result.bytes > 0 {
        builder.receive(0, result, &[]);
    }
    builder.finish()
}
