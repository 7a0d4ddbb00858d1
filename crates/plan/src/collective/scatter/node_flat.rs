//! Scatter by lines: the root posts each block on a line of its own, everybody else pulls his.
//!
//! Blocks are cut into segments, so that the root's posts and the others' pulls overlap. The root does not
//! wait for readers unless there are more segments than slots, and copies its own block when it has posted. For as many
//! ranks as there are lines, one being for credit.

use crate::build::Builder;
use crate::peers::ring;
use crate::prices::Prices;
use crate::segment::{Segments, Stream};
use crate::{Algorithm, Buf, Cost, MAX_LINES, Plan, Shape};

pub(super) const ALGORITHM: Algorithm = Algorithm { name: "node-flat", admits, cost: Some(cost), plan };

fn segments(shape: &Shape) -> Option<Segments> {
    Segments::cut_for_lines(shape.bytes, shape.ranks.max(2) - 1)
}

fn admits(shape: &Shape) -> bool {
    shape.shares_memory() && shape.ranks as usize <= MAX_LINES && segments(shape).is_some()
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let segments = segments(shape).expect("admitted");
    let segment = segments.bytes.min(shape.bytes) as f64;
    let credit = if segments.count > 1 { prices.pull(0.0) } else { Cost::NONE };
    let posts = f64::from(shape.ranks - 1) * (prices.post(segment) + credit);
    let pace = (posts + prices.copy(segment)).beside(prices.pull(segment));
    posts + prices.hop() + prices.pull(segment) + (segments.rounds() - 1.0) * pace
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let stream = Stream::new(segments(shape).expect("admitted"));
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, shape.ranks - 1);
    let root = shape.root.rank();
    let line_to = |rank| {
        let distance = u8::try_from(ring::before(rank, root, shape.ranks)).expect("there are few lines");
        lines.data + distance - 1
    };
    let own = stream.segments.span(Buf::Recv, 0);
    if rank == root {
        let block_of = |rank| stream.segments.span(Buf::Send, shape.block(Buf::Send, rank).offset);
        stream.await_credit(&mut builder, lines, shape.others(root));
        for peer in shape.others(root) {
            builder.post(line_to(peer), block_of(peer));
        }
        if !in_place {
            builder.delay(stream.apart());
            builder.copy(block_of(root), own, &[]);
        }
    } else {
        stream.read(&mut builder, lines, |builder| builder.pull(root, line_to(rank), 0, own));
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Collective};

    #[test]
    fn the_root_copies_its_own_block_when_others_have_theirs() {
        for (bytes, segments_and_delays) in
            [(1 << 10, (1, 0, 0)), (512 << 10, (4, 3, 0)), (4 << 20, (32, 2, 0))]
        {
            let plan = plan(&Shape::of(Collective::Scatter, 2, bytes), 0, false);
            let copy = plan.delay_of(|action| matches!(action, Action::Copy { .. }));
            let others = plan.delay_of(|action| matches!(action, Action::Post { .. }));
            assert_eq!((plan.segments, copy, others), segments_and_delays, "{bytes} bytes");
        }
    }
}
