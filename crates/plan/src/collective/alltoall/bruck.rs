//! Alltoall by digits (Bruck's algorithm): a block goes to the rank `j` after its own one in as many steps as `j` has
//! nonzero digits to base `k`.
//!
//! `(k - 1) log_k p` messages instead of `p - 1`; each byte is sent `log_k p` times, and copied before and after: for
//! short blocks. In a round all blocks with the same digit at the same place go to the rank as far away as that says.

use crate::build::Builder;
use crate::peers::ring;
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "bruck", admits: |shape| shape.total_bytes() <= LONGEST_BYTES, cost: Some(cost), plan };

fn radix(shape: &Shape) -> u32 {
    if shape.bytes <= 32 { 2 } else { 4 }
}

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let radix = radix(shape);
    let total = shape.total_bytes() as f64;
    let share = total / f64::from(radix);
    let rounds = prices.levels(radix, shape.ranks, |weight| {
        let farthest = ((shape.ranks - 1) / weight).min(radix - 1);
        let digits = f64::from(farthest);
        let another = prices.another_sent(weight, share) + prices.another_received(weight, share);
        // All ranks of a node send at the same time.
        let another = another.beside(prices.shift_port(weight, share));
        // While some are on their way, what others bring or take is copied.
        let others = ((digits - 1.0) * another).beside(2.0 * digits * prices.copy(share));
        let distances: Vec<u32> = (1..=farthest).map(|digit| digit * weight).collect();
        let first =
            if radix == 2 { prices.shift(weight, share) } else { prices.shift_by_digit(&distances, share) };
        first + others
    });
    rounds + prices.turns_again() + 2.0 * prices.copy(total)
}

/// The blocks of `ranks` whose number has this digit at the place of this weight: where runs of them begin and end.
fn runs(digit: u32, weight: u32, radix: u32, ranks: u32) -> impl Iterator<Item = (u32, u32)> {
    let all = u64::from(ranks);
    let (weight, radix, digit) = (u64::from(weight), u64::from(radix), u64::from(digit));
    let begins = (0..).map(move |turn| (turn * radix + digit) * weight).take_while(move |&begin| begin < all);
    begins.map(move |begin| (begin as u32, (begin + weight).min(all) as u32))
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let (ranks, radix) = (shape.ranks, radix(shape));
    let mut builder = Builder::new();
    let blocks = builder.scratch(shape.total_bytes());
    let part = |whole: Span, begin: u32, end: u32| {
        whole.part(u64::from(begin) * shape.bytes, u64::from(end - begin) * shape.bytes)
    };
    // Block `j` is for the rank `j` after this one, and in the end from the rank `j` before it.
    let user = |buf| Span::fixed(buf, 0, shape.total_bytes());
    // In place, the own block stays where it is.
    let first = u32::from(in_place);
    for (begin, end, to) in [(rank + first, ranks, first), (0, rank, ranks - rank)] {
        if begin < end {
            builder.copy(part(user(Buf::Send), begin, end), part(blocks, to, to + end - begin), &[]);
        }
    }
    let weights = std::iter::successors(Some(1u32), |weight| weight.checked_mul(radix));
    for weight in weights.take_while(|&weight| weight < ranks) {
        let mut arriving = Vec::new();
        for digit in (1..radix).take_while(|digit| u64::from(*digit) * u64::from(weight) < u64::from(ranks)) {
            let count: u32 = runs(digit, weight, radix, ranks).map(|(begin, end)| end - begin).sum();
            let [sent, received] = [0; 2].map(|_| builder.scratch(u64::from(count) * shape.bytes));
            let mut packed = 0;
            for (begin, end) in runs(digit, weight, radix, ranks) {
                builder.copy(part(blocks, begin, end), part(sent, packed, packed + end - begin), &[]);
                packed += end - begin;
            }
            let distance = digit * weight;
            builder.send(ring::after(rank, distance, ranks), sent, &[]);
            let arrived = builder.receive(ring::before(rank, distance, ranks), received, &[]);
            arriving.push((digit, received, arrived));
        }
        for (digit, received, arrived) in arriving {
            let mut after = vec![arrived];
            let mut taken = 0;
            for (begin, end) in runs(digit, weight, radix, ranks) {
                let from = part(received, taken, taken + end - begin);
                builder.copy(from, part(blocks, begin, end), &std::mem::take(&mut after));
                taken += end - begin;
            }
        }
    }
    for distance in first..ranks {
        let from = ring::before(rank, distance, ranks);
        builder.copy(part(blocks, distance, distance + 1), shape.block(Buf::Recv, from), &[]);
    }
    builder.finish()
}

/// The longest buffers for which copies are worth fewer messages.
const LONGEST_BYTES: u64 = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_has_one_digit_at_each_place() {
        for (radix, ranks) in [(2, 7), (3, 20), (4, 64), (5, 1)] {
            let mut weight = 1;
            while weight < ranks {
                let all = (0..radix).flat_map(|digit| runs(digit, weight, radix, ranks));
                let mut blocks: Vec<u32> = all.flat_map(|(begin, end)| begin..end).collect();
                blocks.sort_unstable();
                assert!(blocks.into_iter().eq(0..ranks), "base {radix}, place {weight}");
                weight *= radix;
            }
        }
    }
}
