//! Memory of the library's own in which elements lie as in the program's.

use oxmpi_base::Result;
use oxmpi_datatype::{Buffer, Datatype};
use oxmpi_mem::Region;

/// Elements of a datatype in memory that belongs to the image, aligned to 16 bytes.
pub struct Image {
    /// Keeps the memory; used only through `buffer` and `origin`.
    _words: Vec<u128>,
    origin: *mut u8,
    buffer: Buffer,
}

impl Image {
    /// `count` elements of zeros.
    ///
    /// # Errors
    /// `Count` if they do not fit into memory; `Type` if the datatype is not committed.
    pub fn new(count: u64, datatype: &Datatype) -> Result<Self> {
        let last = (count.max(1) as i64 - 1).saturating_mul(datatype.extent());
        let first_byte = datatype.true_lower_bound().saturating_add(last.min(0));
        let span = datatype.true_extent().saturating_add(last.saturating_abs());
        let mut words = vec![0u128; (span as usize).div_ceil(size_of::<u128>())];
        let origin = words.as_mut_ptr().cast::<u8>().wrapping_offset(-(first_byte as isize));
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
}
