//! Broadcast on a circulant graph: the vector in `n` blocks, of which everybody receives one in each round, and passes
//! on another.
//!
//! `n - 1 + ceil(log2 p)` rounds, the least possible, for any number of ranks: a long vector is sent once and received
//! once by each rank, with logarithmic latency. Which block goes where is found without a word, see
//! `peers/circulant.rs`. For ranks of several nodes; on one node lines do better.

use crate::build::Builder;
use crate::peers::circulant::{self, Schedule};
use crate::peers::ring;
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "circulant", admits: |shape| !shape.shares_memory(), cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let skips = circulant::skips(shape.ranks);
    let rounds = skips.len() - 1;
    let block = (shape.bytes / blocks(shape)) as f64;
    let fill: Cost = skips[..rounds].iter().map(|&skip| prices.shift(skip, block)).sum();
    // Ranks are not in step, and what is early stands in the way of others at ports.
    let in_the_way = Cost::port(CROWD * rounds as f64 * fill.port_ns);
    fill + ((blocks(shape) - 1) as f64 / rounds as f64) * (fill + in_the_way)
}

/// How many blocks the vector is cut into: so that filling the pipeline takes as long as what the rounds cost beside
/// their bytes.
fn blocks(shape: &Shape) -> u64 {
    let rounds = u64::from(shape.ranks.next_power_of_two().ilog2());
    (shape.bytes * (rounds - 1) / ROUND_BYTES).isqrt().clamp(1, MOST_BLOCKS)
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let (root, ranks, blocks) = (shape.root.rank(), shape.ranks, blocks(shape));
    let schedule = Schedule::new(ring::before(rank, root, ranks), ranks);
    let rounds = schedule.sends.len() as u64;
    let span = |block: u64| {
        let begin = |block| shape.bytes * block / blocks;
        Span::fixed(Buf::Recv, begin(block), begin(block + 1) - begin(block))
    };
    // Rounds are counted so that the last block is the first one of the last turn: in that, all are the last one.
    let skipped = (rounds - (blocks - 1) % rounds) % rounds;
    let mut builder = Builder::new();
    let mut arrived = vec![None; blocks as usize];
    for number in skipped..skipped + blocks - 1 + rounds {
        let (turn, round) = ((number / rounds * rounds) as i64, (number % rounds) as usize);
        let real =
            |block: i64| u64::try_from(turn + block - skipped as i64).ok().map(|it| it.min(blocks - 1));
        let mut came = None;
        if let Some((block, from)) = schedule.receives[round]
            && let Some(block) = real(block)
        {
            came = Some((block, builder.receive(ring::after(root, from, ranks), span(block), &[])));
        }
        if let Some((block, to)) = schedule.sends[round]
            && let Some(block) = real(block)
        {
            builder.send(
                ring::after(root, to, ranks),
                span(block),
                arrived[block as usize].take().as_slice(),
            );
        }
        if let Some((block, step)) = came {
            arrived[block as usize] = Some(step);
        }
    }
    builder.finish()
}

/// As many bytes between nodes take as long as a message that has none.
const ROUND_BYTES: u64 = 24 << 10;

/// How much longer a port is occupied for each skip, found by walks.
const CROWD: f64 = 0.2;

/// The most blocks: plans grow with them.
const MOST_BLOCKS: u64 = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Collective, Nodes};

    #[test]
    fn each_rank_receives_each_block_once_in_as_few_rounds_as_can_be() {
        for ranks in 2..=64u32 {
            for bytes in [1, 1 << 20, 1 << 24] {
                let shape = Shape { nodes: Nodes::APART, ..Shape::of(Collective::Bcast, ranks, bytes) };
                let rounds = blocks(&shape) - 1 + u64::from(ranks.next_power_of_two().ilog2());
                for rank in 0..ranks {
                    let plan = plan(&shape, rank, false);
                    let received = |step: &crate::Step| match step.action {
                        Action::Receive { into, .. } => Some(into.bytes),
                        _ => None,
                    };
                    let received: Vec<u64> = plan.steps.iter().filter_map(received).collect();
                    let sent = (plan.steps.len() - received.len()) as u64;
                    assert!(sent <= rounds, "{sent} sent in {rounds} rounds");
                    let expected = if rank == 0 { 0 } else { bytes };
                    assert_eq!(received.iter().sum::<u64>(), expected, "{ranks} ranks");
                    assert!(received.len() as u64 == if rank == 0 { 0 } else { blocks(&shape) });
                }
            }
        }
    }
}
