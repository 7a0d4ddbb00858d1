//! Allreduce by recursive multiplying: in each round groups of a few ranks exchange what they have and all combine it.
//!
//! With radix 4 half as many rounds as by recursive doubling, and three messages at a time in each: for short vectors
//! where messages overlap. All of a group combine from the left, so that all compute the same expression, and blocks of
//! ranks stay in order, so any operation will do.

use super::recursive_doubling::fold_ways;
use crate::build::Builder;
use crate::peers::multiplying::{Role, radices, role};
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "recursive-multiplying", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    let bytes = shape.bytes as f64;
    let radices = radices(shape.ranks);
    let places: u32 = radices.iter().product();
    let folded = shape.ranks - places;
    let ways = fold_ways(folded, places / radices.last().copied().unwrap_or(1));
    let fold = if folded == 0 { Cost::NONE } else { ways * prices.fold(folded, bytes) };
    // Those who are the first to wait in the only round come back in it; else they do in the next one.
    let again = if radices.len() == 1 { prices.turns_again() } else { Cost::NONE };
    let mut weight = 1;
    let mut sum = fold + again;
    for radix in radices {
        let (range, farthest) = (weight * radix, weight * (radix - 1));
        let each = prices.exchange_among(range, farthest, bytes) + prices.reduce(bytes);
        // The other messages of the round leave and come one after the other.
        let another = |place: u32| prices.another_among(range, weight * place, bytes) + prices.reduce(bytes);
        sum += each + (1..radix - 1).map(another).sum();
        weight *= radix;
    }
    sum
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let own = Span::fixed(Buf::Send, 0, shape.bytes);
    let result = Span::fixed(Buf::Recv, 0, shape.bytes);
    match role(rank, shape.ranks) {
        Role::Folded { actor } => {
            let sent = Some(builder.send(actor, own, &[])).filter(|_| in_place);
            builder.receive(actor, result, sent.as_slice());
        }
        Role::Actor { folded, groups } => {
            let most = groups.iter().map(Vec::len).max().unwrap_or(1) - 1;
            let operands: Vec<_> =
                (0..most.max(folded.iter().len())).map(|_| builder.scratch(shape.bytes)).collect();
            let mut partial = own;
            if let Some(folded) = folded {
                let arrived = builder.receive(folded, operands[0], &[]);
                builder.reduce(operands[0], partial, result, &[arrived]);
                partial = result;
            }
            for group in groups {
                // What is being sent is overwritten, unless it still is what the user has given.
                let is_kept = partial == own && !in_place;
                let sent = round(&mut builder, &group, rank, partial, &operands);
                let last = combine(&mut builder, &group, rank, partial, &operands, &sent.arrived);
                let after: Vec<_> = sent.sends.into_iter().filter(|_| !is_kept).chain(last.after).collect();
                builder.reduce(last.left, last.right, result, &after);
                partial = result;
            }
            if let Some(folded) = folded {
                builder.send(folded, result, &[]);
            }
        }
    }
    builder.finish()
}

/// The messages of a round.
struct Begun {
    sends: Vec<u32>,
    /// By place in the group, but for this rank's own.
    arrived: Vec<Option<u32>>,
}

/// Appends the messages of a round: those of others come into `operands` in their order.
fn round(builder: &mut Builder, group: &[u32], rank: u32, partial: Span, operands: &[Span]) -> Begun {
    let others = || group.iter().filter(|&&peer| peer != rank);
    let mut operand = operands.iter();
    let mut receive = |&peer: &u32| {
        let mut into = || *operand.next().expect("one for each of the others");
        (peer != rank).then(|| builder.receive(peer, into(), &[]))
    };
    let arrived = group.iter().map(&mut receive).collect();
    let sends = others().map(|&peer| builder.send(peer, partial, &[])).collect();
    Begun { sends, arrived }
}

/// What is left to combine.
struct Last {
    left: Span,
    right: Span,
    after: Option<u32>,
}

/// Appends the combination of all operands of a group from the left, but for the last one.
fn combine(
    builder: &mut Builder,
    group: &[u32],
    rank: u32,
    partial: Span,
    operands: &[Span],
    arrived: &[Option<u32>],
) -> Last {
    let mut operand = operands.iter().copied();
    let mut next = |peer: u32| if peer == rank { partial } else { operand.next().expect("as many") };
    let all: Vec<_> = group.iter().map(|&peer| next(peer)).zip(arrived.iter().copied()).collect();
    let (mut left, mut before) = all[0];
    for &(right, here) in &all[1..all.len() - 1] {
        // The sum takes the place of an operand that has come, for what is being sent stays.
        let into = if left == partial { right } else { left };
        let after: Vec<_> = before.take().into_iter().chain(here).collect();
        builder.reduce(left, right, into, &after);
        left = into;
    }
    let (right, here) = all[all.len() - 1];
    let after = before.or(here);
    Last { left, right, after }
}
