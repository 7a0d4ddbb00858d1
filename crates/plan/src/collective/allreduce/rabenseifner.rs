//! Allreduce by halving and doubling (Rabenseifner's algorithm): pairs exchange halves of what they still have to
//! combine, until each has a part of the result, and then pass these on the same way back.
//!
//! `2 log2 p` messages of together twice the vector, and a combination of the vector: the least for long ones, as the
//! ring, but with logarithmic latency. The ranks beyond a power of two are folded into neighbours. What is combined
//! comes from neighbouring ranges of ranks, so any operation will do.

use crate::build::Builder;
use crate::peers::doubling::{Role, role};
use crate::prices::Prices;
use crate::{Algorithm, Buf, Cost, Plan, Shape, Span};

pub(super) const ALGORITHM: Algorithm =
    Algorithm { name: "rabenseifner", admits: |_| true, cost: Some(cost), plan };

fn cost(shape: &Shape, prices: &Prices<'_>) -> Cost {
    part_cost(shape.bytes, shape.ranks, 1, prices)
}

/// What [`Part::append`] costs, among ranks of which each is `stride` from the next.
pub(crate) fn part_cost(bytes: u64, ranks: u32, stride: u32, prices: &Prices<'_>) -> Cost {
    let bytes = bytes as f64;
    let places = 1 << ranks.ilog2();
    // Where some are folded, actors are up to two ranks from each other.
    let (folds, apart) = if places == ranks { (0.0, stride) } else { (1.0, 2 * stride) };
    let fold = 2.0 * prices.exchange(stride, bytes) + prices.reduce(bytes);
    let round = |distance: u32| {
        let half = bytes / (2.0 * f64::from(distance));
        2.0 * prices.exchange(distance * apart, half) + prices.reduce(half)
    };
    folds * fold + prices.doubling(places, round)
}

fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let own = Span::fixed(Buf::Send, 0, shape.bytes);
    let result = Span::fixed(Buf::Recv, 0, shape.bytes);
    let operand = builder.scratch(shape.bytes);
    let part = Part { own, result, operand, unit: shape.unit, in_place };
    part.append(&mut builder, rank, shape.ranks);
    builder.finish()
}

/// What is combined where.
pub(crate) struct Part {
    /// What this rank contributes, in each segment.
    pub(crate) own: Span,
    /// Where the result goes.
    pub(crate) result: Span,
    /// As much memory.
    pub(crate) operand: Span,
    /// Bytes of an element.
    pub(crate) unit: u32,
    /// Whether the result goes to where the contribution is.
    pub(crate) in_place: bool,
}

/// A round: with whom, the half that is kept and that which is given away, and the message that gives it.
struct Round {
    peer: u32,
    kept: Half,
    given: Half,
    sent: Option<u32>,
}

#[derive(Clone, Copy)]
struct Half {
    begin: u64,
    bytes: u64,
}

impl Half {
    fn of(self, span: Span) -> Span {
        span.part(self.begin, self.bytes)
    }

    /// The lower and the higher half.
    fn halves(self, unit: u64) -> [Self; 2] {
        let lower = self.bytes / unit / 2 * unit;
        [Self { bytes: lower, ..self }, Self { begin: self.begin + lower, bytes: self.bytes - lower }]
    }
}

impl Part {
    /// Appends the part of `rank`.
    pub(crate) fn append(&self, builder: &mut Builder, rank: u32, ranks: u32) {
        match role(rank, ranks) {
            Role::Folded { actor } => {
                let sent = builder.send(actor, self.own, &[]);
                let after = if self.in_place { &[sent][..] } else { &[] };
                builder.receive(actor, self.result, after);
            }
            Role::Actor { folded, peers } => {
                if let Some(folded) = folded {
                    let arrived = builder.receive(folded, self.operand, &[]);
                    builder.reduce(self.operand, self.own, self.result, &[arrived]);
                }
                let rounds = self.combine(builder, rank, folded.is_some(), &peers);
                let arrived = self.pass_on(builder, rounds);
                if let Some(folded) = folded {
                    builder.send(folded, self.result, arrived.as_slice());
                }
            }
        }
    }

    /// In each round, combines half of what the round before has left to combine.
    fn combine(&self, builder: &mut Builder, rank: u32, is_in_result: bool, peers: &[u32]) -> Vec<Round> {
        let mut left = Half { begin: 0, bytes: self.own.bytes };
        let mut partial = if is_in_result { self.result } else { self.own };
        let mut rounds = Vec::new();
        for &peer in peers {
            let [lower, higher] = left.halves(u64::from(self.unit.max(1)));
            let (kept, given) = if rank < peer { (lower, higher) } else { (higher, lower) };
            let sent = (given.bytes > 0).then(|| builder.send(peer, given.of(partial), &[]));
            if kept.bytes > 0 {
                let (own, operand) = (kept.of(partial), kept.of(self.operand));
                let arrived = builder.receive(peer, operand, &[]);
                let (left, right) = if peer < rank { (operand, own) } else { (own, operand) };
                builder.reduce(left, right, kept.of(self.result), &[arrived]);
            }
            // What has been sent from elsewhere is not overwritten.
            let is_read = partial == self.result || self.in_place;
            rounds.push(Round { peer, kept, given, sent: sent.filter(|_| is_read) });
            partial = self.result;
            left = kept;
        }
        rounds
    }

    /// In each round, gets what the peer has of the result for what this rank has; returns the last message.
    fn pass_on(&self, builder: &mut Builder, rounds: Vec<Round>) -> Option<u32> {
        let mut arrived: Option<u32> = None;
        for Round { peer, kept, given, sent } in rounds.into_iter().rev() {
            if kept.bytes > 0 {
                builder.send(peer, kept.of(self.result), arrived.as_slice());
            }
            if given.bytes > 0 {
                arrived = Some(builder.receive(peer, given.of(self.result), sent.as_slice()));
            }
        }
        arrived
    }
}
