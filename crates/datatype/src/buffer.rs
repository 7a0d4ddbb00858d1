//! Elements of a datatype at an address: what the arguments `buf, count, datatype` of a call mean.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_mem::Region;

use crate::Datatype;
use crate::cursor;
use crate::layout::{Layout, Shape};

/// `count` elements of a datatype in memory that somebody else owns, seen as the bytes they occupy packed.
///
/// Where the elements are one piece of memory this is a [`Region`] and nothing else.
#[derive(Clone, Debug)]
pub struct Buffer(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Dense(Region),
    Scattered(Arc<Scattered>),
}

#[derive(Clone, Debug)]
struct Scattered {
    origin: *mut u8,
    /// Packed bytes before those of the buffer: it may begin inside an element.
    skip: u64,
    /// Packed bytes; not 0.
    bytes: u64,
    extent: i64,
    layout: Arc<Layout>,
}

// SAFETY: `origin` is an address, and a promise about it that `Buffer::new` extends to all threads.
unsafe impl Send for Scattered {}
// SAFETY: as above; there is no interior state.
unsafe impl Sync for Scattered {}

impl Buffer {
    /// The buffer of no bytes.
    pub const EMPTY: Self = Self(Kind::Dense(Region::EMPTY));

    /// `count` elements of `datatype`, the first one with its origin at `origin`.
    ///
    /// # Errors
    /// [`ErrorClass::Type`] if the datatype is not committed; [`ErrorClass::Count`] if the elements do not fit
    /// the address space.
    ///
    /// # Safety
    /// Until the last use of the buffer, of its clones and of the regions made from it:
    /// - the bytes that the typemap places around `origin` are valid for reads, and for writes if the buffer
    ///   is written;
    /// - no Rust reference to any of these bytes is used.
    #[inline]
    pub unsafe fn new(origin: *mut u8, count: u64, datatype: &Datatype) -> Result<Self> {
        let Some(flat) = datatype.flat() else { return Err(not_committed(datatype)) };
        let bytes = flat.layout.bytes.checked_mul(count).filter(|bytes| isize::try_from(*bytes).is_ok());
        let Some(bytes) = bytes else { return Err(too_long(count, datatype)) };
        if flat.dense {
            // SAFETY: the elements are exactly these bytes.
            return Ok(Self(Kind::Dense(unsafe { Region::claim(origin, bytes as usize) })));
        }
        // SAFETY: the caller's promise.
        unsafe { Self::scattered(origin, count, bytes, datatype, &flat.layout) }
    }

    /// # Safety
    /// As [`Buffer::new`]; `layout` is that of `datatype`, and `bytes` is what `count` of it have.
    unsafe fn scattered(
        origin: *mut u8,
        count: u64,
        bytes: u64,
        datatype: &Datatype,
        layout: &Arc<Layout>,
    ) -> Result<Self> {
        if bytes == 0 {
            return Ok(Self::EMPTY);
        }
        let extent = datatype.extent();
        datatype.true_bounds().repeat(count, extent).map_err(|_| too_long(count, datatype))?;
        if let (Shape::Run { displacement }, 1) = (&layout.shape, count) {
            let origin = origin.wrapping_offset(*displacement as isize);
            // SAFETY: the element is exactly these bytes.
            return Ok(Self(Kind::Dense(unsafe { Region::claim(origin, bytes as usize) })));
        }
        let layout = Arc::clone(layout);
        Ok(Self(Kind::Scattered(Arc::new(Scattered { origin, skip: 0, bytes, extent, layout }))))
    }

    /// The bytes of `region`, in order.
    pub const fn dense(region: Region) -> Self {
        Self(Kind::Dense(region))
    }

    /// Packed bytes of all elements.
    #[inline]
    pub fn bytes(&self) -> u64 {
        match &self.0 {
            Kind::Dense(region) => region.len() as u64,
            Kind::Scattered(scattered) => scattered.bytes,
        }
    }

    /// The memory, if all of it is one piece in packed order.
    #[inline]
    pub fn as_dense(&self) -> Option<Region> {
        match &self.0 {
            Kind::Dense(region) => Some(*region),
            Kind::Scattered(_) => None,
        }
    }

    /// The memory of `bytes` packed bytes from packed byte `offset`, if it is one piece.
    ///
    /// # Panics
    /// If they do not lie inside the buffer.
    pub fn part(&self, offset: u64, bytes: u64) -> Option<Region> {
        match &self.0 {
            Kind::Dense(region) => Some(region.part(offset as usize, bytes as usize)),
            Kind::Scattered(scattered) => scattered.part(offset, bytes),
        }
    }

    /// The `bytes` packed bytes from packed byte `offset`, as a buffer of their own.
    ///
    /// # Panics
    /// If they do not lie inside the buffer.
    pub fn slice(&self, offset: u64, bytes: u64) -> Self {
        if let Some(region) = self.part(offset, bytes) {
            return Self::dense(region);
        }
        let Kind::Scattered(whole) = &self.0 else { unreachable!("a dense buffer has every part") };
        let slice = Scattered { skip: whole.skip + offset, bytes, ..Scattered::clone(whole) };
        Self(Kind::Scattered(Arc::new(slice)))
    }

    /// Packs: copies the packed bytes from `offset` into all of `into`.
    ///
    /// # Panics
    /// If they do not lie inside the buffer.
    #[inline]
    pub fn read(&self, offset: u64, into: &Region) {
        match &self.0 {
            Kind::Dense(region) => into.copy_from(&region.part(offset as usize, into.len())),
            Kind::Scattered(scattered) => scattered.transfer::<true>(offset, *into),
        }
    }

    /// Unpacks: copies all of `from` over the packed bytes from `offset`.
    ///
    /// # Panics
    /// If they do not lie inside the buffer.
    #[inline]
    pub fn write(&self, offset: u64, from: &Region) {
        match &self.0 {
            Kind::Dense(region) => region.part(offset as usize, from.len()).copy_from(from),
            Kind::Scattered(scattered) => scattered.transfer::<false>(offset, *from),
        }
    }
}

impl Scattered {
    fn assert_inside(&self, offset: u64, bytes: u64) {
        assert!(offset <= self.bytes && bytes <= self.bytes - offset, "the range lies inside its buffer");
    }

    fn transfer<const PACK: bool>(&self, offset: u64, packed: Region) {
        self.assert_inside(offset, packed.len() as u64);
        if packed.is_empty() {
            return;
        }
        // SAFETY: `Buffer::new` promised the elements, and the range lies in them (assertion above).
        unsafe {
            cursor::transfer_loop::<PACK>(&self.layout, self.extent, self.origin, self.skip + offset, packed)
        };
    }

    fn part(&self, offset: u64, bytes: u64) -> Option<Region> {
        self.assert_inside(offset, bytes);
        if bytes == 0 {
            return Some(Region::EMPTY);
        }
        let offset = self.skip + offset;
        let (element, within) = (offset / self.layout.bytes, offset % self.layout.bytes);
        let (displacement, run_bytes) = self.layout.run_at(within);
        let displacement = (element as i64).wrapping_mul(self.extent).wrapping_add(displacement);
        let start = self.origin.wrapping_offset(displacement as isize);
        // SAFETY: `Buffer::new` promised the run that these bytes lie in.
        (bytes <= run_bytes).then(|| unsafe { Region::claim(start, bytes as usize) })
    }
}

#[cold]
fn not_committed(datatype: &Datatype) -> Error {
    Error::new(ErrorClass::Type, format!("datatype {} is not committed", datatype.name()))
}

#[cold]
fn too_long(count: u64, datatype: &Datatype) -> Error {
    let (name, bytes) = (datatype.name(), datatype.size());
    Error::new(ErrorClass::Count, format!("count is {count}: so many {name} of {bytes} bytes fit no memory"))
}
