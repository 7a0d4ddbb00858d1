//! The mapping of a job's shared memory.
//!
//! A `memfd` has no name that could leak, be guessed or be limited by `/dev/shm`. It is sparse: pages are
//! claimed with `fallocate` before anyone touches them, so that a shortage is an error and never a SIGBUS.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::{ptr, slice};

use oxmpi_mem::Region;
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

use crate::Line;

/// A mapped `memfd`. The mapping is never undone.
#[derive(Debug)]
pub struct Segment {
    base: *mut u8,
    bytes: usize,
    file: OwnedFd,
}

// SAFETY: the mapping is shared memory; access to its bytes goes through atomics and regions.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// Makes an anonymous segment that is `bytes` long, none of them reserved yet.
    ///
    /// # Errors
    /// Those of `memfd_create`, `ftruncate` and `mmap`.
    pub fn create(bytes: usize) -> io::Result<Self> {
        let file = rustix::fs::memfd_create("oxmpi", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::ftruncate(&file, bytes as u64)?;
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Self::map(file)
    }

    /// Maps the segment behind `file`, all of it.
    ///
    /// # Errors
    /// Those of `fstat` and `mmap`.
    pub fn map(file: OwnedFd) -> io::Result<Self> {
        let bytes = usize::try_from(rustix::fs::fstat(&file)?.st_size)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the job's segment has no size"))?;
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::NORESERVE);
        // SAFETY: a new mapping at an address of the kernel's choice; the file is sealed against shrinking.
        let base = unsafe { rustix::mm::mmap(ptr::null_mut(), bytes, protection, flags, &file, 0) }?;
        Ok(Self { base: base.cast(), bytes, file })
    }

    /// Makes sure that the pages of a range exist, so that touching them cannot fail.
    ///
    /// # Errors
    /// Those of `fallocate`: not enough memory.
    pub fn reserve(&self, offset: usize, bytes: usize) -> io::Result<()> {
        rustix::fs::fallocate(&self.file, FallocateFlags::empty(), offset as u64, bytes as u64)?;
        Ok(())
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The descriptor behind the segment.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// A range of the segment; `None` if it does not lie inside.
    #[inline]
    pub fn region(&self, offset: u64, bytes: usize) -> Option<Region> {
        let offset = usize::try_from(offset).ok()?;
        if offset > self.bytes || bytes > self.bytes - offset {
            return None;
        }
        // SAFETY: the range lies inside a mapping that is never undone; Rust references into the segment are
        // made only to types of this crate whose bytes are atomics or cells.
        Some(unsafe { Region::claim(self.base.wrapping_add(offset), bytes) })
    }

    /// `count` lines at `offset`; `None` if they do not lie inside or are misaligned.
    pub fn lines(&'static self, offset: u64, count: usize) -> Option<&'static [Line]> {
        let region = self.region(offset, count.checked_mul(size_of::<Line>())?)?;
        let first = region.as_ptr().cast::<Line>();
        if !first.is_aligned() {
            return None;
        }
        // SAFETY: in bounds, aligned, never unmapped; a line is atomics and cells, valid for any bytes.
        Some(unsafe { slice::from_raw_parts(first, count) })
    }

    /// A shared structure of this crate at `offset`.
    ///
    /// # Safety
    /// `T` is valid for any bytes (zeroes in particular), consists of atomics and cells, and every process that
    /// maps the segment uses these bytes as a `T` or not at all.
    ///
    /// # Panics
    /// If the structure does not lie inside the segment or is misaligned.
    pub(crate) unsafe fn view<T>(&'static self, offset: usize) -> &'static T {
        let region = self.region(offset as u64, size_of::<T>()).expect("layouts lie inside their segment");
        let pointer = region.as_ptr().cast::<T>();
        assert!(pointer.is_aligned(), "layouts respect alignment");
        // SAFETY: in bounds, aligned, never unmapped; the rest is the caller's promise.
        unsafe { &*pointer }
    }
}
