//! What a datatype is flattened to: runs of bytes, loops over them, and sequences.
//!
//! A layout lists the bytes of one element in the order of the typemap, as displacements from the element's
//! origin. It is a tree whose leaves are runs; parts are shared, and what is regular is found where it is built
//! (`compose`), so a layout is as small as the datatype is regular: a vector of a million blocks is one loop.
//! A byte is found in time proportional to the depth (and to the logarithm of the length of a sequence).
//!
//! Displacements inside a layout are added modulo 2^64: constructors have checked that every byte of the
//! typemap has a displacement that fits `i64`, so the sums are right even where a partial sum is not.

mod compose;

use std::ptr;
use std::sync::Arc;

/// The bytes of one element, in packed order.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Bytes of the element when packed.
    pub bytes: u64,
    /// Where the origin of the shape lies, from that of the element.
    pub displacement: i64,
    /// Loops and sequences inside each other.
    pub depth: u32,
    /// How the bytes lie in memory.
    pub shape: Shape,
}

/// How the bytes of a layout lie in memory, from the shape's origin.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// `count` times `body`, `stride` bytes apart. The body is not empty, and there are at least two.
    Loop { count: u64, stride: i64, body: Arc<Layout> },
    /// All bytes in one piece.
    Run,
    /// Several runs.
    Runs(Arc<Runs>),
    /// Parts one after the other. None of them is empty.
    Sequence(Arc<[Part]>),
}

/// Runs at irregular displacements. None of them is empty.
#[derive(Debug)]
pub(crate) struct Runs {
    pub runs: Box<[Run]>,
    /// Packed bytes of all.
    pub bytes: u64,
    /// The length of each run in bytes, if all have the same.
    pub block_bytes: Option<u64>,
}

/// One of several runs; it ends where the next one starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Packed bytes of the runs before.
    pub start: u64,
    pub displacement: i64,
}

/// One part of a sequence.
#[derive(Debug)]
pub(crate) struct Part {
    /// Packed bytes of the parts before.
    pub start: u64,
    pub layout: Layout,
}

impl Layout {
    /// No bytes.
    pub const EMPTY: Self = Self::run(0, 0);

    /// `bytes` bytes in one piece.
    pub const fn run(displacement: i64, bytes: u64) -> Self {
        Self { bytes, displacement, depth: 0, shape: Shape::Run }
    }

    /// The same bytes, `displacement` bytes further.
    pub fn moved(mut self, displacement: i64) -> Self {
        self.displacement = self.displacement.wrapping_add(displacement);
        self
    }

    /// Where packed byte `skip`, which must exist, lies, and how many bytes are left in its run.
    pub fn run_at(&self, skip: u64) -> (i64, u64) {
        let (displacement, left) = match &self.shape {
            Shape::Run => (skip as i64, self.bytes - skip),
            Shape::Runs(runs) => {
                let index = runs.find(skip);
                let run = runs.runs[index];
                let within = skip - run.start;
                (run.displacement.wrapping_add(within as i64), runs.end(index) - skip)
            }
            Shape::Loop { stride, body, .. } => {
                let (displacement, left) = body.run_at(skip % body.bytes);
                let index = (skip / body.bytes) as i64;
                (index.wrapping_mul(*stride).wrapping_add(displacement), left)
            }
            Shape::Sequence(parts) => {
                let part = &parts[find_part(parts, skip)];
                part.layout.run_at(skip - part.start)
            }
        };
        (self.displacement.wrapping_add(displacement), left)
    }

    /// Where consecutive elements, `extent` bytes apart, begin, if together they are one run.
    pub fn dense_at(&self, extent: i64) -> Option<i64> {
        let dense = matches!(self.shape, Shape::Run) && u64::try_from(extent) == Ok(self.bytes);
        dense.then_some(self.displacement)
    }

    /// Whether `self` and `other` lie alike, seen from their displacements. May say no where it is so: the
    /// parts of sequences are not compared.
    fn is_like(&self, other: &Self) -> bool {
        self.bytes == other.bytes
            && match (&self.shape, &other.shape) {
                (Shape::Run, Shape::Run) => true,
                (Shape::Runs(runs), Shape::Runs(others)) => Arc::ptr_eq(runs, others),
                (Shape::Sequence(parts), Shape::Sequence(others)) => {
                    ptr::eq(&raw const **parts, &raw const **others)
                }
                (
                    Shape::Loop { stride, body, .. },
                    Shape::Loop { stride: other_stride, body: other_body, .. },
                ) => {
                    stride == other_stride
                        && body.displacement == other_body.displacement
                        && (Arc::ptr_eq(body, other_body) || body.is_like(other_body))
                }
                _ => false,
            }
    }
}

impl Runs {
    /// The run that has packed byte `skip`, which must exist.
    pub fn find(&self, skip: u64) -> usize {
        match self.block_bytes {
            Some(bytes) => (skip / bytes) as usize,
            None => self.runs.partition_point(|run| run.start <= skip) - 1,
        }
    }

    /// Packed bytes of the runs up to and including the one with this index.
    #[inline]
    pub fn end(&self, index: usize) -> u64 {
        self.runs.get(index + 1).map_or(self.bytes, |next| next.start)
    }
}

/// The part that has packed byte `skip`, which must exist.
pub(crate) fn find_part(parts: &[Part], skip: u64) -> usize {
    parts.partition_point(|part| part.start <= skip) - 1
}

#[cfg(test)]
mod tests;
