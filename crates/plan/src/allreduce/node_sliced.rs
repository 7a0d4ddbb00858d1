//! Allreduce by slices of lines: each rank combines its slice for all, and pulls the other slices.
//!
//! Of each segment a rank owns `1/p`. It posts the slices below and those above its own (and so copies no
//! byte that nobody reads), combines its slice straight from the peers' lines, posts the result, and pulls
//! the peers' results. Per rank `(p-1)/p` of the vector is posted, combined and pulled once, and `1/p`
//! posted again: the least work of all, for two hops.
//!
//! In iteration `i` a rank posts slices of segment `i`, combines segment `i - 1` and pulls the results of
//! segment `i - 2`. So a peer may be late by two thirds of an iteration before anybody waits for it. When a
//! rank posts segment `s`, it has pulled the results of segment `s - 3`, which the peers posted after they
//! combined it; and when it posts a result of segment `s`, peers have posted slices of `s`, and so have
//! pulled results of `s - 3`: three slots suffice on every line.

use std::ops::Range;

use crate::build::Builder;
use crate::machine::{HOP_NS, POST_BYTE_NS, POST_NS, PULL_BYTE_NS, PULL_NS, REDUCE_BYTE_NS};
use crate::segment::{SLOT_BUDGET_BYTES, grain_bytes};
use crate::{Algorithm, Buf, Plan, Shape, Span};

pub(crate) const ALGORITHM: Algorithm = Algorithm { name: "node-sliced", admits, cost_ns, plan };

/// How the vector is cut.
struct Cut {
    segments: u64,
    slice_bytes: u64,
    total: u64,
    ranks: u32,
}

impl Cut {
    fn new(shape: &Shape) -> Self {
        let ranks = u64::from(shape.ranks);
        let grain = grain_bytes(shape.unit);
        let longest = slice_limit_bytes(shape.ranks) / grain * grain;
        let segments = shape.bytes.div_ceil(ranks * longest.max(grain)).max(1);
        let slice_bytes = shape.bytes.div_ceil(ranks * segments).max(1).next_multiple_of(grain);
        let segments = shape.bytes.div_ceil(ranks * slice_bytes).max(1);
        Self { segments, slice_bytes, total: shape.bytes, ranks: shape.ranks }
    }

    /// The slice that `owner` combines.
    fn slice(&self, buf: Buf, owner: u32) -> Span {
        self.slices(buf, owner..owner + 1)
    }

    /// The slices that consecutive ranks combine.
    fn slices(&self, buf: Buf, owners: Range<u32>) -> Span {
        Span {
            buf,
            offset: u64::from(owners.start) * self.slice_bytes,
            bytes: u64::from(owners.end - owners.start) * self.slice_bytes,
            stride: u64::from(self.ranks) * self.slice_bytes,
            end: self.total,
        }
    }
}

/// The longest slice with which the slots that a rank fills keep within their budget.
fn slice_limit_bytes(ranks: u32) -> u64 {
    (SLOT_BUDGET_BYTES / (u64::from(ranks) * u64::from(DEPTH))).min(SLICE_MAX_BYTES)
}

fn admits(shape: &Shape) -> bool {
    let limit = slice_limit_bytes(shape.ranks);
    shape.node && limit >= SLICE_MIN_BYTES.max(grain_bytes(shape.unit))
}

fn cost_ns(shape: &Shape) -> f64 {
    let cut = Cut::new(shape);
    let peers = f64::from(shape.ranks - 1);
    let actions = 2.0 * peers * PULL_NS + 3.0 * POST_NS;
    let pieces = peers * (POST_BYTE_NS + REDUCE_BYTE_NS + PULL_BYTE_NS) + POST_BYTE_NS;
    let bytes = shape.bytes as f64 / f64::from(shape.ranks) * pieces;
    2.0 * HOP_NS + cut.segments as f64 * actions + bytes
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let cut = Cut::new(shape);
    let ranks = shape.ranks;
    let mut builder = Builder::segmented(cut.segments);
    let depth = u32::try_from(cut.segments).map_or(DEPTH, |segments| segments.min(DEPTH));
    let all_but_one = cut.slices(Buf::Send, 0..ranks - 1).bytes;
    let below = builder.line(all_but_one, depth);
    let above = builder.line(all_but_one, depth);
    let results = builder.line(cut.slice_bytes, depth);

    if rank > 0 {
        builder.post(below, cut.slices(Buf::Send, 0..rank));
    }
    if rank < ranks - 1 {
        builder.post(above, cut.slices(Buf::Send, rank + 1..ranks));
    }
    builder.delay(1);
    let (own, result) = (cut.slice(Buf::Send, rank), cut.slice(Buf::Recv, rank));
    builder.pull_outward(rank, ranks, own, result, |peer| {
        if rank < peer {
            (below, u64::from(rank) * cut.slice_bytes)
        } else {
            (above, u64::from(rank - peer - 1) * cut.slice_bytes)
        }
    });
    builder.post(results, result);
    builder.delay(2);
    for peer in shape.others(rank) {
        builder.pull(peer, results, 0, cut.slice(Buf::Recv, peer));
    }
    builder.finish()
}

/// Slots of each line, where there are as many segments.
const DEPTH: u32 = 3;

/// The longest slice: longer ones gain nothing.
const SLICE_MAX_BYTES: u64 = 128 << 10;

/// The shortest slice worth its line, where the vector is long.
const SLICE_MIN_BYTES: u64 = 1 << 10;
