//! What is behind a segment: a file, or memory of this process alone.

use std::alloc::{self, alloc_zeroed};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use oxmpi_mem::Region;
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::mm::{self, Advice, MapFlags, ProtFlags};

use crate::arena::PAGE;
use crate::layout::Layout;

/// See the module.
#[derive(Debug)]
pub(super) enum Backing {
    File(OwnedFd),
    /// For tests where there are no such files.
    Private,
}

const ACCESS: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);
const SHARED: MapFlags = MapFlags::SHARED.union(MapFlags::NORESERVE);
const PRIVATE: MapFlags = MapFlags::PRIVATE.union(MapFlags::NORESERVE);
/// What makes a mapping safe: the file stays as long as it is.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

impl Backing {
    /// The descriptor.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn file(&self) -> BorrowedFd<'_> {
        let Self::File(file) = self else { panic!("a segment in private memory has no file") };
        file.as_fd()
    }

    /// Whether there is one.
    pub(super) fn has_file(&self) -> bool {
        matches!(self, Self::File(_))
    }

    /// Whole pages that show a range; zeroes, if it is in private memory.
    ///
    /// # Errors
    /// Those of `mmap`.
    pub(super) fn map(&self, offset: usize, bytes: usize) -> io::Result<*mut u8> {
        // SAFETY: no place is named.
        unsafe { self.map_at(None, offset, bytes) }
    }

    /// The same in the place of what [`Backing::map`] has given for so many bytes.
    ///
    /// # Safety
    /// `base` is where that begins, and who looks at it expects other bytes at any time.
    pub(super) unsafe fn map_over(&self, base: *mut u8, offset: usize, bytes: usize) -> io::Result<()> {
        if cfg!(miri) {
            // SAFETY: so much is there, says the caller.
            unsafe { base.write_bytes(0, bytes) };
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.map_at(Some(base), offset, bytes) }.map(drop)
    }

    /// Maps a range at a place, which [`Backing::map_over`] is about, or where the kernel likes.
    ///
    /// # Safety
    /// As there.
    unsafe fn map_at(&self, place: Option<*mut u8>, offset: usize, bytes: usize) -> io::Result<*mut u8> {
        let fixed = if place.is_some() { MapFlags::FIXED } else { MapFlags::empty() };
        let place = place.unwrap_or_default().cast();
        let base = match self {
            // SAFETY: a mapping at an address of the kernel's choice, or in the place of one whose users expect any
            // bytes. The file is sealed against shrinking.
            Self::File(file) => unsafe {
                mm::mmap(place, bytes, ACCESS, SHARED | fixed, file, offset as u64)
            },
            Self::Private if cfg!(miri) => return Ok(of_the_heap(bytes)),
            // SAFETY: as above.
            Self::Private => unsafe { mm::mmap_anonymous(place, bytes, ACCESS, PRIVATE | fixed) },
        };
        Ok(base?.cast())
    }

    /// Undoes [`Backing::map`].
    ///
    /// # Safety
    /// It has given this address for so many bytes, and nobody uses them.
    pub(super) unsafe fn unmap(&self, base: *mut u8, bytes: usize) {
        if cfg!(miri) {
            return; // a few tests leave some memory behind
        }
        // SAFETY: the caller's promise.
        let undone = unsafe { mm::munmap(base.cast(), bytes) };
        debug_assert!(undone.is_ok(), "that was mapped");
    }

    /// Makes a part of what is mapped in private memory all zeroes, and gives its whole pages back.
    ///
    /// # Errors
    /// Those of `mmap`.
    pub(super) fn write_zeroes(&self, part: &Region) -> io::Result<()> {
        let ahead = part.as_ptr().align_offset(PAGE).min(part.len());
        let behind = (part.len() - ahead) % PAGE;
        for edge in [part.part(0, ahead), part.part(part.len() - behind, behind)] {
            edge.write(&[0; PAGE][..edge.len()]);
        }
        let pages = part.part(ahead, part.len() - ahead - behind);
        if pages.is_empty() {
            return Ok(());
        }
        // SAFETY: they are mapped, and regions are read and written by several at any time.
        unsafe { self.map_over(pages.as_ptr(), 0, pages.len()) }
    }

    /// Changes which of its pages the file has; private memory has all.
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

/// Zeroes where nothing can be mapped.
fn of_the_heap(bytes: usize) -> *mut u8 {
    let pages = alloc::Layout::from_size_align(bytes, PAGE).expect("no segment is as large");
    // SAFETY: nobody asks for no bytes.
    unsafe { alloc_zeroed(pages) }
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

/// Where the system does not know this advice, dumps are large; Miri knows none.
pub(super) fn leave_out_of_dumps(base: *mut u8, bytes: usize) {
    if cfg!(miri) {
        return;
    }
    // SAFETY: it changes what a dump holds, and nothing about the memory.
    let _ = unsafe { mm::madvise(base.cast(), bytes, Advice::LinuxDontDump) };
}
