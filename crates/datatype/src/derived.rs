//! The constructors of datatypes from other datatypes.
//!
//! MPI-5.0: Datatypes, Datatype Constructors.

use std::iter;

use oxmpi_base::{BasicType, Error, ErrorClass, Result};

use crate::bounds::Bounds;
use crate::typemap::Typemap;
use crate::{Constructor, Datatype};

impl Datatype {
    /// `count` elements of `old`, one extent apart.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if `count` is negative or the result is too large for 64 bits.
    pub fn contiguous(count: i64, old: &Self) -> Result<Self> {
        let elements = non_negative(ErrorClass::Count, "count", count)?;
        let typemap = old.data().repeat(elements, old.extent())?;
        Ok(Self::build(Constructor::Contiguous { count, old: old.clone() }, typemap))
    }

    /// `count` blocks of `blocklength` elements of `old`, the blocks `stride` extents apart.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if `count` is negative or the result is too large for 64 bits;
    /// [`ErrorClass::Arg`] if `blocklength` is negative.
    pub fn vector(count: i64, blocklength: i64, stride: i64, old: &Self) -> Result<Self> {
        let typemap = strided(count, blocklength, || extents("stride", stride, old), old)?;
        Ok(Self::build(Constructor::Vector { count, blocklength, stride, old: old.clone() }, typemap))
    }

    /// `count` blocks of `blocklength` elements of `old`, the blocks `stride_bytes` bytes apart.
    ///
    /// # Errors
    /// As [`Datatype::vector`].
    pub fn hvector(count: i64, blocklength: i64, stride_bytes: i64, old: &Self) -> Result<Self> {
        let typemap = strided(count, blocklength, || Ok(stride_bytes), old)?;
        Ok(Self::build(Constructor::Hvector { count, blocklength, stride_bytes, old: old.clone() }, typemap))
    }

    /// Blocks of elements of `old`: how many, and how many extents from the origin they begin.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if a block length is negative; [`ErrorClass::Count`] if the result is too large for
    /// 64 bits.
    ///
    /// # Panics
    /// If the vectors differ in length.
    pub fn indexed(blocklengths: Vec<i64>, displacements: Vec<i64>, old: &Self) -> Result<Self> {
        let bytes = displacements_in_bytes(&displacements, blocklengths.iter().copied(), old)?;
        let typemap = old.data().blocks(blocks(&blocklengths, &bytes)?)?;
        Ok(Self::build(Constructor::Indexed { blocklengths, displacements, old: old.clone() }, typemap))
    }

    /// Blocks of elements of `old`: how many, and how many bytes from the origin they begin.
    ///
    /// # Errors
    /// As [`Datatype::indexed`].
    ///
    /// # Panics
    /// As [`Datatype::indexed`].
    pub fn hindexed(blocklengths: Vec<i64>, displacements: Vec<i64>, old: &Self) -> Result<Self> {
        let typemap = old.data().blocks(blocks(&blocklengths, &displacements)?)?;
        Ok(Self::build(Constructor::Hindexed { blocklengths, displacements, old: old.clone() }, typemap))
    }

    /// Blocks of `blocklength` elements of `old`, each so many extents from the origin.
    ///
    /// # Errors
    /// As [`Datatype::indexed`].
    pub fn indexed_block(blocklength: i64, displacements: Vec<i64>, old: &Self) -> Result<Self> {
        let elements = non_negative(ErrorClass::Arg, "blocklength", blocklength)?;
        let bytes = displacements_in_bytes(&displacements, iter::repeat(blocklength), old)?;
        let typemap = old.data().blocks(bytes.iter().map(|at| (elements, *at)))?;
        Ok(Self::build(Constructor::IndexedBlock { blocklength, displacements, old: old.clone() }, typemap))
    }

    /// Blocks of `blocklength` elements of `old`, each so many bytes from the origin.
    ///
    /// # Errors
    /// As [`Datatype::indexed`].
    pub fn hindexed_block(blocklength: i64, displacements: Vec<i64>, old: &Self) -> Result<Self> {
        let elements = non_negative(ErrorClass::Arg, "blocklength", blocklength)?;
        let typemap = old.data().blocks(displacements.iter().map(|at| (elements, *at)))?;
        Ok(Self::build(Constructor::HindexedBlock { blocklength, displacements, old: old.clone() }, typemap))
    }

    /// Blocks, each with a datatype of its own: how many elements, and how many bytes from the origin they
    /// begin.
    ///
    /// # Errors
    /// As [`Datatype::indexed`].
    ///
    /// # Panics
    /// As [`Datatype::indexed`].
    pub fn structure(blocklengths: Vec<i64>, displacements: Vec<i64>, types: Vec<Self>) -> Result<Self> {
        assert_eq!(types.len(), displacements.len(), "each block has a datatype");
        let blocks = blocks(&blocklengths, &displacements)?.zip(&types);
        let typemap =
            Typemap::sequence(blocks.map(|((elements, at), datatype)| (elements, at, datatype.data())))?;
        Ok(Self::build(Constructor::Struct { blocklengths, displacements, types }, typemap))
    }

    /// A new datatype like `self`, committed if `self` is.
    pub fn dup(&self) -> Self {
        let datatype = Self::build(Constructor::Dup { old: self.clone() }, self.data().clone());
        if self.is_committed() {
            datatype.commit();
        }
        datatype
    }

    /// Pairs of a value and an index as they lie in a C structure; committed.
    pub fn value_index(value: BasicType, index: BasicType) -> Self {
        let types = [value, index].map(Self::basic);
        let place = value.extent().next_multiple_of(index.align()) as i64;
        let parts = [(1, 0, types[0].data()), (1, place, types[1].data())];
        let typemap = Typemap::sequence(parts.into_iter()).expect("two numbers are not too much");
        let datatype = Self::build(Constructor::ValueIndex { types }, typemap);
        datatype.commit();
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
        let typemap = old.data().clone().resized(Bounds { lower: lower_bound, upper });
        Ok(Self::build(Constructor::Resized { lower_bound, extent, old: old.clone() }, typemap))
    }
}

/// `count` blocks of `blocklength` elements of `old`.
fn strided(
    count: i64,
    blocklength: i64,
    stride: impl FnOnce() -> Result<i64>,
    old: &Datatype,
) -> Result<Typemap> {
    let blocks = non_negative(ErrorClass::Count, "count", count)?;
    let elements = non_negative(ErrorClass::Arg, "blocklength", blocklength)?;
    if blocks == 0 || elements == 0 {
        return old.data().repeat(0, 0);
    }
    // The distance to a block that is not there may be what it likes.
    let stride = if blocks == 1 { 0 } else { stride()? };
    old.data().repeat(elements, old.extent())?.repeat(blocks, stride)
}

/// Blocks with a length of their own: elements and displacement of each.
fn blocks<'a>(
    blocklengths: &'a [i64],
    displacements: &'a [i64],
) -> Result<impl Iterator<Item = (u64, i64)> + Clone + 'a> {
    assert_eq!(blocklengths.len(), displacements.len(), "each block has a length");
    if let Some(index) = blocklengths.iter().position(|length| *length < 0) {
        let text = format!("array_of_blocklengths[{index}] is {}", blocklengths[index]);
        return Err(Error::new(ErrorClass::Arg, text));
    }
    Ok(blocklengths.iter().map(|length| *length as u64).zip(displacements.iter().copied()))
}

/// Where blocks begin that have elements; empty ones are anywhere.
fn displacements_in_bytes(
    displacements: &[i64],
    blocklengths: impl Iterator<Item = i64>,
    old: &Datatype,
) -> Result<Vec<i64>> {
    displacements
        .iter()
        .zip(blocklengths)
        .map(|(displacement, length)| match length {
            0 => Ok(0),
            _ => extents("array_of_displacements", *displacement, old),
        })
        .collect()
}

/// The bytes of so many extents.
fn extents(argument: &str, count: i64, old: &Datatype) -> Result<i64> {
    count.checked_mul(old.extent()).ok_or_else(|| {
        let extent = old.extent();
        let text = format!("{argument} is {count}: so many extents of {extent} bytes fit no 64 bits");
        Error::new(ErrorClass::Count, text)
    })
}

fn non_negative(class: ErrorClass, argument: &str, value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|_| Error::new(class, format!("{argument} is {value}")))
}
