//! How long messages are cut into segments, and how a stream of segments through slots is paced.
//!
//! The slots that a plan fills on one rank stay within [`SLOT_BUDGET_BYTES`], so that they stay in caches, or within
//! twice that where a vector is first combined and then passed on; an algorithm that cannot keep within it is not
//! admissible, and the verifier counts. Memory is taken for whole lines, of which a rank may fill a part. Long
//! segments cost fewer hand-overs: within the budget, measured at 2 to 8 ranks on two cores, 64 to 256 KiB are better
//! than anything shorter, but where one of two ranks does nothing else than to read what the other one writes.

use std::ops::Range;

use crate::build::Builder;
use crate::{Buf, Peer, Shape, Span};

/// A vector cut into segments of equal length but the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segments {
    /// Number of segments; at least 1.
    pub(crate) count: u64,
    /// Bytes of a segment: whole units.
    pub(crate) bytes: u64,
    total: u64,
}

impl Segments {
    /// Cuts `total` bytes into segments of at most about `target` bytes (one unit, where a unit is longer).
    ///
    /// A segment is a multiple of `unit` bytes, and of a cache line where units fit cache lines.
    pub(crate) fn cut(total: u64, unit: u32, target: u64) -> Self {
        let grain = grain_bytes(unit);
        if total <= target.max(grain) {
            return Self { count: 1, bytes: total, total };
        }
        let target = target.max(grain);
        let even = total.div_ceil(total.div_ceil(target)).next_multiple_of(grain);
        // Of long units one more would make a segment much longer.
        let bytes = if even > target + target / 8 { target / grain * grain } else { even };
        Self { count: total.div_ceil(bytes), bytes, total }
    }

    /// Cuts blocks of `block` bytes so that `lines` lines with as many slots as a [`Stream`] has stay within
    /// the budget; `None` where segments would be too short to be worth it.
    pub(crate) fn cut_for_lines(block: u64, lines: u32) -> Option<Self> {
        Self::cut_units_for_lines(block, 1, lines)
    }

    /// The same of blocks of whole units.
    pub(crate) fn cut_units_for_lines(block: u64, unit: u32, lines: u32) -> Option<Self> {
        let line_budget = SLOT_BUDGET_BYTES / u64::from(lines);
        if block <= line_budget.min(SEGMENT_MAX_BYTES) {
            return Some(Self::cut(block, unit, block));
        }
        let grain = grain_bytes(unit);
        let target = (line_budget / u64::from(Stream::DEPTH)).min(SEGMENT_MAX_BYTES / 2) / grain * grain;
        (target >= SEGMENT_MIN_BYTES.max(grain)).then(|| Self::cut(block, unit, target))
    }

    /// A vector that is not cut.
    pub(crate) fn whole(total: u64) -> Self {
        Self { count: 1, bytes: total, total }
    }

    /// Cuts `total` bytes into segments of `bytes` bytes.
    pub(crate) fn of_length(bytes: u64, total: u64) -> Self {
        Self { count: total.div_ceil(bytes).max(1), bytes, total }
    }

    /// Scratch memory for a segment at a time, as long as the segment is.
    pub(crate) fn operand(&self, builder: &mut Builder) -> Span {
        self.operand_for(builder, self.span(Buf::Scratch, 0))
    }

    /// The same for what `span` is of a segment, which may be shorter in the last one.
    pub(crate) fn operand_for(&self, builder: &mut Builder, span: Span) -> Span {
        let (_, last) = span.at(self.count - 1);
        // Only what the end cuts off may differ, so each begins as much later as the last one is shorter.
        let stride = span.bytes - last;
        let memory = builder.scratch((self.count - 1) * stride + last);
        Span { bytes: span.bytes, stride, ..memory }
    }

    /// As many times a segment is handled.
    pub(crate) fn rounds(&self) -> f64 {
        self.count as f64
    }

    /// Bytes of the vector.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The segments of the vector that begins at `offset` in `buf`.
    pub(crate) fn span(&self, buf: Buf, offset: u64) -> Span {
        self.part(buf, offset, self.total)
    }

    /// The same of a vector that is only `bytes` bytes long, and has nothing in the last segments.
    pub(crate) fn part(&self, buf: Buf, offset: u64, bytes: u64) -> Span {
        Span { buf, offset, bytes: self.bytes, stride: self.bytes, end: offset + bytes }
    }
}

/// Block `index` of `count` into which each segment of `span` is cut: whole units, the last ones shorter or empty.
pub(crate) fn block(span: Span, unit: u32, index: u32, count: u32) -> Span {
    blocks(span, unit, index..index + 1, count)
}

/// Some that follow each other.
pub(crate) fn blocks(span: Span, unit: u32, indices: Range<u32>, count: u32) -> Span {
    let bytes = span.bytes.div_ceil(count.into()).next_multiple_of(grain_bytes(unit));
    let [begin, end] = [indices.start, indices.end].map(|index| (u64::from(index) * bytes).min(span.bytes));
    span.part(begin, end - begin)
}

/// The least length that cuts neither a unit nor, where units fit them, a cache line.
pub(crate) fn grain_bytes(unit: u32) -> u64 {
    let unit = u64::from(unit.max(1));
    if 64 % unit == 0 { 64 } else { unit }
}

/// A stream of segments from writers to readers with credits, where writers would else overwrite.
///
/// With up to [`Stream::DEPTH`] segments each has a slot of its own, and nobody needs to wait for readers.
/// With more, readers post credits (empty) on a line of their own. Credit `s` says that segments up to
/// `s - LAG` have been read: a reader pulls with delay `LAG` and then posts credit with delay 0. A writer
/// waits for credit `s - LAG` before it posts segment `s`, and so knows that `s - DEPTH` has been read. The
/// first `LAG` segments are posted without waiting for readers to arrive, and at the end a writer waits only
/// until all but the last `LAG` segments have been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    /// The segments of the stream.
    pub(crate) segments: Segments,
    credits: bool,
}

/// The lines of a [`Stream`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamLines {
    /// The first line with data; the others follow it.
    pub(crate) data: u8,
    /// The line that readers post credit on.
    credit: Option<u8>,
}

impl Stream {
    /// Slots of a data line.
    pub(crate) const DEPTH: u32 = 4;
    /// How many segments a reader gives credit ahead.
    const LAG: u32 = Self::DEPTH / 2;

    /// The vector of `shape` on its way through one line.
    pub(crate) fn of(shape: &Shape) -> Self {
        Self::with_shortest(shape, STREAM_MIN_BYTES)
    }

    /// The same where that is all of a plan.
    ///
    /// Of two ranks one reads while the other one writes, and short segments are worth their hand-overs: where the
    /// root takes turns, 64 KiB take 0.8 of the time in two. More ranks may have fewer cores, and then a hand-over
    /// costs more than a copy.
    pub(crate) fn of_all(shape: &Shape) -> Self {
        let shortest = if shape.ranks + shape.remote_ranks == 2 { PAIR_MIN_BYTES } else { STREAM_MIN_BYTES };
        Self::with_shortest(shape, shortest)
    }

    /// The same in segments of at least so many bytes; if possible so many that no credit is needed.
    pub(crate) fn with_shortest(shape: &Shape, shortest: u64) -> Self {
        let target = (shape.bytes / u64::from(Self::DEPTH)).clamp(shortest, SEGMENT_MAX_BYTES);
        Self::new(Segments::cut(shape.bytes, shape.unit, target))
    }

    /// How far behind the front a reader pulls.
    pub(crate) fn lag(&self) -> u32 {
        if self.credits { Self::LAG } else { 0 }
    }

    /// How far ahead of a reader's pulls is what it does for itself, and how far behind a writer's posts: all of it, so
    /// that nobody waits for that, unless writers wait for credit.
    pub(crate) fn apart(&self) -> u32 {
        if self.credits {
            Self::LAG
        } else {
            u32::try_from(self.segments.count).expect("as many as slots") - 1
        }
    }

    /// Whether the slots of one line keep within the budget of a rank.
    pub(crate) fn fits(&self) -> bool {
        self.segments.bytes * u64::from(Self::DEPTH) <= SLOT_BUDGET_BYTES
    }

    /// A stream of `segments`.
    pub(crate) fn new(segments: Segments) -> Self {
        Self { segments, credits: segments.count > u64::from(Self::DEPTH) }
    }

    /// Declares `data_lines` lines for data alone, where the plan itself knows when readers are done; returns
    /// the first one.
    pub(crate) fn declare_unpaced(&self, builder: &mut Builder, data_lines: u32) -> u8 {
        let depth = u32::try_from(self.segments.count).map_or(Self::DEPTH, |count| count.min(Self::DEPTH));
        let first = builder.line(self.segments.bytes, depth);
        for _ in 1..data_lines {
            builder.line(self.segments.bytes, depth);
        }
        first
    }

    /// Declares `data_lines` lines for data, and that for credit if one is needed.
    pub(crate) fn declare(&self, builder: &mut Builder, data_lines: u32) -> StreamLines {
        let data = self.declare_unpaced(builder, data_lines);
        let credit = self.credits.then(|| builder.line(0, Self::DEPTH));
        StreamLines { data, credit }
    }

    /// Before a writer posts: waits for the credit of `readers`.
    pub(crate) fn await_credit(
        &self,
        builder: &mut Builder,
        lines: StreamLines,
        readers: impl Iterator<Item = impl Into<Peer>>,
    ) {
        if let Some(credit) = lines.credit {
            builder.delay(Self::LAG);
            readers.for_each(|reader| builder.wait(reader, credit));
            builder.delay(0);
        }
    }

    /// The part of a rank that writes for `readers` as well: pulls and posts by `pull_and_post`, then gives
    /// credit.
    ///
    /// What it pulls `LAG` behind it posts `LAG` behind, and so waits for credit twice as far behind.
    pub(crate) fn pass_on(
        &self,
        builder: &mut Builder,
        lines: StreamLines,
        readers: impl Iterator<Item = u32>,
        pull_and_post: impl FnOnce(&mut Builder),
    ) {
        if let Some(credit) = lines.credit {
            builder.delay(2 * Self::LAG);
            readers.for_each(|reader| builder.wait(reader, credit));
        }
        self.read(builder, lines, pull_and_post);
    }

    /// A reader's part: pulls by `pull`, then gives credit.
    pub(crate) fn read(&self, builder: &mut Builder, lines: StreamLines, pull: impl FnOnce(&mut Builder)) {
        self.read_behind(self.lag(), builder, lines, pull);
    }

    /// The same, `lag` segments behind the front: of a reader who has something to do for itself first,
    /// [`Stream::apart`].
    pub(crate) fn read_behind(
        &self,
        lag: u32,
        builder: &mut Builder,
        lines: StreamLines,
        pull: impl FnOnce(&mut Builder),
    ) {
        builder.delay(lag);
        pull(builder);
        builder.delay(0);
        if let Some(credit) = lines.credit {
            builder.post(credit, Span::EMPTY);
        }
    }
}

/// The most bytes of slots that a plan may fill on one rank, to combine or to pass on a vector.
pub(crate) const SLOT_BUDGET_BYTES: u64 = 1 << 20;

/// The most bytes a single, unsegmented post may have.
pub(crate) const SINGLE_POST_BYTES: u64 = 512 << 10;

/// Segments longer than this gain nothing.
const SEGMENT_MAX_BYTES: u64 = 256 << 10;

/// Segments of a stream are at least so long.
const STREAM_MIN_BYTES: u64 = 64 << 10;

/// The same of two ranks alone.
const PAIR_MIN_BYTES: u64 = 32 << 10;

/// Segments shorter than this cost more in hand-overs than in copies.
const SEGMENT_MIN_BYTES: u64 = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_cover_the_vector_without_cutting_units() {
        for (total, unit, target) in [
            (0, 1, 64),
            (1, 1, 64),
            (1000, 8, 64),
            (1 << 20, 12, 4096),
            (144, 48, 10),
            (1_600_000, 100_000, 262_144),
        ] {
            let segments = Segments::cut(total, unit, target);
            let span = segments.span(Buf::Recv, 7);
            let covered: u64 = (0..segments.count).map(|segment| span.at(segment).1).sum();
            assert_eq!(covered, total, "{segments:?}");
            assert_eq!(segments.bytes % u64::from(unit), 0, "{segments:?}");
            let target = target.max(grain_bytes(unit));
            assert!(segments.bytes <= target + grain_bytes(unit).min(target / 8), "{segments:?}");
        }
    }

    #[test]
    fn operands_are_as_long_as_segments_and_hardly_longer_together() {
        for (total, target) in [(0, 64), (1000, 64), (100_003, 4096), (1 << 20, 1 << 18), (77, 100)] {
            let segments = Segments::cut(total, 1, target);
            for index in 0..5 {
                let span = block(segments.span(Buf::Recv, 7), 1, index, 5);
                let mut builder = Builder::new();
                let operand = segments.operand_for(&mut builder, span);
                for segment in 0..segments.count {
                    assert_eq!(operand.at(segment).1, span.at(segment).1, "{segments:?}");
                }
                let scratch = builder.finish().scratch_bytes;
                assert!(
                    scratch <= span.bytes + segments.count * (span.bytes - span.at(segments.count - 1).1)
                );
            }
        }
    }
}
