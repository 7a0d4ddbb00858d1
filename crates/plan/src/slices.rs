//! Vectors cut into slices, one for each rank to combine: the first half of sliced reductions.
//!
//! Of each segment a rank owns `1/p`. It posts the slices below and those above its own (and so copies no
//! byte that nobody reads) and combines its slice straight from the peers' lines: `(p-1)/p` of the vector is
//! posted and combined by each rank, one segment behind.

use std::ops::Range;

use crate::build::Builder;
use crate::prices::Prices;
use crate::segment::{SLOT_BUDGET_BYTES, Segments, grain_bytes};
use crate::{Buf, Cost, Shape, Span};

/// How a vector is cut into segments and slices.
pub(crate) struct Slices {
    /// Number of segments; at least 1.
    pub(crate) segments: u64,
    /// Bytes of a slice; the last ones of a segment, and those of the last segment, may be shorter and empty.
    pub(crate) slice_bytes: u64,
    /// Slots of each line.
    pub(crate) depth: u32,
    segment_bytes: u64,
    total: u64,
    ranks: u32,
}

impl Slices {
    /// Cuts the vector of `shape` for lines of at most `depth` slots; `None` where slices would not be worth
    /// their lines, or an element is too long for a slot.
    pub(crate) fn cut(shape: &Shape, depth: u32) -> Option<Self> {
        let ranks = u64::from(shape.ranks);
        let grain = grain_bytes(shape.unit);
        // A rank fills slots for the slices of its peers and for the result of its own.
        let limit = (SLOT_BUDGET_BYTES / (ranks * u64::from(depth))).min(SLICE_MAX_BYTES);
        if limit < SLICE_MIN_BYTES.max(grain) {
            return None;
        }
        let longest = limit / grain * grain;
        let segments = shape.bytes.div_ceil(ranks * longest).max(1);
        let slice_bytes = shape.bytes.div_ceil(ranks * segments).max(1).next_multiple_of(grain);
        let segments = shape.bytes.div_ceil(ranks * slice_bytes).max(1);
        let depth = u32::try_from(segments).map_or(depth, |segments| segments.min(depth));
        let (total, segment_bytes) = (shape.bytes, ranks * slice_bytes);
        Some(Self { segments, slice_bytes, depth, segment_bytes, total, ranks: shape.ranks })
    }

    /// Cuts each of `segments` into slices for `ranks` ranks, for lines of at most `depth` slots.
    pub(crate) fn of_segments(segments: Segments, unit: u32, ranks: u32, depth: u32) -> Self {
        let slice_bytes =
            segments.bytes.div_ceil(u64::from(ranks)).max(1).next_multiple_of(grain_bytes(unit));
        let depth = u32::try_from(segments.count).map_or(depth, |segments| segments.min(depth));
        Self {
            segments: segments.count,
            slice_bytes,
            depth,
            segment_bytes: segments.bytes,
            total: segments.total(),
            ranks,
        }
    }

    /// The segments of which these are the slices.
    pub(crate) fn whole(&self) -> Segments {
        Segments::of_length(self.segment_bytes, self.total)
    }

    /// The slice that `owner` combines.
    pub(crate) fn of(&self, buf: Buf, owner: u32) -> Span {
        self.of_all(buf, owner..owner + 1)
    }

    /// Scratch memory for the result of `rank`, where there is no receive buffer.
    pub(crate) fn scratch(&self, builder: &mut Builder, rank: u32) -> Span {
        let slice = self.of(Buf::Recv, rank);
        let (_, last) = slice.at(self.segments - 1);
        let memory = builder.scratch((self.segments - 1) * slice.bytes + last);
        Span { bytes: slice.bytes, stride: slice.bytes, ..memory }
    }

    /// Declares two lines and combines on them.
    pub(crate) fn declare_and_combine(&self, builder: &mut Builder, rank: u32, result: Span) {
        let lines = SliceLines::declare(builder, self.posted_bytes(), self.depth);
        self.combine(builder, lines, rank, result);
    }

    /// The most that a rank posts of a segment on a line that it combines on.
    pub(crate) fn posted_bytes(&self) -> u64 {
        self.of_all(Buf::Send, 0..self.ranks - 1).bytes
    }

    /// Posts what the peers of `rank` combine, and one segment later combines its own slice into `result`.
    pub(crate) fn combine(&self, builder: &mut Builder, lines: SliceLines, rank: u32, result: Span) {
        let SliceLines { below, above } = lines;
        if rank > 0 {
            builder.post(below, self.of_all(Buf::Send, 0..rank));
        }
        if rank < self.ranks - 1 {
            builder.post(above, self.of_all(Buf::Send, rank + 1..self.ranks));
        }
        builder.delay(1);
        builder.pull_outward(rank, self.ranks, self.of(Buf::Send, rank), result, |peer| {
            if rank < peer {
                (below, u64::from(rank) * self.slice_bytes)
            } else {
                (above, u64::from(rank - peer - 1) * self.slice_bytes)
            }
        });
    }

    /// What [`combine`](Self::combine) costs a rank, apart from hops.
    pub(crate) fn combine_cost(&self, prices: &Prices<'_>) -> Cost {
        let peers = f64::from(self.ranks - 1);
        let slice = self.mean_bytes();
        let posts = 2.0 * prices.post(0.5 * peers * slice);
        self.segments as f64 * (posts + peers * prices.pull_reduce(slice))
    }

    /// Bytes of a slice, on the average.
    pub(crate) fn mean_bytes(&self) -> f64 {
        self.total as f64 / (f64::from(self.ranks) * self.segments as f64)
    }

    /// The slices that consecutive ranks combine.
    fn of_all(&self, buf: Buf, owners: Range<u32>) -> Span {
        let place = |owner| (u64::from(owner) * self.slice_bytes).min(self.segment_bytes);
        let (begin, end) = (place(owners.start), place(owners.end));
        Span { buf, offset: begin, bytes: end - begin, stride: self.segment_bytes, end: self.total }
    }
}

/// The lines that slices are combined on: for the ranks below the one that posts, and for those above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SliceLines {
    below: u8,
    above: u8,
}

impl SliceLines {
    /// Declares lines of `depth` slots for what [`Slices::posted_bytes`] says.
    pub(crate) fn declare(builder: &mut Builder, posted_bytes: u64, depth: u32) -> Self {
        Self { below: builder.line(posted_bytes, depth), above: builder.line(posted_bytes, depth) }
    }
}

/// The longest slice: longer ones gain nothing.
const SLICE_MAX_BYTES: u64 = 128 << 10;

/// The shortest slice worth its line, where the vector is long.
const SLICE_MIN_BYTES: u64 = 1 << 10;
