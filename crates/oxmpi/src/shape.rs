//! Which elements of a slice are meant, and in which order: the constructors of datatypes, for slices.
//!
//! MPI-5.0: Datatypes, Datatype Constructors.

use std::ops::Range;

use oxmpi_base::{BasicType, Error, ErrorClass, Result, order};
use oxmpi_datatype::{Buffer as Memory, Datatype, Order, Subarray};

use crate::loan::Loan;

/// Which elements of a slice a [`View`](crate::View) has, and in which order.
///
/// It is checked against a slice when a view is made of both; one shape serves many slices.
///
/// ```
/// use oxmpi::{Shape, View};
///
/// # fn main() -> oxmpi::Result<()> {
/// let column = Shape::strided(3, 1, 4); // of a matrix of 3 rows of 4
/// let (a, b): (Vec<i32>, Vec<i32>) = ((0..12).collect(), (100..112).collect());
/// assert_eq!(View::new(&a[2..], &column)?.to_vec(), [2, 6, 10]);
/// assert_eq!(View::new(&b, &column)?.to_vec(), [100, 104, 108]);
/// assert!(View::new(&a[8..], &column).is_err(), "it does not lie in there");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Indexed(Vec<Range<usize>>),
    Strided { blocks: usize, block: usize, stride: usize },
    Subarray { sizes: Vec<usize>, part: Vec<Range<usize>> },
}

/// A shape on a slice: a datatype that has so many elements.
#[derive(Debug)]
pub(crate) struct Fitted {
    /// `None` if there are no elements.
    pub datatype: Option<Datatype>,
    pub elements: usize,
}

impl Shape {
    /// `blocks` blocks of `block` elements, which begin `stride` elements apart, the first at the beginning of the
    /// slice.
    ///
    /// ```
    /// use oxmpi::{Shape, View};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let matrix: Vec<f64> = (0..12).map(f64::from).collect(); // 3 rows of 4
    /// let second_column = View::new(&matrix[1..], &Shape::strided(3, 1, 4))?;
    /// assert_eq!(second_column.to_vec(), [1.0, 5.0, 9.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub const fn strided(blocks: usize, block: usize, stride: usize) -> Self {
        Self(Kind::Strided { blocks, block, stride })
    }

    /// The elements of each range, one range after the other.
    ///
    /// ```
    /// use oxmpi::{Shape, View};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let view = View::new(&[0, 10, 20, 30, 40], &Shape::indexed([3..5, 0..1]))?;
    /// assert_eq!(view.to_vec(), [30, 40, 0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn indexed(ranges: impl IntoIterator<Item = Range<usize>>) -> Self {
        Self(Kind::Indexed(ranges.into_iter().collect()))
    }

    /// The elements of one range.
    ///
    /// ```
    /// use oxmpi::{Shape, View};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let view = View::new(&[0, 10, 20, 30, 40], &Shape::range(3..5))?;
    /// assert_eq!(view.to_vec(), [30, 40]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn range(range: Range<usize>) -> Self {
        Self::indexed(Some(range))
    }

    /// Part of an array of `D` dimensions that fills the slice, whose last dimension varies fastest.
    ///
    /// ```
    /// use oxmpi::{Shape, View};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let matrix: Vec<i32> = (0..12).collect(); // 3 rows of 4
    /// let inner = View::new(&matrix, &Shape::subarray([3, 4], [1..3, 1..3]))?;
    /// assert_eq!(inner.to_vec(), [5, 6, 9, 10]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn subarray<const D: usize>(sizes: [usize; D], part: [Range<usize>; D]) -> Self {
        Self(Kind::Subarray { sizes: sizes.into(), part: part.into() })
    }

    /// Its blocks of elements that follow each other, of a shape that has been found to lie in a slice, and to have
    /// elements: one that has none may be of any size.
    pub(crate) fn ranges(&self) -> Vec<Range<usize>> {
        match &self.0 {
            Kind::Indexed(ranges) => ranges.clone(),
            &Kind::Strided { blocks, block, stride } if block == stride => {
                Vec::from_iter(Some(0..blocks * block))
            }
            &Kind::Strided { blocks, block, stride } => {
                (0..blocks).map(|index| index * stride..index * stride + block).collect()
            }
            Kind::Subarray { sizes, part } => {
                // From the last dimension on, of which the rows are ranges, to the first.
                let (mut rows, mut row) = (Vec::from_iter(Some(0..1)), 1);
                for (range, size) in part.iter().zip(sizes).rev() {
                    let inside = |place: usize| rows.iter().map(move |it| it.start + place..it.end + place);
                    rows = match rows.as_slice() {
                        [whole] if whole.len() == row => {
                            Vec::from_iter(Some(range.start * row..range.end * row))
                        }
                        _ => range.clone().flat_map(|index| inside(index * row)).collect(),
                    };
                    row *= size;
                }
                rows
            }
        }
    }

    /// The same in whatever order, and no block twice.
    fn covered(&self) -> Vec<Range<usize>> {
        match self.0 {
            // Of blocks that overlap there may be more than memory has room for.
            Kind::Strided { blocks, block, stride } if stride < block => {
                Vec::from_iter(Some(0..(blocks - 1) * stride + block))
            }
            _ => self.ranges(),
        }
    }

    /// As [`Shape::ranges`], of what may have elements any number of times.
    ///
    /// # Errors
    /// `NoMem` if there is no memory for pieces of as many.
    fn listed(&self) -> Result<Vec<Range<usize>>> {
        if let Kind::Strided { blocks, .. } = self.0 {
            Vec::<Memory>::new().try_reserve_exact(blocks).map_err(|_| {
                let text = format!("there is no memory to say where {blocks} blocks are");
                Error::new(ErrorClass::NoMem, text)
            })?;
        }
        Ok(self.ranges())
    }

    /// What it means on a slice of `len` elements of the datatype `old`.
    ///
    /// # Errors
    /// `Arg` if it does not lie in the slice, or `disjoint` is asked for and it has an element twice.
    pub(crate) fn fit(&self, len: usize, disjoint: bool, old: &Datatype) -> Result<Fitted> {
        match &self.0 {
            Kind::Indexed(ranges) => fit_ranges(ranges, len, disjoint, old),
            &Kind::Strided { blocks, block, stride } => {
                fit_blocks([blocks, block, stride], len, disjoint, old)
            }
            Kind::Subarray { sizes, part } => fit_part(sizes, part, len, old),
        }
    }
}

/// Parts of what is lent, each of a shape, one for each rank or edge.
pub(crate) struct Parts<'a> {
    loan: &'a Loan<'a>,
    shapes: &'a [Shape],
    /// An element of the loan, as bytes.
    element: Datatype,
    fitted: Vec<Fitted>,
}

impl<'a> Parts<'a> {
    /// Those of what is lent as `argument` to be sent, for so many ranks.
    ///
    /// # Errors
    /// `Count` if there are more or fewer shapes; `Arg` if one does not lie in the buffer.
    pub fn sent(argument: &str, loan: &'a Loan<'_>, ranks: usize, shapes: &'a [Shape]) -> Result<Self> {
        Self::new(argument, loan, ranks, shapes, false)
    }

    /// Those of what is lent to be received into.
    ///
    /// # Errors
    /// As [`Parts::sent`]; `Arg` if an element is there twice.
    pub fn received(loan: &'a Loan<'_>, ranks: usize, shapes: &'a [Shape]) -> Result<Self> {
        // Each shape first: one whose blocks overlap may have more of them than memory has room for.
        let parts = Self::new("recv", loan, ranks, shapes, true)?;
        check_apart(parts.ranges())?;
        Ok(parts)
    }

    fn new(
        argument: &str,
        loan: &'a Loan<'_>,
        ranks: usize,
        shapes: &'a [Shape],
        disjoint: bool,
    ) -> Result<Self> {
        if shapes.len() != ranks {
            let text = format!("there are {} parts of {argument}, for {ranks} of the others", shapes.len());
            return Err(Error::new(ErrorClass::Count, text));
        }
        let element = Datatype::contiguous(loan.element_bytes() as i64, &Datatype::basic(BasicType::Byte))?;
        element.commit();
        let fit = |shape: &Shape| {
            shape.fit(loan.elements(), disjoint, &element).map_err(|error| error.about(argument))
        };
        let fitted = shapes.iter().map(fit).collect::<Result<_>>()?;
        Ok(Self { loan, shapes, element, fitted })
    }

    /// # Errors
    /// `Arg` if an element is here, where all are apart, and there.
    pub fn check_beside(&self, others: &Self) -> Result<()> {
        let mut ours: Vec<_> = self.ranges().collect();
        order::by_key(&mut ours, |range| range.start as u64);
        let shared = |theirs: &Range<usize>| {
            let ours = ours.get(ours.partition_point(|range| range.end <= theirs.start))?;
            (ours.start < theirs.end).then(|| (ours.clone(), theirs.clone()))
        };
        match others.ranges().find_map(|theirs| shared(&theirs)) {
            Some((ours, theirs)) => {
                Err(wrong(format!("{theirs:?} are sent, and {ours:?} received into, which overlap")))
            }
            None => Ok(()),
        }
    }

    /// The elements as ranges, none empty, in whatever order. What has no bytes is not there: of that a shape may have
    /// more elements than memory has room to say where they are.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let there = self.shapes.iter().zip(&self.fitted);
        let there = there.filter(|(_, fitted)| fitted.elements > 0 && self.element.size() > 0);
        there.flat_map(|(shape, _)| shape.covered()).filter(|range| !range.is_empty())
    }

    /// The memory of each part.
    ///
    /// # Errors
    /// `Count` if one does not fit the address space; `NoMem` if there is no memory to say where its elements are.
    ///
    /// # Safety
    /// As [`Loan::claim`].
    pub unsafe fn claim(&self) -> Result<Vec<Memory>> {
        // SAFETY: the caller's promise.
        let whole = unsafe { self.loan.claim() };
        let element = self.loan.element_bytes() as u64;
        let part = |(shape, fitted): (&Shape, &Fitted)| match (&fitted.datatype, whole.as_dense()) {
            _ if element == 0 => Ok(Memory::EMPTY),
            (None, _) => Ok(Memory::EMPTY),
            // SAFETY: `fit` has found it to lie in what is lent; the rest is the caller's promise.
            (Some(datatype), Some(base)) => unsafe { Memory::new(base.as_ptr(), 1, datatype) },
            // Elements that do not follow each other are found by their places in packed order.
            (Some(_), None) => {
                let piece = |range: Range<usize>| {
                    whole.slice(range.start as u64 * element, range.len() as u64 * element)
                };
                let ranges = shape.listed()?.into_iter().filter(|range| !range.is_empty());
                Ok(Memory::joined(ranges.map(piece).collect()))
            }
        };
        self.shapes.iter().zip(&self.fitted).map(part).collect()
    }
}

/// # Errors
/// `Arg` if two ranges overlap.
pub(crate) fn check_apart(ranges: impl Iterator<Item = Range<usize>>) -> Result<()> {
    let mut sorted: Vec<_> = ranges.filter(|range| !range.is_empty()).collect();
    order::by_key(&mut sorted, |range| range.start as u64);
    match sorted.windows(2).find(|pair| pair[0].end > pair[1].start) {
        Some(pair) => Err(wrong(format!("the ranges {:?} and {:?} overlap", pair[0], pair[1]))),
        None => Ok(()),
    }
}

impl Fitted {
    pub const EMPTY: Self = Self { datatype: None, elements: 0 };

    pub fn new(datatype: Datatype, elements: usize) -> Self {
        datatype.commit();
        Self { datatype: Some(datatype), elements }
    }
}

fn fit_blocks(
    [blocks, block, stride]: [usize; 3],
    len: usize,
    disjoint: bool,
    old: &Datatype,
) -> Result<Fitted> {
    if blocks == 0 || block == 0 {
        return Ok(Fitted::EMPTY);
    }
    let end = (blocks - 1).checked_mul(stride).and_then(|last| last.checked_add(block));
    let elements = blocks.checked_mul(block);
    let (Some(elements), true) = (elements, end.is_some_and(|end| end <= len)) else {
        let text =
            format!("{blocks} blocks of {block} elements, {stride} apart, do not lie in {len} elements");
        return Err(wrong(text));
    };
    if disjoint && blocks > 1 && stride < block {
        return Err(wrong(format!("blocks of {block} elements overlap that are {stride} apart")));
    }
    check_countable(elements, old)?;
    let stride = if blocks == 1 { block } else { stride }; // one block is nowhere else, whatever the stride
    let vector = Datatype::vector(blocks as i64, block as i64, stride as i64, old)?;
    Ok(Fitted::new(vector, elements))
}

fn fit_ranges(ranges: &[Range<usize>], len: usize, disjoint: bool, old: &Datatype) -> Result<Fitted> {
    if let Some(Range { start, end }) = ranges.iter().find(|range| range.start > range.end || range.end > len)
    {
        return Err(wrong(format!("the range {start}..{end} does not lie in {len} elements")));
    }
    if disjoint {
        check_apart(ranges.iter().cloned())?;
    }
    let total = ranges.iter().try_fold(0_usize, |sum, range| sum.checked_add(range.len()));
    let elements = total.unwrap_or(usize::MAX);
    if elements == 0 {
        return Ok(Fitted::EMPTY);
    }
    check_countable(elements, old)?;
    let lengths = ranges.iter().map(|range| range.len() as i64).collect();
    let indexed = Datatype::indexed(lengths, ranges.iter().map(|range| range.start as i64).collect(), old)?;
    Ok(Fitted::new(indexed, elements))
}

fn fit_part(sizes: &[usize], part: &[Range<usize>], len: usize, old: &Datatype) -> Result<Fitted> {
    if sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size)) != Some(len) {
        return Err(wrong(format!("an array of {sizes:?} elements does not fill a slice of {len}")));
    }
    let outside = |(range, size): &(&Range<usize>, &usize)| range.start > range.end || range.end > **size;
    if let Some((Range { start, end }, size)) = part.iter().zip(sizes).find(outside) {
        return Err(wrong(format!("the range {start}..{end} does not lie in a dimension of {size}")));
    }
    let elements = part.iter().map(Range::len).product();
    if elements == 0 {
        return Ok(Fitted::EMPTY);
    }
    check_countable(elements, old)?;
    let sizes = sizes.iter().map(|&size| size as i64).collect();
    let subsizes = part.iter().map(|range| range.len() as i64).collect();
    let starts = part.iter().map(|range| range.start as i64).collect();
    let subarray = Datatype::subarray(Subarray { sizes, subsizes, starts, order: Order::C }, old)?;
    Ok(Fitted::new(subarray, elements))
}

/// # Errors
/// `Arg` if so many elements are more than can be counted, or their bytes: blocks may lie over each other, and elements
/// need not have bytes.
pub(crate) fn check_countable(elements: usize, old: &Datatype) -> Result<()> {
    let bytes = elements as u128 * u128::from(old.size().max(1));
    if i64::try_from(bytes).is_ok() {
        Ok(())
    } else {
        Err(wrong("there are more elements than memory can have".to_owned()))
    }
}

fn wrong(text: String) -> Error {
    Error::new(ErrorClass::Arg, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements one by one.
    fn elements(shape: &Shape) -> Vec<usize> {
        shape.ranges().into_iter().flatten().collect()
    }

    #[test]
    fn ranges_are_the_elements_of_a_shape() {
        assert_eq!(elements(&Shape::strided(3, 2, 4)), [0, 1, 4, 5, 8, 9]);
        assert_eq!(elements(&Shape::strided(3, 4, 4)), Vec::from_iter(0..12));
        assert_eq!(Shape::strided(3, 4, 4).ranges().len(), 1);
        assert_eq!(elements(&Shape::indexed([5..6, 1..3, 4..4])), [5, 1, 2]);
        let sizes = [3, 4, 5];
        for (first, second, third) in
            [(0..3, 0..4, 0..5), (1..3, 2..4, 0..5), (0..1, 1..1, 2..3), (2..3, 0..4, 4..5)]
        {
            let mut expected = Vec::new();
            for i in first.clone() {
                for j in second.clone() {
                    expected.extend(third.clone().map(|k| (i * 4 + j) * 5 + k));
                }
            }
            let shape = Shape::subarray(sizes, [first, second, third]);
            assert_eq!(elements(&shape), expected, "{shape:?}");
        }
        assert_eq!(Shape::subarray(sizes, [1..2, 0..4, 0..5]).ranges().len(), 1);
    }
}
