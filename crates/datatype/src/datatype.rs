//! Datatypes: made by constructors, described by their bounds, flattened when committed.
//!
//! MPI-5.0: Datatypes, Datatype Constructors and Datatype Access Functions.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use oxmpi_base::{BasicType, Error, ErrorClass, Pair, Result, Scalar};

use crate::Constructor;
use crate::bounds::Bounds;
use crate::layout::Layout;

/// A datatype. Clones are the same datatype.
#[derive(Clone)]
pub struct Datatype(Arc<Inner>);

struct Inner {
    constructor: Constructor,
    /// Packed bytes of one element.
    size: u64,
    /// From lower to upper bound; `None` if the typemap has neither bytes nor bounds that `resized` set.
    bounds: Option<Bounds>,
    /// From the first to behind the last byte; `None` if there are no bytes.
    true_bounds: Option<Bounds>,
    /// The type of all basic elements, if there is only one.
    element: Option<BasicType>,
    /// Set when the datatype is committed.
    flat: OnceLock<Flat>,
    name: Mutex<String>,
}

/// What committing makes.
#[derive(Clone)]
pub(crate) struct Flat {
    pub layout: Arc<Layout>,
    /// See [`Datatype::is_dense`].
    pub dense: bool,
}

impl Datatype {
    /// A predefined datatype; it is committed, and named like its constant in C.
    pub fn basic(basic: BasicType) -> Self {
        let bytes = |count: usize| i64::try_from(count).expect("basic types have few bytes");
        let true_extent = basic.size() + basic.index_offset() - value_bytes(basic);
        let datatype = Self::build(
            Constructor::Basic(basic),
            basic.size() as u64,
            Some(Bounds { lower: 0, upper: bytes(basic.extent()) }),
            Some(Bounds { lower: 0, upper: bytes(true_extent) }),
            Some(basic),
        );
        datatype.set_name(basic.name());
        datatype.commit();
        datatype
    }

    /// `count` elements of `old`, one extent apart.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if `count` is negative or the result is too large for 64 bits.
    pub fn contiguous(count: i64, old: &Self) -> Result<Self> {
        let elements = non_negative(ErrorClass::Count, "count", count)?;
        let constructor = Constructor::Contiguous { count, old: old.clone() };
        Self::blocks(constructor, 1, elements, 0, old)
    }

    /// `count` blocks of `blocklength` elements of `old`, the blocks `stride` extents apart.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if `count` is negative or the result is too large for 64 bits;
    /// [`ErrorClass::Arg`] if `blocklength` is negative.
    pub fn vector(count: i64, blocklength: i64, stride: i64, old: &Self) -> Result<Self> {
        let blocks = non_negative(ErrorClass::Count, "count", count)?;
        let elements = non_negative(ErrorClass::Arg, "blocklength", blocklength)?;
        let constructor = Constructor::Vector { count, blocklength, stride, old: old.clone() };
        let Some(stride_bytes) = stride.checked_mul(old.extent()) else {
            let extent = old.extent();
            let text = format!("stride is {stride}: so many extents of {extent} bytes fit no 64 bits");
            return Err(Error::new(ErrorClass::Count, text));
        };
        Self::blocks(constructor, blocks, elements, stride_bytes, old)
    }

    /// `count` blocks of `blocklength` elements of `old`, the blocks `stride_bytes` bytes apart.
    ///
    /// # Errors
    /// As [`Datatype::vector`].
    pub fn hvector(count: i64, blocklength: i64, stride_bytes: i64, old: &Self) -> Result<Self> {
        let blocks = non_negative(ErrorClass::Count, "count", count)?;
        let elements = non_negative(ErrorClass::Arg, "blocklength", blocklength)?;
        let constructor = Constructor::Hvector { count, blocklength, stride_bytes, old: old.clone() };
        Self::blocks(constructor, blocks, elements, stride_bytes, old)
    }

    /// A new datatype like `self`, committed if `self` is.
    pub fn dup(&self) -> Self {
        let constructor = Constructor::Dup { old: self.clone() };
        let Inner { size, bounds, true_bounds, element, .. } = *self.0;
        let datatype = Self::build(constructor, size, bounds, true_bounds, element);
        if self.is_committed() {
            datatype.commit();
        }
        datatype
    }

    /// The bytes of `old` with other bounds.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if the upper bound does not fit 64 bits.
    pub fn resized(lower_bound: i64, extent: i64, old: &Self) -> Result<Self> {
        let Some(upper) = lower_bound.checked_add(extent) else {
            let text = format!("lb {lower_bound} plus extent {extent} fits no 64 bits");
            return Err(Error::new(ErrorClass::Arg, text));
        };
        let constructor = Constructor::Resized { lower_bound, extent, old: old.clone() };
        let Inner { size, true_bounds, element, .. } = *old.0;
        let bounds = Some(Bounds { lower: lower_bound, upper });
        Ok(Self::build(constructor, size, bounds, true_bounds, element))
    }

    /// Makes the datatype usable in communication: flattens it, once.
    pub fn commit(&self) {
        self.0.flat.get_or_init(|| self.flatten());
    }

    /// Whether the datatype may be used in communication.
    pub fn is_committed(&self) -> bool {
        self.0.flat.get().is_some()
    }

    /// Bytes of data in one element; gaps do not count.
    #[inline]
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// Where the element begins, in bytes from its origin.
    pub fn lower_bound(&self) -> i64 {
        self.0.bounds.map_or(0, |bounds| bounds.lower)
    }

    /// Bytes from one element to the next.
    pub fn extent(&self) -> i64 {
        self.0.bounds.map_or(0, Bounds::extent)
    }

    /// Where the first byte of data lies, from the origin.
    pub fn true_lower_bound(&self) -> i64 {
        self.true_bounds().lower
    }

    /// Bytes from the first to behind the last byte of data.
    pub fn true_extent(&self) -> i64 {
        self.true_bounds().extent()
    }

    /// The predefined datatype that this is, if it is one. A duplicate is none.
    pub fn basic_type(&self) -> Option<BasicType> {
        match self.0.constructor {
            Constructor::Basic(basic) => Some(basic),
            _ => None,
        }
    }

    /// The basic type that all elements of the typemap have, if there is only one.
    pub fn element(&self) -> Option<BasicType> {
        self.0.element
    }

    /// Whether any number of consecutive elements is, in packed order, one piece of memory that begins at the
    /// origin.
    pub fn is_dense(&self) -> bool {
        self.flat().map_or_else(|| self.flatten().dense, |flat| flat.dense)
    }

    /// How the datatype was made.
    pub fn constructor(&self) -> &Constructor {
        &self.0.constructor
    }

    /// The name; empty unless predefined or set.
    pub fn name(&self) -> String {
        self.0.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives the datatype a name.
    pub fn set_name(&self, name: &str) {
        name.clone_into(&mut self.0.name.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Whether `self` and `other` are the same object.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    #[inline]
    pub(crate) fn flat(&self) -> Option<&Flat> {
        self.0.flat.get()
    }

    /// The interval from the first to behind the last byte, empty if there are none.
    pub(crate) fn true_bounds(&self) -> Bounds {
        self.0.true_bounds.unwrap_or(Bounds { lower: 0, upper: 0 })
    }

    fn blocks(constructor: Constructor, blocks: u64, elements: u64, stride: i64, old: &Self) -> Result<Self> {
        let size = u128::from(blocks) * u128::from(elements) * u128::from(old.size());
        let Some(size) = u64::try_from(size).ok().filter(|size| i64::try_from(*size).is_ok()) else {
            let old_bytes = old.size();
            let text =
                format!("{blocks} x {elements} elements of {old_bytes} bytes are more than 2^63 bytes");
            return Err(Error::new(ErrorClass::Count, text));
        };
        let span = |bounds: Option<Bounds>| match bounds {
            Some(bounds) if blocks != 0 && elements != 0 => {
                bounds.repeat(elements, old.extent())?.repeat(blocks, stride).map(Some)
            }
            _ => Ok(None),
        };
        let (bounds, true_bounds) = (span(old.0.bounds)?, span(old.0.true_bounds)?);
        Ok(Self::build(constructor, size, bounds, true_bounds, old.element()))
    }

    fn build(
        constructor: Constructor,
        size: u64,
        bounds: Option<Bounds>,
        true_bounds: Option<Bounds>,
        element: Option<BasicType>,
    ) -> Self {
        let (flat, name) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(Inner { constructor, size, bounds, true_bounds, element, flat, name }))
    }

    fn flatten(&self) -> Flat {
        let layout = self.layout();
        let dense = layout.is_dense(self.extent());
        Flat { layout, dense }
    }

    fn layout(&self) -> Arc<Layout> {
        if let Some(flat) = self.flat() {
            return Arc::clone(&flat.layout);
        }
        let repeat = |count: i64, stride: i64, body: &Arc<Layout>| Layout::repeat(count as u64, stride, body);
        match &self.0.constructor {
            Constructor::Basic(basic) => basic_layout(*basic),
            Constructor::Contiguous { count, old } => repeat(*count, old.extent(), &old.layout()),
            Constructor::Dup { old } | Constructor::Resized { old, .. } => old.layout(),
            Constructor::Hvector { count, blocklength, stride_bytes, old } => {
                repeat(*count, *stride_bytes, &repeat(*blocklength, old.extent(), &old.layout()))
            }
            Constructor::Vector { count, blocklength, stride, old } => {
                let block = repeat(*blocklength, old.extent(), &old.layout());
                repeat(*count, stride * old.extent(), &block)
            }
        }
    }
}

impl fmt::Debug for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.constructor {
            Constructor::Basic(basic) => f.write_str(basic.name()),
            constructor => constructor.fmt(f),
        }
    }
}

/// Bytes of the value of a pair; 0 for what is not a pair.
fn value_bytes(basic: BasicType) -> usize {
    // Values and indices lie as in a C structure whose alignment is the stricter of the two: only a value that
    // is shorter than its distance to the index leaves a gap between them.
    match basic.scalar() {
        Scalar::Pair(Pair::I16I32) => 2,
        _ => basic.index_offset(),
    }
}

fn basic_layout(basic: BasicType) -> Arc<Layout> {
    let value = value_bytes(basic);
    if value == basic.index_offset() {
        return Layout::run(0, basic.size() as u64);
    }
    let index = Layout::run(0, (basic.size() - value) as u64);
    Layout::sequence([(0, Layout::run(0, value as u64)), (basic.index_offset() as i64, index)])
}

fn non_negative(class: ErrorClass, argument: &str, value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|_| Error::new(class, format!("{argument} is {value}")))
}
