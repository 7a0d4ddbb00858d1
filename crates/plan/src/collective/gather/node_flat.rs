//! Gather by lines: everybody posts, the root pulls.
//!
//! One hop; others run ahead of the root by as many segments as there are slots. Meanwhile the root copies its own
//! block: where the root takes turns, it would else have posted in the call before while they wait for that.

use crate::build::Builder;
use crate::prices::Prices;
use crate::segment::Stream;
use crate::{Algorithm, Buf, Cost, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm {
    name: "node-flat",
    admits: |shape| shape.shares_memory(),
    cost: Some(|shape, prices| part_cost(Stream::of_all(shape), shape, prices)),
    plan: |shape, rank, in_place| part(Stream::of_all(shape), shape, rank, in_place),
};

/// As a part of a plan.
pub(crate) fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    part_cost(Stream::of(shape), shape, prices)
}

pub(crate) fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    part(Stream::of(shape), shape, rank, in_place)
}

fn part_cost(stream: Stream, shape: &Shape, prices: &Prices<'_>) -> Cost {
    let segments = stream.segments;
    let segment = segments.bytes.min(shape.bytes) as f64;
    let root = prices.of_workers(1);
    let blocks = f64::from(shape.ranks - 1) * root.pull(segment) + root.copy(segment);
    prices.post(segment) + prices.hop() + segments.rounds() * blocks
}

fn part(stream: Stream, shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, 1);
    let root = shape.root.rank();
    let own = stream.segments.span(Buf::Send, 0);
    if rank == root {
        let block_of = |rank| stream.segments.span(Buf::Recv, shape.block(Buf::Recv, rank).offset);
        if !in_place {
            builder.copy(own, block_of(root), &[]);
        }
        stream.read_behind(stream.apart(), &mut builder, lines, |builder| {
            for peer in shape.others(root) {
                builder.pull(peer, lines.data, 0, block_of(peer));
            }
        });
    } else {
        stream.await_credit(&mut builder, lines, std::iter::once(root));
        builder.post(lines.data, own);
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Collective};

    #[test]
    fn the_root_copies_its_own_block_before_it_waits_for_others() {
        for (bytes, segments_and_delays) in
            [(1 << 10, (1, 0, 0)), (512 << 10, (4, 0, 3)), (4 << 20, (16, 0, 2))]
        {
            let plan = plan(&Shape::of(Collective::Gather, 2, bytes), 0, false);
            let copy = plan.delay_of(|action| matches!(action, Action::Copy { .. }));
            let others = plan.delay_of(|action| matches!(action, Action::Pull { .. }));
            assert_eq!((plan.segments, copy, others), segments_and_delays, "{bytes} bytes");
        }
    }
}
