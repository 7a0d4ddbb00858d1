//! Building layouts of layouts, and finding what is regular in them.
//!
//! Neighbouring runs are merged, loops continued, and blocks of one kind at equal distances folded into a loop.
//! The cost is proportional to the number of pieces given, never to that of the bytes they stand for.

use std::sync::Arc;

use super::{Layout, Part, Run, Runs, Shape};

/// A sequence with at most so many parts is taken apart where it becomes part of another one.
const INLINE_PARTS: usize = 64;
/// As many equal pieces at equal distances inside a longer sequence are worth a loop.
const FOLD_PIECES: usize = 16;
/// The body of a loop is spelled out as runs if it has at most so many ...
const UNROLLED_RUNS: u64 = 16;
/// ... and they are no longer than so many bytes on average.
const UNROLLED_BYTES: u64 = 64;

impl Layout {
    /// `count` times `self`, `stride` bytes apart. The caller has checked that the bytes are less than 2^63.
    pub fn repeat(&self, count: u64, stride: i64) -> Self {
        if count == 0 || self.bytes == 0 {
            return Self::EMPTY;
        }
        if count == 1 {
            return self.clone();
        }
        let bytes = count * self.bytes;
        match &self.shape {
            Shape::Run if u64::try_from(stride) == Ok(self.bytes) => Self::run(self.displacement, bytes),
            Shape::Loop { count: inner_count, stride: inner_stride, body }
                if i128::from(*inner_count) * i128::from(*inner_stride) == i128::from(stride) =>
            {
                let count = count * inner_count;
                let shape = Shape::Loop { count, stride: *inner_stride, body: Arc::clone(body) };
                Self { bytes, shape, ..*self }
            }
            _ => {
                let mut body = self.unrolled();
                let displacement = std::mem::take(&mut body.displacement);
                let depth = body.depth + 1;
                Self {
                    bytes,
                    displacement,
                    depth,
                    shape: Shape::Loop { count, stride, body: Arc::new(body) },
                }
            }
        }
    }

    /// `pieces` one after the other.
    pub fn sequence(pieces: impl IntoIterator<Item = Self>) -> Self {
        let mut merged = Vec::new();
        for piece in pieces {
            push(&mut merged, piece);
        }
        while fold(&mut merged) {}
        match merged.len() {
            0 => Self::EMPTY,
            1 => merged.remove(0),
            _ => Self::of_pieces(merged),
        }
    }

    /// The layout as a handful of runs, where these are short: what an element of an array should be, because
    /// the cursor then moves the same run of many elements in one go.
    pub fn unrolled(&self) -> Self {
        let short = |runs: u64| self.bytes <= runs.saturating_mul(UNROLLED_BYTES);
        match self.run_count(UNROLLED_RUNS) {
            Some(runs) if runs > 1 && short(runs) => {
                let mut runs = Vec::with_capacity(runs as usize);
                let mut skip = 0;
                while skip < self.bytes {
                    let (displacement, bytes) = self.run_at(skip);
                    runs.push(Self::run(displacement, bytes));
                    skip += bytes;
                }
                Self::of_pieces(runs)
            }
            _ => self.clone(),
        }
    }

    /// The number of runs, if it is not more than `most`.
    fn run_count(&self, most: u64) -> Option<u64> {
        let runs = match &self.shape {
            Shape::Run => 1,
            Shape::Runs(runs) => runs.runs.len() as u64,
            Shape::Loop { count, body, .. } => body.run_count(most)?.checked_mul(*count)?,
            Shape::Sequence(parts) if parts.len() as u64 > most => return None,
            Shape::Sequence(parts) => {
                parts.iter().try_fold(0, |runs, part| Some(runs + part.layout.run_count(most)?))?
            }
        };
        (runs <= most).then_some(runs)
    }

    /// Several pieces, none of them empty, one after the other.
    fn of_pieces(pieces: Vec<Self>) -> Self {
        let bytes = pieces.iter().map(|piece| piece.bytes).sum();
        let depth = 1 + pieces.iter().map(|piece| piece.depth).max().unwrap_or(0);
        let starts = pieces.iter().scan(0, |end, piece| {
            let start = *end;
            *end += piece.bytes;
            Some(start)
        });
        let shape = if pieces.iter().all(|piece| matches!(piece.shape, Shape::Run)) {
            let block_bytes = pieces[0].bytes;
            let uniform = pieces.iter().all(|piece| piece.bytes == block_bytes);
            let runs =
                starts.zip(&pieces).map(|(start, piece)| Run { start, displacement: piece.displacement });
            let runs = runs.collect();
            Shape::Runs(Arc::new(Runs { runs, bytes, block_bytes: uniform.then_some(block_bytes) }))
        } else {
            let starts: Vec<u64> = starts.collect();
            let parts = starts.into_iter().zip(pieces).map(|(start, layout)| Part { start, layout });
            Shape::Sequence(parts.collect())
        };
        Self { bytes, displacement: 0, depth, shape }
    }
}

/// Adds a piece behind those in `merged`, taking it apart if that helps.
fn push(merged: &mut Vec<Layout>, piece: Layout) {
    match &piece.shape {
        _ if piece.bytes == 0 => {}
        Shape::Runs(runs) if runs.runs.len() <= INLINE_PARTS => {
            for (index, run) in runs.runs.iter().enumerate() {
                let run = Layout::run(run.displacement, runs.end(index) - run.start);
                join(merged, run.moved(piece.displacement));
            }
        }
        Shape::Sequence(parts) if parts.len() <= INLINE_PARTS => {
            for part in parts.iter() {
                join(merged, part.layout.clone().moved(piece.displacement));
            }
        }
        _ => join(merged, piece),
    }
}

/// Adds a piece behind those in `merged`: to the last one, if it continues it.
fn join(merged: &mut Vec<Layout>, piece: Layout) {
    let Some(last) = merged.last_mut() else { return merged.push(piece) };
    match (&mut last.shape, &piece.shape) {
        (Shape::Run, Shape::Run)
            if last.displacement.wrapping_add(last.bytes as i64) == piece.displacement =>
        {
            last.bytes += piece.bytes;
        }
        (
            Shape::Loop { count, stride, body },
            Shape::Loop { count: more, stride: other_stride, body: other },
        ) if stride == other_stride
            && body.displacement == other.displacement
            && body.is_like(other)
            && last.displacement.wrapping_add((*count as i64).wrapping_mul(*stride))
                == piece.displacement =>
        {
            *count += more;
            last.bytes += piece.bytes;
        }
        _ => merged.push(piece),
    }
}

/// Makes loops of neighbouring pieces that are alike and equally far apart. Says whether there were any.
fn fold(pieces: &mut Vec<Layout>) -> bool {
    let all = pieces.len();
    let (mut next, mut kept) = (0, 0);
    while next < all {
        let (count, stride) = progression(&pieces[next..]);
        if count >= FOLD_PIECES || (count == all && all > 1) {
            pieces[kept] = pieces[next].repeat(count as u64, stride);
            kept += 1;
            next += count;
        } else {
            // The last piece of a progression may be the first one of the next.
            for _ in 0..count.max(2) - 1 {
                pieces.swap(kept, next);
                kept += 1;
                next += 1;
            }
        }
    }
    pieces.truncate(kept);
    kept < all
}

/// How many of the first pieces are alike and equally far apart, and how far.
fn progression(pieces: &[Layout]) -> (usize, i64) {
    let [first, second, ..] = pieces else { return (pieces.len(), 0) };
    if !first.is_like(second) {
        return (1, 0);
    }
    let distance = |pair: &[Layout]| pair[1].displacement.wrapping_sub(pair[0].displacement);
    let stride = distance(pieces);
    let alike = pieces.windows(2).take_while(|pair| pair[0].is_like(&pair[1]) && distance(pair) == stride);
    (1 + alike.count(), stride)
}
