//! Parts of arrays of several dimensions: one block, or what a grid of processes deals to one of them.
//!
//! Both work from the dimension that varies fastest to the slowest: what is selected in one dimension becomes
//! the element of the next, with the extent of the whole dimension.
//! MPI-5.0: Datatypes, Subarray Datatype Constructor and Distributed Array Datatype Constructor.

use oxmpi_base::{Error, ErrorClass, Result};

use crate::bounds::Bounds;
use crate::typemap::Typemap;
use crate::{Constructor, Darray, Datatype, Distribution, Order, Subarray};

impl Datatype {
    /// A block of an array of several dimensions of `old`, with the extent of the whole array.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if there are no dimensions, or the block is empty or does not lie inside the array;
    /// [`ErrorClass::Count`] if the result is too large for 64 bits.
    ///
    /// # Panics
    /// If the vectors differ in length.
    pub fn subarray(arguments: Subarray, old: &Self) -> Result<Self> {
        let Subarray { sizes, subsizes, starts, order } = &arguments;
        assert!(sizes.len() == subsizes.len() && sizes.len() == starts.len(), "each dimension has an entry");
        check_dimensions(sizes.len())?;
        for dimension in 0..sizes.len() {
            let (size, subsize, start) = (sizes[dimension], subsizes[dimension], starts[dimension]);
            at_least(1, "array_of_sizes", dimension, size)?;
            at_least(1, "array_of_subsizes", dimension, subsize)?;
            at_least(0, "array_of_starts", dimension, start)?;
            if subsize > size || start > size - subsize {
                let text = format!(
                    "array_of_subsizes[{dimension}] is {subsize}: from {start} so many are not in {size}"
                );
                return Err(Error::new(ErrorClass::Arg, text));
            }
        }
        let mut typemap = old.data().clone();
        for dimension in order.fastest_first(sizes.len()) {
            let (size, subsize, start) = (sizes[dimension], subsizes[dimension], starts[dimension]);
            let extent = typemap.extent();
            let block = typemap.blocks([(subsize as u64, product(start, extent)?)].into_iter())?;
            typemap = block.resized(Bounds { lower: 0, upper: product(size, extent)? });
        }
        let constructor = Constructor::Subarray { arguments: Box::new(arguments), old: old.clone() };
        Ok(Self::build(constructor, typemap))
    }

    /// What one process of a grid has of an array of several dimensions of `old`, with the extent of the whole
    /// array.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if an argument is out of range, or the grid has not as many processes as it should;
    /// [`ErrorClass::Count`] if the result is too large for 64 bits.
    ///
    /// # Panics
    /// If the vectors differ in length.
    pub fn darray(arguments: Darray, old: &Self) -> Result<Self> {
        let coordinates = coordinates(&arguments)?;
        let mut typemap = old.data().clone();
        for dimension in arguments.order.fastest_first(coordinates.len()) {
            let block = block_length(&arguments, dimension)?;
            let (gsize, psize) = (arguments.gsizes[dimension], arguments.psizes[dimension]);
            typemap = deal(&typemap, gsize, block, psize, coordinates[dimension])?;
        }
        let constructor = Constructor::Darray { arguments: Box::new(arguments), old: old.clone() };
        Ok(Self::build(constructor, typemap))
    }
}

impl Order {
    /// The dimensions, beginning with the one that varies fastest.
    fn fastest_first(self, dimensions: usize) -> impl Iterator<Item = usize> {
        (0..dimensions).map(move |step| match self {
            Self::C => dimensions - 1 - step,
            Self::Fortran => step,
        })
    }
}

/// Where the process is in the grid.
fn coordinates(arguments: &Darray) -> Result<Vec<i64>> {
    let Darray { size, rank, gsizes, distributions, dargs, psizes, .. } = arguments;
    let lengths = [distributions.len(), dargs.len(), psizes.len()];
    assert_eq!(lengths, [gsizes.len(); 3], "each dimension has an entry");
    if *size < 1 {
        return Err(Error::new(ErrorClass::Arg, format!("size is {size}")));
    }
    if !(0..*size).contains(rank) {
        return Err(Error::new(ErrorClass::Arg, format!("rank is {rank} in a grid of {size} processes")));
    }
    check_dimensions(gsizes.len())?;
    for dimension in 0..gsizes.len() {
        at_least(1, "array_of_gsizes", dimension, gsizes[dimension])?;
        at_least(1, "array_of_psizes", dimension, psizes[dimension])?;
    }
    let grid = psizes.iter().try_fold(1i64, |grid, psize| grid.checked_mul(*psize));
    if grid != Some(*size) {
        let text = format!("size is {size}, which is not the product of array_of_psizes {psizes:?}");
        return Err(Error::new(ErrorClass::Arg, text));
    }
    let mut processes = *size;
    let coordinates = psizes.iter().map(|psize| {
        let slice = processes;
        processes /= psize;
        rank % slice / processes
    });
    Ok(coordinates.collect())
}

/// Elements that one process gets at a time.
fn block_length(arguments: &Darray, dimension: usize) -> Result<i64> {
    let (gsize, psize) = (arguments.gsizes[dimension], arguments.psizes[dimension]);
    let refused = |text: String| Err(Error::new(ErrorClass::Arg, text));
    let is_dealt = arguments.distributions[dimension] != Distribution::None;
    if let Some(darg) = arguments.dargs[dimension].filter(|_| is_dealt) {
        at_least(1, "array_of_dargs", dimension, darg)?;
    }
    match (arguments.distributions[dimension], arguments.dargs[dimension]) {
        (Distribution::None, _) if psize != 1 => {
            refused(format!("array_of_psizes[{dimension}] is {psize}, and the dimension is not distributed"))
        }
        (Distribution::None, _) => Ok(gsize),
        (Distribution::Block, None) => Ok((gsize - 1) / psize + 1),
        (Distribution::Block, Some(darg)) if i128::from(darg) * i128::from(psize) < gsize.into() => {
            refused(format!(
                "array_of_dargs[{dimension}] is {darg}: blocks for {psize} processes do not hold {gsize}"
            ))
        }
        (Distribution::Cyclic, None) => Ok(1),
        // A longer block than the dimension is the dimension.
        (Distribution::Block | Distribution::Cyclic, Some(darg)) => Ok(darg.min(gsize)),
    }
}

/// What the process at `coordinate` of `psize` gets of `gsize` elements dealt in blocks of `block`.
fn deal(element: &Typemap, gsize: i64, block: i64, psize: i64, coordinate: i64) -> Result<Typemap> {
    let extent = element.extent();
    let (first, cycle) = (product(coordinate, block)?, product(psize, block)?);
    let whole = if first <= gsize - block { (gsize - block - first) / cycle + 1 } else { 0 };
    let last = i128::from(first) + i128::from(whole) * i128::from(cycle);
    let rest = (i128::from(gsize) - last).clamp(0, block.into()) as u64;
    let blocks = element.repeat(block as u64, extent)?.repeat(whole as u64, stride(cycle, whole, extent)?)?;
    // Elements that are left begin inside the dimension.
    let behind = if rest == 0 { 0 } else { product(last as i64, extent)? };
    let pieces = [(1, product(first.min(gsize), extent)?, &blocks), (rest, behind, element)];
    let whole_dimension = Bounds { lower: 0, upper: product(gsize, extent)? };
    Ok(Typemap::sequence(pieces.into_iter())?.resized(whole_dimension))
}

/// Bytes from one block to the next, where there is a next one.
fn stride(cycle: i64, blocks: i64, extent: i64) -> Result<i64> {
    if blocks > 1 { product(cycle, extent) } else { Ok(0) }
}

fn product(a: i64, b: i64) -> Result<i64> {
    a.checked_mul(b)
        .ok_or_else(|| Error::new(ErrorClass::Count, format!("the array is too large: {a} x {b} bytes")))
}

fn check_dimensions(dimensions: usize) -> Result<()> {
    if dimensions != 0 {
        return Ok(());
    }
    Err(Error::new(ErrorClass::Arg, "ndims is 0: an array has at least one dimension".to_owned()))
}

fn at_least(least: i64, argument: &str, index: usize, value: i64) -> Result<()> {
    if value >= least {
        return Ok(());
    }
    Err(Error::new(ErrorClass::Arg, format!("{argument}[{index}] is {value}")))
}
