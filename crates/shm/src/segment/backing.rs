//! What is behind a segment: a file, or memory of this process alone.

use std::alloc::{self, alloc_zeroed};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process;

use oxmpi_mem::Region;
use oxmpi_system::file;
use oxmpi_system::memory::{self, GRANULE, Shows};
use oxmpi_system::notice::say;

use crate::layout::Layout;

/// See the module.
#[derive(Debug)]
pub(super) enum Backing {
    File(OwnedFd),
    /// For tests where there are no such files.
    Private,
}

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
        match self {
            Self::Private if cfg!(miri) => Ok(of_the_heap(bytes)),
            _ => memory::map(bytes, self.shows(offset)),
        }
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
        // SAFETY: the caller's promise. A file is sealed against shrinking.
        unsafe { memory::map_over(base, bytes, self.shows(offset)) }
    }

    fn shows(&self, offset: usize) -> Shows<'_> {
        match self {
            Self::File(file) => Shows::File(left_alone(file), offset as u64),
            Self::Private => Shows::ZeroesOnUse,
        }
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
        let undone = unsafe { memory::unmap(base, bytes) };
        debug_assert!(undone.is_ok(), "that was mapped");
    }

    /// Makes a part of what is mapped in private memory all zeroes, and gives its whole pages back.
    ///
    /// # Errors
    /// Those of `mmap`.
    pub(super) fn write_zeroes(&self, part: &Region) -> io::Result<()> {
        let ahead = part.as_ptr().align_offset(GRANULE).min(part.len());
        let behind = (part.len() - ahead) % GRANULE;
        for edge in [part.part(0, ahead), part.part(part.len() - behind, behind)] {
            edge.write(&[0; GRANULE][..edge.len()]);
        }
        let pages = part.part(ahead, part.len() - ahead - behind);
        if pages.is_empty() {
            return Ok(());
        }
        // SAFETY: they are mapped, and regions are read and written by several at any time.
        unsafe { self.map_over(pages.as_ptr(), 0, pages.len()) }
    }

    /// Gives pages to the file; private memory has all.
    ///
    /// # Errors
    /// Those of `fallocate`.
    pub(super) fn allocate(&self, offset: usize, bytes: usize) -> io::Result<()> {
        let Self::File(file) = self else { return Ok(()) };
        file::allocate(left_alone(file), offset as u64, bytes as u64)
    }

    /// Takes pages from the file, which are zeroes then; private memory keeps them.
    ///
    /// # Errors
    /// Those of `fallocate`.
    pub(super) fn discard(&self, offset: usize, bytes: usize) -> io::Result<()> {
        let Self::File(file) = self else { return Ok(()) };
        file::discard(left_alone(file), offset as u64, bytes as u64)
    }
}

/// The descriptor of a segment's file, which is closed by a program that closes all that it has not opened. What the
/// program opens next may have the number then; and without the file this process can share no more memory.
fn left_alone(file: &OwnedFd) -> BorrowedFd<'_> {
    if !file::keeps_size(file.as_fd()) {
        let (pid, fd) = (process::id(), file.as_raw_fd());
        let why = format!("the program has closed descriptor {fd}, by which the job shares memory");
        say(format_args!("process {pid} cannot go on: {why}"));
        process::abort();
    }
    file.as_fd()
}

/// Zeroes where nothing can be mapped.
fn of_the_heap(bytes: usize) -> *mut u8 {
    let pages = alloc::Layout::from_size_align(bytes, GRANULE).expect("no segment is as large");
    // SAFETY: nobody asks for no bytes.
    unsafe { alloc_zeroed(pages) }
}

/// The name of a segment's file, and where `/proc` says that a descriptor of it leads, up to the end.
const NAME: (&CStr, &[u8]) = (c"oxmpi", b"/memfd:oxmpi");

/// Whether a descriptor may be that of a segment, by where `/proc` says that it leads.
pub(crate) fn shows_segment(place: &Path) -> bool {
    place.as_os_str().as_bytes().starts_with(NAME.1)
}

/// A file for a segment that has `layout`, without any memory.
pub(super) fn empty_file(layout: &Layout) -> io::Result<OwnedFd> {
    let file = file::in_memory(NAME.0)?;
    file::set_bytes(file.as_fd(), layout.total_bytes() as u64)?;
    file::keep_size(file.as_fd())?; // what makes a mapping safe
    Ok(file)
}

/// Whether a file that somebody has given us can be mapped as one that has `layout`.
///
/// # Errors
/// Those of `fstat`; `InvalidData` if it has another size, or may get one.
pub(super) fn check(file: &OwnedFd, layout: &Layout) -> io::Result<()> {
    let wrong = |text: &str| Err(io::Error::new(io::ErrorKind::InvalidData, text));
    if file::metadata(file.as_fd())?.bytes != layout.total_bytes() as u64 {
        return wrong("the job's segment has not the size that its number of ranks needs");
    }
    if !file::keeps_size(file.as_fd()) {
        return wrong("the job's segment may change its size");
    }
    Ok(())
}

/// Where the system does not know this advice, dumps are large; Miri knows none.
pub(super) fn leave_out_of_dumps(base: *mut u8, bytes: usize) {
    if cfg!(miri) {
        return;
    }
    // SAFETY: it was mapped, say the callers; nothing about it is changed.
    let _ = unsafe { memory::leave_out_of_dumps(base, bytes) };
}
