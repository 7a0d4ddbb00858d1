//! Elements at an address for the length of a call: a buffer that nobody keeps.
//!
//! What packs a few small elements at once should not pay for memory to remember where they are.

use oxmpi_base::Result;
use oxmpi_mem::Region;

use crate::buffer::{not_committed, too_long};
use crate::layout::Layout;
use crate::{Datatype, cursor};

/// `count` elements of a datatype in memory that somebody else owns, all of which are packed or unpacked.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    origin: *mut u8,
    bytes: u64,
    extent: i64,
    layout: &'a Layout,
}

impl<'a> Elements<'a> {
    /// `count` elements of `datatype`, the first one with its origin at `origin`.
    ///
    /// # Errors
    /// As [`Buffer::new`](crate::Buffer::new).
    ///
    /// # Safety
    /// As [`Buffer::new`](crate::Buffer::new).
    pub unsafe fn new(origin: *mut u8, count: u64, datatype: &'a Datatype) -> Result<Self> {
        let Some(flat) = datatype.flat() else { return Err(not_committed(datatype)) };
        let (layout, extent) = (&flat.layout, datatype.extent());
        let bytes = layout.bytes.checked_mul(count).filter(|bytes| isize::try_from(*bytes).is_ok());
        let Some(bytes) = bytes else { return Err(too_long(count, datatype)) };
        if bytes != 0 {
            datatype.true_bounds().repeat(count, extent, 0).map_err(|_| too_long(count, datatype))?;
        }
        Ok(Self { origin, bytes, extent, layout })
    }

    /// Packed bytes of all elements.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Packs: copies all elements into `into`.
    ///
    /// # Panics
    /// If `into` has not the size of the elements.
    pub fn read(&self, into: &Region) {
        self.transfer::<true>(into);
    }

    /// Unpacks: copies `from` over all elements.
    ///
    /// # Panics
    /// If `from` has not the size of the elements.
    pub fn write(&self, from: &Region) {
        self.transfer::<false>(from);
    }

    fn transfer<const PACK: bool>(&self, packed: &Region) {
        assert_eq!(packed.len() as u64, self.bytes, "the size of the elements");
        if self.bytes != 0 {
            // SAFETY: `new` promised the elements, and the range is all of them.
            unsafe { cursor::transfer_loop::<PACK>(self.layout, self.extent, self.origin, 0, *packed) };
        }
    }
}
