//! Blocks of any length: how a buffer is divided among the ranks.
//!
//! MPI-5.0: Collective Communication, Gather, Vector Variants.

use std::ops::Range;

use oxmpi_base::{Error, ErrorClass, Result, order};
use oxmpi_datatype::Buffer as Memory;

use crate::loan::Loan;

/// Which elements of a buffer belong to which rank: `counts` and `displacements` of the standard, checked.
///
/// Where a call takes blocks, an array or vector of counts will do if one block follows the other. Whether they lie in
/// their buffer, and do not overlap where data are received, is checked by the call.
///
/// ```
/// use oxmpi::Blocks;
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// let (rank, size) = (world.rank(), world.size());
/// // Rank i has i elements.
/// let counts: Vec<usize> = (0..size).collect();
/// let mut all = vec![usize::MAX; counts.iter().sum()];
/// world.allgatherv(&vec![rank; rank], &mut all, &counts)?;
/// assert!(all.iter().copied().eq((0..size).flat_map(|rank| vec![rank; rank])));
/// // The same, each block at the beginning of a row.
/// let mut rows = vec![usize::MAX; size * size];
/// let blocks = Blocks::new(counts, (0..size).map(|rank| rank * size))?;
/// world.allgatherv(&vec![rank; rank], &mut rows, &blocks)?;
/// assert_eq!(rows[(size - 1) * size..], [vec![size - 1; size - 1], vec![usize::MAX]].concat());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    counts: Vec<usize>,
    displacements: Vec<usize>,
}

impl Blocks {
    /// A block for each rank: its number of elements, and the index of its first one.
    ///
    /// # Errors
    /// `Arg` if there are more counts than displacements, or fewer.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let blocks = oxmpi::Blocks::new([2, 1], [3, 0])?;
    /// assert_eq!((blocks.counts(), blocks.displacements()), (&[2, 1][..], &[3, 0][..]));
    /// assert!(oxmpi::Blocks::new([2, 1], [0]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(
        counts: impl IntoIterator<Item = usize>,
        displacements: impl IntoIterator<Item = usize>,
    ) -> Result<Self> {
        let (counts, displacements) = (Vec::from_iter(counts), Vec::from_iter(displacements));
        if counts.len() == displacements.len() {
            return Ok(Self { counts, displacements });
        }
        let text = format!("there are {} counts and {} displacements", counts.len(), displacements.len());
        Err(Error::new(ErrorClass::Arg, text))
    }

    /// Blocks of so many elements, one after the other.
    ///
    /// ```
    /// let blocks = oxmpi::Blocks::consecutive([2, 0, 1]);
    /// assert_eq!(blocks.displacements(), [0, 2, 2]);
    /// ```
    pub fn consecutive(counts: impl IntoIterator<Item = usize>) -> Self {
        let counts = Vec::from_iter(counts);
        let place = |next: &mut usize, &count: &usize| {
            let here = *next;
            *next = next.saturating_add(count);
            Some(here)
        };
        let displacements = counts.iter().scan(0, place).collect();
        Self { counts, displacements }
    }

    /// Number of elements of each block. See [`Blocks::new`].
    ///
    /// ```
    /// assert_eq!(oxmpi::Blocks::consecutive([2, 0, 1]).counts(), [2, 0, 1]);
    /// ```
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// Where each block begins. See [`Blocks::new`].
    ///
    /// ```
    /// assert_eq!(oxmpi::Blocks::consecutive([2, 0, 1]).displacements(), [0, 2, 2]);
    /// ```
    pub fn displacements(&self) -> &[usize] {
        &self.displacements
    }

    /// The elements of each block; they have been found to lie in a buffer.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let both = self.displacements.iter().zip(&self.counts);
        both.map(|(&start, &count)| start..start.saturating_add(count))
    }

    /// The blocks of what is lent as `argument`, one for each of `ranks`.
    ///
    /// # Errors
    /// `Count` if there are more or fewer blocks than ranks, or a block does not lie in the buffer; `Buffer` if there
    /// is to be `received` and two overlap.
    ///
    /// # Safety
    /// As [`Loan::claim`].
    pub(crate) unsafe fn claim(
        &self,
        ranks: usize,
        argument: &str,
        loan: &Loan<'_>,
        received: bool,
    ) -> Result<Vec<Memory>> {
        self.check(ranks, argument, loan.elements())?;
        if received {
            self.check_apart()?;
        }
        let element = loan.element_bytes() as u64;
        // SAFETY: the caller's promise.
        let memory = unsafe { loan.claim() };
        let block = |range: Range<usize>| match range.len() {
            0 => Memory::EMPTY,
            elements => memory.slice(range.start as u64 * element, elements as u64 * element),
        };
        Ok(self.ranges().map(block).collect())
    }

    fn check(&self, ranks: usize, argument: &str, elements: usize) -> Result<()> {
        if self.counts.len() != ranks {
            let text = format!("there are {} blocks of {argument}, for {ranks} ranks", self.counts.len());
            return Err(Error::new(ErrorClass::Count, text));
        }
        let lies_in =
            |start: usize, count: usize| start.checked_add(count).is_some_and(|end| end <= elements);
        let mut both = self.displacements.iter().zip(&self.counts).enumerate();
        let outside = both.find(|&(_, (&start, &count))| count > 0 && !lies_in(start, count));
        let Some((rank, (start, count))) = outside else { return Ok(()) };
        let text = format!(
            "the block of rank {rank}, {count} elements from {start}, does not lie in {argument}, which has \
             {elements}"
        );
        Err(Error::new(ErrorClass::Count, text))
    }

    fn check_apart(&self) -> Result<()> {
        let mut sorted: Vec<_> = self.ranges().filter(|range| !range.is_empty()).collect();
        if sorted.is_sorted_by(|one, next| one.end <= next.start) {
            return Ok(());
        }
        order::by_key(&mut sorted, |range| range.start as u64);
        let Some(pair) = sorted.windows(2).find(|pair| pair[0].end > pair[1].start) else { return Ok(()) };
        let text = format!("the blocks {:?} and {:?} overlap: both would be received into", pair[0], pair[1]);
        Err(Error::new(ErrorClass::Buffer, text))
    }
}

impl From<&Blocks> for Blocks {
    fn from(blocks: &Blocks) -> Self {
        blocks.clone()
    }
}

impl From<&[usize]> for Blocks {
    fn from(counts: &[usize]) -> Self {
        Self::consecutive(counts.iter().copied())
    }
}

impl From<&Vec<usize>> for Blocks {
    fn from(counts: &Vec<usize>) -> Self {
        Self::consecutive(counts.iter().copied())
    }
}

impl From<Vec<usize>> for Blocks {
    fn from(counts: Vec<usize>) -> Self {
        Self::consecutive(counts)
    }
}

impl<const N: usize> From<&[usize; N]> for Blocks {
    fn from(counts: &[usize; N]) -> Self {
        Self::consecutive(*counts)
    }
}

impl<const N: usize> From<[usize; N]> for Blocks {
    fn from(counts: [usize; N]) -> Self {
        Self::consecutive(counts)
    }
}
