//! Allreduce around a ring: reduce-scatter, then allgather.
//!
//! Each rank sends `2(p - 1)` messages of `1/p` of the vector: the least possible traffic, latency linear in
//! `p`. Needs a commutative operation: every block begins at another rank.

use crate::build::Builder;
use crate::peers::ring::{after, before};
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "ring", admits: |shape| shape.commutative, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let block = (shape.bytes / u64::from(shape.ranks)) as f64;
    f64::from(shape.ranks - 1) * (2.0 * prices.ring_step(block) + prices.reduce(block))
}

/// The `index`-th of `p` blocks, which differ by one element at most and may be empty.
fn block(shape: &Shape, buf: Buf, index: u32) -> Span {
    let unit = u64::from(shape.unit.max(1));
    let elements = shape.bytes / unit;
    let ranks = u64::from(shape.ranks);
    let (each, more) = (elements / ranks, elements % ranks);
    let index = u64::from(index);
    let begin = index * each + index.min(more);
    let count = each + u64::from(index < more);
    Span::fixed(buf, begin * unit, count * unit)
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let ranks = shape.ranks;
    let (next, previous) = (after(rank, 1, ranks), before(rank, 1, ranks));
    let longest = block(shape, Buf::Recv, 0).bytes;
    let operands = [builder.scratch(longest), builder.scratch(longest)];
    // sent[b]: the send of block `b` in the first half, over before the block is received in the second.
    let mut sent = vec![None; ranks as usize];

    for round in 0..ranks - 1 {
        let out = before(rank, round, ranks);
        let source = block(shape, if round == 0 { Buf::Send } else { Buf::Recv }, out);
        if source.bytes > 0 {
            sent[out as usize] = Some(builder.send(next, source, &[]));
        }
        let into = block(shape, Buf::Recv, before(rank, round + 1, ranks));
        if into.bytes > 0 {
            let operand = Span { bytes: into.bytes, ..operands[round as usize % 2] };
            let own = Span { buf: Buf::Send, ..into };
            let arrived = builder.receive(previous, operand, &[]);
            builder.reduce(operand, own, into, &[arrived]);
        }
    }
    let mut arrived = None;
    for round in 0..ranks - 1 {
        let out = block(shape, Buf::Recv, before(rank, round, ranks).wrapping_add(1) % ranks);
        if out.bytes > 0 {
            builder.send(next, out, arrived.as_slice());
        }
        let index = before(rank, round, ranks);
        let into = block(shape, Buf::Recv, index);
        arrived = None;
        if into.bytes > 0 {
            arrived = Some(builder.receive(previous, into, sent[index as usize].as_slice()));
        }
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collective, Nodes};

    fn shape(ranks: u32, elements: u64, commutative: bool) -> Shape {
        Shape {
            unit: 8,
            commutative,
            nodes: Nodes::APART,
            ..Shape::of(Collective::Allreduce, ranks, elements * 8)
        }
    }

    #[test]
    fn ring_is_refused_for_an_ordered_operation() {
        assert!(!ALGORITHM.admits(&shape(4, 100, false)));
    }

    #[test]
    fn blocks_cover_the_vector_in_order() {
        for elements in [1, 3, 4, 5, 11, 100] {
            let shape = shape(4, elements, true);
            let mut next = 0;
            for index in 0..4 {
                let block = block(&shape, Buf::Recv, index);
                assert_eq!(block.offset, next);
                next += block.bytes;
            }
            assert_eq!(next, shape.bytes);
        }
    }
}
