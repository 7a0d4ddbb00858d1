//! What is behind a segment: a file, or memory of this process alone.

use std::alloc::{self, alloc_zeroed, dealloc};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::{io, ptr};

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::arena::PAGE;
use crate::layout::Layout;

/// See the module.
#[derive(Debug)]
pub(super) enum Backing {
    File(OwnedFd),
    /// For tests where there are no such files, and under tools that watch the heap.
    Heap,
}

pub(super) const ACCESS: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);
pub(super) const SHARED: MapFlags = MapFlags::SHARED.union(MapFlags::NORESERVE);
/// What makes a mapping safe: the file stays as long as it is.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

impl Backing {
    /// The descriptor.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn file(&self) -> BorrowedFd<'_> {
        let Self::File(file) = self else { panic!("a segment on the heap has no file") };
        file.as_fd()
    }

    /// Whether there is one.
    pub(super) fn has_file(&self) -> bool {
        matches!(self, Self::File(_))
    }

    /// Whole pages that show a range; zeroes, if it is on the heap.
    ///
    /// # Errors
    /// Those of `mmap`; `OutOfMemory`.
    pub(super) fn map(&self, offset: usize, bytes: usize) -> io::Result<*mut u8> {
        let Self::File(file) = self else {
            // SAFETY: nobody asks for no bytes.
            let base = unsafe { alloc_zeroed(pages(bytes)) };
            return if base.is_null() { Err(io::ErrorKind::OutOfMemory.into()) } else { Ok(base) };
        };
        // SAFETY: a new mapping at an address of the kernel's choice; the file is sealed against shrinking.
        let base = unsafe { rustix::mm::mmap(ptr::null_mut(), bytes, ACCESS, SHARED, file, offset as u64) }?;
        Ok(base.cast())
    }

    /// Undoes [`Backing::map`].
    ///
    /// # Safety
    /// It has given this address for so many bytes, and nobody uses them.
    pub(super) unsafe fn unmap(&self, base: *mut u8, bytes: usize) {
        match self {
            // SAFETY: the caller's promise.
            Self::File(_) => drop(unsafe { rustix::mm::munmap(base.cast(), bytes) }),
            // SAFETY: the caller's promise.
            Self::Heap => unsafe { dealloc(base, pages(bytes)) },
        }
    }

    /// Changes which of its pages the file has; the heap has all.
    ///
    /// # Errors
    /// Those of `fallocate`.
    pub(super) fn allocate(&self, flags: FallocateFlags, offset: usize, bytes: usize) -> io::Result<()> {
        let Self::File(file) = self else { return Ok(()) };
        // A signal in the middle undoes what was done.
        let allocate = || rustix::fs::fallocate(file, flags, offset as u64, bytes as u64);
        Ok(rustix::io::retry_on_intr(allocate)?)
    }
}

fn pages(bytes: usize) -> alloc::Layout {
    alloc::Layout::from_size_align(bytes, PAGE).expect("no segment is as large")
}

/// A file for a segment that has `layout`, without any memory.
pub(super) fn empty_file(layout: &Layout) -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create("oxmpi", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    rustix::fs::ftruncate(&file, layout.total_bytes() as u64)?;
    rustix::fs::fcntl_add_seals(&file, SEALS | SealFlags::SEAL)?;
    Ok(file)
}

/// Whether a file that somebody has given us can be mapped as one that has `layout`.
///
/// # Errors
/// Those of `fstat`; `InvalidData` if it has another size, or may get one.
pub(super) fn check(file: &OwnedFd, layout: &Layout) -> io::Result<()> {
    let wrong = |text: &str| Err(io::Error::new(io::ErrorKind::InvalidData, text));
    if rustix::fs::fstat(file)?.st_size.cast_unsigned() != layout.total_bytes() as u64 {
        return wrong("the job's segment has not the size that its number of ranks needs");
    }
    if !rustix::fs::fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SEALS)) {
        return wrong("the job's segment may change its size");
    }
    Ok(())
}

/// Where the system does not know this advice, dumps are large.
pub(super) fn leave_out_of_dumps(base: *mut u8, bytes: usize) {
    // SAFETY: it changes what a dump holds, and nothing about the memory.
    let _ = unsafe { rustix::mm::madvise(base.cast(), bytes, Advice::LinuxDontDump) };
}
