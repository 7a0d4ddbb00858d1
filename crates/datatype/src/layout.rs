//! What a datatype is flattened to: runs of bytes, loops over them, and sequences.
//!
//! A layout lists the bytes of one element in the order of the typemap, as displacements from the element's
//! origin. It is a tree whose leaves are runs; parts are shared, and neighbouring runs are merged where it is
//! built, so a layout is as small as the datatype is regular. A byte is found in time proportional to the depth
//! (and to the logarithm of the length of a sequence).

use std::sync::Arc;

/// The bytes of one element, in packed order.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Bytes of the element when packed.
    pub bytes: u64,
    /// How they lie in memory.
    pub shape: Shape,
}

/// How the bytes of a layout lie in memory.
#[derive(Debug)]
pub(crate) enum Shape {
    /// `count` times `body`, `stride` bytes apart. The body is not empty.
    Loop { count: u64, stride: i64, body: Arc<Layout> },
    /// Parts one after the other. None of them is empty.
    Sequence { parts: Vec<Part> },
    /// All bytes in one piece, `displacement` bytes from the origin.
    Run { displacement: i64 },
}

/// One part of a sequence.
#[derive(Debug)]
pub(crate) struct Part {
    /// Packed bytes of the parts before.
    pub start: u64,
    /// Where the part's origin lies, from that of the whole.
    pub displacement: i64,
    /// What lies there.
    pub layout: Arc<Layout>,
}

impl Layout {
    /// `bytes` bytes in one piece.
    pub fn run(displacement: i64, bytes: u64) -> Arc<Self> {
        Arc::new(Self { bytes, shape: Shape::Run { displacement } })
    }

    /// `count` times `body`, `stride` bytes apart. The caller has checked that no product overflows.
    pub fn repeat(count: u64, stride: i64, body: &Arc<Self>) -> Arc<Self> {
        if count == 0 || body.bytes == 0 {
            return Self::run(0, 0);
        }
        if count == 1 {
            return Arc::clone(body);
        }
        let bytes = count * body.bytes;
        match &body.shape {
            Shape::Run { displacement } if u64::try_from(stride) == Ok(body.bytes) => {
                Self::run(*displacement, bytes)
            }
            Shape::Loop { count: inner_count, stride: inner_stride, body: inner }
                if i128::from(*inner_count) * i128::from(*inner_stride) == i128::from(stride) =>
            {
                let count = count * inner_count;
                let shape = Shape::Loop { count, stride: *inner_stride, body: Arc::clone(inner) };
                Arc::new(Self { bytes, shape })
            }
            _ => Arc::new(Self { bytes, shape: Shape::Loop { count, stride, body: Arc::clone(body) } }),
        }
    }

    /// `pieces`, each a displacement and what lies there, one after the other.
    pub fn sequence(pieces: impl IntoIterator<Item = (i64, Arc<Self>)>) -> Arc<Self> {
        let mut parts = Vec::<Part>::new();
        let mut bytes = 0;
        for (displacement, layout) in pieces.into_iter().filter(|(_, layout)| layout.bytes != 0) {
            let start = bytes;
            bytes += layout.bytes;
            parts.push(Part { start, displacement, layout });
        }
        Arc::new(Self { bytes, shape: Shape::Sequence { parts } })
    }

    /// Where packed byte `skip`, which must exist, lies, and how many bytes are left in its run.
    pub fn run_at(&self, skip: u64) -> (i64, u64) {
        match &self.shape {
            Shape::Run { displacement } => (displacement + skip as i64, self.bytes - skip),
            Shape::Loop { stride, body, .. } => {
                let (displacement, left) = body.run_at(skip % body.bytes);
                ((skip / body.bytes) as i64 * stride + displacement, left)
            }
            Shape::Sequence { parts } => {
                let part = &parts[parts.partition_point(|part| part.start <= skip) - 1];
                let (displacement, left) = part.layout.run_at(skip - part.start);
                (part.displacement + displacement, left)
            }
        }
    }

    /// Whether consecutive elements, `extent` bytes apart, are one run from the first one's origin.
    pub fn is_dense(&self, extent: i64) -> bool {
        matches!(self.shape, Shape::Run { displacement: 0 }) && u64::try_from(extent) == Ok(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_runs_become_one() {
        let row = Layout::repeat(10, 8, &Layout::run(4, 8));
        assert!(matches!(row.shape, Shape::Run { displacement: 4 }));
        assert_eq!(row.bytes, 80);
    }

    #[test]
    fn a_loop_of_loops_with_one_stride_becomes_one_loop() {
        let inner = Layout::repeat(10, 16, &Layout::run(0, 8));
        let outer = Layout::repeat(1000, 160, &inner);
        assert!(matches!(outer.shape, Shape::Loop { count: 10_000, stride: 16, .. }));
        assert_eq!(outer.bytes, 80_000);
    }

    #[test]
    fn what_is_empty_leaves_no_loop() {
        let none = Layout::repeat(0, 8, &Layout::run(0, 8));
        let nothing = Layout::repeat(5, 8, &none);
        assert_eq!((none.bytes, nothing.bytes), (0, 0));
        assert!(matches!(nothing.shape, Shape::Run { .. }));
    }
}
