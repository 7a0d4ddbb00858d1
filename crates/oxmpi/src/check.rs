//! Received elements are values before anybody sees them.
//!
//! While an operation runs nobody has a usable reference to what it writes. When it is over, well or not, and before
//! the memory becomes visible again, the elements are looked at, if not all bits are a value of their type; those
//! that are none are replaced. Numbers pay nothing: that they need no check is known where the call is compiled.

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;

use crate::layout::Layout;

/// What is to be looked at when an operation is over.
#[derive(Debug)]
pub(crate) struct Check {
    buffer: Buffer,
    layout: &'static Layout,
}

/// As many bytes are looked at together, unless one element is longer.
const PIECE_BYTES: usize = 4 << 10;

impl Check {
    /// That of elements in `buffer`, each of which needs it.
    pub const fn new(buffer: Buffer, layout: &'static Layout) -> Self {
        Self { buffer, layout }
    }

    /// Looks at all elements, and replaces those that are no value.
    ///
    /// # Errors
    /// `Type` if there was one; the text says which was the first.
    #[cold]
    pub fn run(&self) -> Result<()> {
        self.look(true)
    }

    /// Looks at all elements, and changes none.
    ///
    /// # Errors
    /// As [`Check::run`].
    #[cold]
    pub fn only_look(&self) -> Result<()> {
        self.look(false)
    }

    fn look(&self, repair: bool) -> Result<()> {
        let (element, total) = (self.layout.packed_size(), self.buffer.bytes());
        let piece = (PIECE_BYTES / element).max(1) * element;
        let mut bytes = vec![0; piece];
        let mut result = Ok(());
        for begin in (0..total).step_by(piece) {
            let piece = piece.min((total - begin) as usize);
            // SAFETY: `bytes` is not used but through the region while that is.
            let region = unsafe { Region::claim(bytes.as_mut_ptr(), piece) };
            self.buffer.read(begin, &region);
            let elements = bytes[..piece].chunks_exact_mut(element).zip(begin / element as u64..);
            let wrong = elements
                .map(|(packed, index)| Some((index, self.layout.repair(packed)?)))
                .fold(None, |first, wrong| first.or(wrong));
            let Some((index, wrong)) = wrong else { continue };
            if repair {
                // SAFETY: as above; a region that was claimed before those uses is not used again.
                let region = unsafe { Region::claim(bytes.as_mut_ptr(), piece) };
                self.buffer.write(begin, &region);
            }
            let text =
                format!("element {index} is no value: it has a {} of bits {:#x}", wrong.what, wrong.bits);
            result = result.and(Err(Error::new(ErrorClass::Type, text)));
        }
        result
    }
}
