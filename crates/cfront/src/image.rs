//! Memory of the library's own in which elements lie as in the program's.

use std::alloc::{self, Layout};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_datatype::{Buffer, Datatype};
use oxmpi_mem::Region;

/// Elements of a datatype in memory that belongs to the image.
///
/// A structure of the program's is there as a whole, with what its datatype leaves out at either end: programs assign
/// whole structures.
pub struct Image {
    /// Keeps the memory; used only through `buffer` and `origin`.
    _words: Vec<u128>,
    origin: *mut u8,
    buffer: Buffer,
}

impl Image {
    /// `count` elements of zeros, the first with its origin at a multiple of 16 bytes. Bounds of the datatype that lie
    /// so far from its data that there is no memory up to there are left out of account.
    ///
    /// # Errors
    /// `Count` if they do not fit into memory; `Type` if the datatype is not committed.
    pub fn new(count: u64, datatype: &Datatype) -> Result<Self> {
        let extent = i128::from(datatype.extent());
        let reach = i128::from(count.max(1) - 1) * extent;
        let spanning = |lower: i128, upper: i128| around(lower + reach.min(0), upper + reach.max(0));
        let true_lower = i128::from(datatype.true_lower_bound());
        let true_upper = true_lower + i128::from(datatype.true_extent());
        let bound = i128::from(datatype.lower_bound());
        // The upper bound may be the lesser one.
        let bounds = [bound, bound + extent];
        let lower = bounds.into_iter().fold(true_lower, i128::min);
        let upper = bounds.into_iter().fold(true_upper, i128::max);
        let whole = spanning(lower, upper);
        let Some((words, origin)) = whole.or_else(|| spanning(true_lower, true_upper)) else {
            let text = format!("there is no memory for {count} elements {extent} bytes apart");
            return Err(Error::new(ErrorClass::Count, text));
        };
        // SAFETY: `words` spans all elements around the origin, stays where it is as long as the image lives, and is
        // used through the buffer only.
        let buffer = unsafe { Buffer::new(origin, count, datatype) }?;
        Ok(Self { _words: words, origin, buffer })
    }

    /// Where the first element has its origin.
    pub fn origin(&self) -> *mut u8 {
        self.origin
    }

    /// The elements.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}

/// Zeros from byte `lower` to `upper` of an origin, which is a multiple of 16; none if there is no memory for so many.
fn around(lower: i128, upper: i128) -> Option<(Vec<u128>, *mut u8)> {
    let before = lower.rem_euclid(size_of::<u128>() as i128);
    let bytes = usize::try_from(before + upper - lower).ok()?;
    let mut words = zeros(bytes.div_ceil(size_of::<u128>()))?;
    let origin = words.as_mut_ptr().cast::<u8>().wrapping_offset(isize::try_from(before - lower).ok()?);
    Some((words, origin))
}

/// So many zeros, if there is memory for them; what is not used of it takes none.
fn zeros(words: usize) -> Option<Vec<u128>> {
    let layout = Layout::array::<u128>(words).ok()?;
    if words == 0 {
        return Some(Vec::new());
    }
    // SAFETY: the layout has bytes.
    let memory = unsafe { alloc::alloc_zeroed(layout) }.cast::<u128>();
    if memory.is_null() {
        return None;
    }
    // SAFETY: the allocator of all vectors has given memory for so many words, which are zeros.
    Some(unsafe { Vec::from_raw_parts(memory, words, words) })
}

/// `bytes` bytes of memory that belong to the value, aligned to 16 bytes.
pub struct Scratch {
    /// Keeps the memory; used only through `region`.
    _words: Vec<u128>,
    region: Region,
}

impl Scratch {
    /// Zeros.
    pub fn new(bytes: u64) -> Self {
        let bytes = usize::try_from(bytes).expect("buffers fit the address space");
        let mut words = vec![0u128; bytes.div_ceil(size_of::<u128>())];
        // SAFETY: `words` has as many bytes or more, stays where it is as long as the value lives, and is used
        // through the region only.
        let region = unsafe { Region::claim(words.as_mut_ptr().cast(), bytes) };
        Self { _words: words, region }
    }

    /// The packed bytes of `buffer`.
    pub fn packed(buffer: &Buffer) -> Self {
        let scratch = Self::new(buffer.bytes());
        buffer.read(0, &scratch.region);
        scratch
    }

    /// The bytes.
    pub fn region(&self) -> &Region {
        &self.region
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_base::BasicType;

    #[test]
    fn an_image_holds_elements_with_gaps_and_negative_extents() {
        let byte = Datatype::basic(BasicType::Byte);
        for stride in [-3, 2] {
            let datatype = Datatype::hvector(3, 2, stride, &byte).expect("a legal vector");
            let datatype = Datatype::resized(-8, stride * 5, &datatype).expect("a legal extent");
            datatype.commit();
            let image = Image::new(4, &datatype).expect("it is committed");
            let packed = Scratch::new(24);
            packed.region().write(&std::array::from_fn::<u8, 24, _>(|index| index as u8));
            image.buffer().write(0, packed.region());
            assert_eq!(Scratch::packed(image.buffer()).region().to_vec(), packed.region().to_vec());
        }
    }

    /// One byte of data at `place`, in elements from `lower` on, `extent` bytes apart.
    fn byte_at(place: i64, lower: i64, extent: i64) -> Datatype {
        let byte = Datatype::basic(BasicType::Byte);
        let datatype = Datatype::hindexed(vec![1], vec![place], &byte).expect("a legal place");
        let datatype = Datatype::resized(lower, extent, &datatype).expect("a legal extent");
        datatype.commit();
        datatype
    }

    #[test]
    fn an_image_holds_whole_elements_at_an_origin_that_is_aligned() {
        for (place, lower, extent) in
            [(0, 0, 80), (64, 0, 80), (4, 0, 32), (4, 4, 5), (0, -24, 40), (100, 3, 8), (9, 5, -7)]
        {
            let image = Image::new(3, &byte_at(place, lower, extent)).expect("it is committed");
            let held = image._words.as_ptr_range();
            let held = held.start.addr() as i64..=held.end.addr() as i64;
            let origin = image.origin().addr() as i64;
            assert_eq!(origin % 16, 0, "of {place}, {lower}, {extent}");
            for element in [0, 2] {
                for end in [place, place + 1, lower, lower + extent] {
                    assert!(held.contains(&(origin + element * extent + end)), "{place}, {lower}, {extent}");
                }
            }
        }
    }

    #[test]
    fn bounds_far_from_the_data_need_no_memory() {
        let far = i64::MAX / 2;
        for (place, lower, extent) in [(8, 0, far), (far, 0, 8), (8, -far, far)] {
            let datatype = byte_at(place, lower, extent);
            let image = Image::new(1, &datatype).expect("one byte fits into memory");
            image.buffer().write(0, Scratch::new(1).region());
            assert_eq!(image.origin().addr() % 16, 0);
        }
        Image::new(3, &byte_at(0, 0, far / 2)).map(drop).expect_err("they are too far from each other");
    }
}
