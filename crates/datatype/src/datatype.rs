//! Datatypes: what all of them have, however they were made.
//!
//! MPI-5.0: Datatypes, Derived Datatypes; Datatypes, Address and Size Functions.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use oxmpi_base::BasicType;

use crate::Constructor;
use crate::bounds::Bounds;
use crate::layout::Layout;
use crate::signature::SignatureRuns;
use crate::typemap::Typemap;

/// A datatype. Clones are the same datatype.
#[derive(Clone)]
pub struct Datatype(Arc<Inner>);

struct Inner {
    constructor: Constructor,
    /// See [`Datatype::has_large_counts`].
    large_counts: bool,
    data: Typemap,
    /// Set when the datatype is committed.
    flat: OnceLock<Flat>,
    name: Mutex<OsString>,
}

/// What communication uses.
pub(crate) struct Flat {
    pub layout: Layout,
    /// See [`Datatype::is_dense`].
    pub dense: bool,
}

impl Datatype {
    /// A predefined datatype; it is committed, and named like its constant in C.
    pub fn basic(basic: BasicType) -> Self {
        let datatype = Self::build(Constructor::Basic(basic), Typemap::basic(basic));
        datatype.set_name(basic.name());
        datatype.commit();
        datatype
    }

    /// Makes the datatype usable in communication.
    pub fn commit(&self) {
        self.0.flat.get_or_init(|| Flat { layout: self.0.data.layout.unrolled(), dense: self.is_dense() });
    }

    /// Whether the datatype may be used in communication.
    pub fn is_committed(&self) -> bool {
        self.0.flat.get().is_some()
    }

    /// Bytes of data in one element; gaps do not count.
    #[inline]
    pub fn size(&self) -> u64 {
        self.0.data.signature.bytes
    }

    /// Where the element begins, in bytes from its origin.
    pub fn lower_bound(&self) -> i64 {
        self.0.data.bounds.lower
    }

    /// Bytes from one element to the next.
    pub fn extent(&self) -> i64 {
        self.0.data.extent()
    }

    /// Where the first byte of data lies, from the origin.
    pub fn true_lower_bound(&self) -> i64 {
        self.true_bounds().lower
    }

    /// Bytes from the first to behind the last byte of data.
    pub fn true_extent(&self) -> i64 {
        self.true_bounds().extent()
    }

    /// The predefined datatype that this is, under its name or as a Fortran kind. A duplicate is none.
    pub fn basic_type(&self) -> Option<BasicType> {
        match self.0.constructor {
            Constructor::Basic(basic)
            | Constructor::F90Complex { basic, .. }
            | Constructor::F90Integer { basic, .. }
            | Constructor::F90Real { basic, .. } => Some(basic),
            _ => None,
        }
    }

    /// What a pair without a name in the standard consists of: value and index.
    pub fn value_and_index(&self) -> Option<[BasicType; 2]> {
        let Constructor::ValueIndex { types: [value, index] } = &self.0.constructor else { return None };
        Some([value.basic_type()?, index.basic_type()?])
    }

    /// Whether MPI provides the datatype, with or without a name: a program cannot free it.
    pub fn is_predefined(&self) -> bool {
        self.basic_type().is_some() || self.value_and_index().is_some()
    }

    /// The basic type that all elements of the typemap have, if there is only one.
    pub fn element(&self) -> Option<BasicType> {
        self.0.data.signature.element()
    }

    /// The basic elements in `bytes` bytes of received elements, the last of which may be incomplete; `None` if
    /// the bytes end inside a basic element. A pair is two elements.
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        self.0.data.signature.elements_in(bytes)
    }

    /// The bytes of so many basic elements, the inverse of [`Datatype::elements_in`]; `None` if they are more
    /// than 64 bits can say, or the datatype has no elements.
    pub fn bytes_of_elements(&self, elements: u64) -> Option<u64> {
        self.0.data.signature.bytes_of(elements)
    }

    /// The type signature: the basic types in packed order, each with the number of neighbours of that type.
    pub fn signature(&self) -> SignatureRuns<'_> {
        self.0.data.signature.runs()
    }

    /// The typemap: basic types in packed order, and their displacements.
    pub fn typemap(&self) -> impl Iterator<Item = (BasicType, i64)> {
        let elements = self.signature().flat_map(|(basic, count)| (0..count).map(move |_| basic));
        elements.scan(0, |skip, basic| {
            let (displacement, _) = self.0.data.layout.run_at(*skip);
            *skip += basic.size() as u64;
            Some((basic, displacement))
        })
    }

    /// Whether any number of consecutive elements is, in packed order, one piece of memory that begins at the
    /// origin.
    pub fn is_dense(&self) -> bool {
        self.0.data.layout.dense_at(self.extent()) == Some(0)
    }

    /// How the datatype was made.
    pub fn constructor(&self) -> &Constructor {
        &self.0.constructor
    }

    /// The datatype, said to be made by the large-count form of its constructor.
    ///
    /// # Panics
    /// If it is not new: there are clones.
    #[must_use]
    pub fn with_large_counts(mut self) -> Self {
        Arc::get_mut(&mut self.0).expect("a new datatype has no clones").large_counts = true;
        self
    }

    /// Whether the large-count form of its constructor made it.
    pub fn has_large_counts(&self) -> bool {
        self.0.large_counts
    }

    /// A datatype that was made in the same way, with a name of its own and not committed.
    #[must_use]
    pub fn anew(&self) -> Self {
        let Inner { constructor, large_counts, data, .. } = &*self.0;
        let (constructor, data) = (constructor.clone(), data.clone());
        let (flat, name) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(Inner { constructor, large_counts: *large_counts, data, flat, name }))
    }

    /// The name, bytes as C has it; empty unless predefined or set.
    pub fn name(&self) -> OsString {
        self.0.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives the datatype a name.
    pub fn set_name(&self, name: impl AsRef<OsStr>) {
        name.as_ref().clone_into(&mut self.0.name.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Whether `self` and `other` are the same object.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn build(constructor: Constructor, data: Typemap) -> Self {
        let (flat, name) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(Inner { constructor, large_counts: false, data, flat, name }))
    }

    /// What new datatypes are composed of.
    pub(crate) fn data(&self) -> &Typemap {
        &self.0.data
    }

    #[inline]
    pub(crate) fn flat(&self) -> Option<&Flat> {
        self.0.flat.get()
    }

    /// The interval from the first to behind the last byte, empty if there are none.
    pub(crate) fn true_bounds(&self) -> Bounds {
        self.0.data.true_bounds()
    }
}

impl Drop for Inner {
    /// Datatypes made of datatypes a million times over would overflow the stack if each dropped the next.
    fn drop(&mut self) {
        let mut orphans = self.constructor.take_olds();
        while let Some(orphan) = orphans.pop() {
            if let Some(mut inner) = Arc::into_inner(orphan.0) {
                orphans.append(&mut inner.constructor.take_olds());
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
