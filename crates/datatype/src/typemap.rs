//! Typemaps: what constructors compute with.
//!
//! A typemap is a list of basic types with displacements. Here it is kept as what is asked about it: where the
//! bytes lie (`Layout`), which types they have (`Signature`), and its bounds. All of these are composed of those
//! of the old typemaps in time proportional to a constructor's own arguments.
//!
//! The bounds follow the definition to the letter. Resizing puts markers into the typemap, and where there are
//! markers nothing else counts; where there are none, the upper bound is padded to the strictest alignment.
//! MPI-5.0: Datatypes, Lower-Bound and Upper-Bound Markers.

use oxmpi_base::{BasicType, Error, ErrorClass, Result};

use crate::bounds::Bounds;
use crate::layout::Layout;
use crate::signature::{Signature, value_bytes};

/// The data of one element.
#[derive(Clone, Debug)]
pub(crate) struct Typemap {
    pub layout: Layout,
    pub signature: Signature,
    /// From lower to upper bound, which elements follow each other by.
    pub bounds: Bounds,
    /// Whether there are markers, which `bounds` then tells.
    marked: bool,
    /// From the first to behind the last byte; `None` if there are no bytes.
    true_bounds: Option<Bounds>,
    /// The strictest alignment of the basic elements in bytes.
    align: u32,
}

/// Layouts and signatures are trees, gone through and dropped recursively on the program's stacks.
const MOST_DEPTH: u32 = 1000;

/// Bounds under construction.
#[derive(Default)]
struct Span {
    markers: Option<Bounds>,
    bytes: Option<Bounds>,
}

impl Typemap {
    /// One element of `basic`.
    pub fn basic(basic: BasicType) -> Self {
        let (size, signature) = (basic.size() as u64, Signature::basic(basic));
        let upper = |bytes: u64| Bounds { lower: 0, upper: bytes as i64 };
        let index = basic.index_offset() as u64;
        let (layout, true_extent) = match value_bytes(basic) {
            Some(value) if value != index => {
                let parts = [Layout::run(0, value), Layout::run(index as i64, size - value)];
                (Layout::sequence(parts), index + size - value)
            }
            _ => (Layout::run(0, size), size),
        };
        Self {
            layout,
            signature,
            bounds: upper(basic.extent() as u64),
            marked: false,
            true_bounds: Some(upper(true_extent)),
            align: basic.align() as u32,
        }
    }

    /// `count` times `self`, `stride` bytes apart.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if size or bounds fit no 64 bits; [`ErrorClass::Type`] if it is nested too deeply.
    pub fn repeat(&self, count: u64, stride: i64) -> Result<Self> {
        let signature = self.repeated_signature(count)?;
        let mut span = Span::default();
        span.add(self, count, stride, 0)?;
        Self::new(self.layout.repeat(count, stride), signature, &span, self.align)
    }

    /// Blocks of `self`, each a number of consecutive elements and a displacement in bytes.
    ///
    /// # Errors
    /// As [`Typemap::repeat`].
    pub fn blocks(&self, blocks: impl Iterator<Item = (u64, i64)> + Clone) -> Result<Self> {
        let extent = self.extent();
        let (mut span, mut count) = (Span::default(), 0u64);
        for (elements, displacement) in blocks.clone() {
            span.add(self, elements, extent, displacement)?;
            count = count.saturating_add(elements);
        }
        let signature = self.repeated_signature(count)?;
        let layout = Layout::sequence(
            blocks.map(|(elements, displacement)| self.layout.repeat(elements, extent).moved(displacement)),
        );
        Self::new(layout, signature, &span, self.align)
    }

    /// Blocks one after the other, each a number of consecutive elements, a displacement in bytes and what the
    /// elements are.
    ///
    /// # Errors
    /// As [`Typemap::repeat`].
    pub fn sequence<'a>(blocks: impl Iterator<Item = (u64, i64, &'a Self)> + Clone) -> Result<Self> {
        let (mut span, mut bytes, mut align) = (Span::default(), 0u64, 1);
        for (elements, displacement, element) in blocks.clone() {
            span.add(element, elements, element.extent(), displacement)?;
            bytes = bytes.saturating_add(elements.saturating_mul(element.signature.bytes));
            if elements != 0 && element.true_bounds.is_some() {
                align = align.max(element.align);
            }
        }
        if i64::try_from(bytes).is_err() {
            return Err(Error::new(ErrorClass::Count, "the blocks are more than 2^63 bytes"));
        }
        let signatures = blocks.clone().map(|(elements, _, element)| element.signature.repeat(elements));
        let layouts = blocks.map(|(elements, displacement, element)| {
            element.layout.repeat(elements, element.extent()).moved(displacement)
        });
        Self::new(Layout::sequence(layouts), Signature::sequence(signatures), &span, align)
    }

    /// The same data between other bounds.
    pub fn resized(self, bounds: Bounds) -> Self {
        Self { bounds, marked: true, ..self }
    }

    /// Bytes from one element to the next.
    pub fn extent(&self) -> i64 {
        self.bounds.extent()
    }

    /// From the first to behind the last byte; empty if there are none.
    pub fn true_bounds(&self) -> Bounds {
        self.true_bounds.unwrap_or(Bounds::EMPTY)
    }

    fn new(layout: Layout, signature: Signature, span: &Span, align: u32) -> Result<Self> {
        if layout.depth.max(signature.depth) > MOST_DEPTH {
            let text = format!("irregular datatypes are nested more than {MOST_DEPTH} deep");
            return Err(Error::new(ErrorClass::Type, text));
        }
        let bounds = match (span.markers, span.bytes) {
            (Some(markers), _) => markers,
            (None, Some(bytes)) => bytes.padded(align)?,
            (None, None) => Bounds::EMPTY,
        };
        let (marked, true_bounds) = (span.markers.is_some(), span.bytes);
        Ok(Self { layout, signature, bounds, marked, true_bounds, align })
    }

    fn repeated_signature(&self, count: u64) -> Result<Signature> {
        let bytes = self.signature.bytes;
        if i64::try_from(u128::from(count) * u128::from(bytes)).is_err() {
            let text = format!("{count} elements of {bytes} bytes are more than 2^63 bytes");
            return Err(Error::new(ErrorClass::Count, text));
        }
        Ok(self.signature.repeat(count))
    }
}

impl Span {
    /// Extends the bounds by `count` elements, `stride` bytes apart, the first at `displacement`.
    fn add(&mut self, piece: &Typemap, count: u64, stride: i64, displacement: i64) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let joined = |bounds: Option<Bounds>, other: Bounds| {
            let other = other.repeat(count, stride, displacement)?;
            bounds.map_or(Ok(other), |bounds| bounds.join(other)).map(Some)
        };
        if piece.marked {
            self.markers = joined(self.markers, piece.bounds)?;
        }
        if let Some(bytes) = piece.true_bounds {
            self.bytes = joined(self.bytes, bytes)?;
        }
        Ok(())
    }
}
