//! Mappings of memory, all to be read and written.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use crate::check;

/// What a mapping shows.
#[derive(Clone, Copy, Debug)]
pub enum Shows<'fd> {
    /// A file, from this byte on.
    File(BorrowedFd<'fd>, u64),
    /// Zeroes of this process's own, for which the system has set memory aside, as far as it does that.
    Zeroes,
    /// The same, for which it finds memory when it is used.
    ZeroesOnUse,
}

/// Whole pages of any system, where the machine has pages of several sizes: what begins and ends with a multiple of it
/// can be mapped. Those of AArch64 have 4, 16 or 64 KiB.
pub const GRANULE: usize = if cfg!(all(target_arch = "x86_64", not(portable))) { 4 << 10 } else { 64 << 10 };

/// Bytes of this system's pages.
pub fn page_bytes() -> usize {
    // SAFETY: it asks for a number.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("every system has pages")
}

/// Maps whole pages where the system likes.
///
/// # Errors
/// The system's.
pub fn map(bytes: usize, shows: Shows<'_>) -> io::Result<*mut u8> {
    // SAFETY: nothing is replaced.
    unsafe { map_at(ptr::null_mut(), bytes, shows, 0) }
}

/// Maps whole pages in the place of what is mapped there.
///
/// # Errors
/// The system's. Then nothing may be mapped there any more.
///
/// # Safety
/// The pages are the caller's, and who looks at them expects other bytes at any time.
pub unsafe fn map_over(place: *mut u8, bytes: usize, shows: Shows<'_>) -> io::Result<()> {
    // SAFETY: the caller's promise.
    unsafe { map_at(place, bytes, shows, libc::MAP_FIXED) }.map(drop)
}

/// # Safety
/// As [`map_over`], if `flags` say that it is to be at `place`.
unsafe fn map_at(place: *mut u8, bytes: usize, shows: Shows<'_>, flags: libc::c_int) -> io::Result<*mut u8> {
    let (kind, fd, offset) = match shows {
        Shows::File(file, offset) => (libc::MAP_SHARED | libc::MAP_NORESERVE, file.as_raw_fd(), offset),
        Shows::Zeroes => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0),
        Shows::ZeroesOnUse => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1, 0),
    };
    let offset = libc::off64_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller's promise; elsewhere the system replaces nothing.
    let base = unsafe { libc::mmap64(place.cast(), bytes, access, kind | flags, fd, offset) };
    if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(base.cast()) }
}

/// Gives whole pages up.
///
/// # Errors
/// The system's: a mapping would be cut in two, and there may not be as many.
///
/// # Safety
/// They were [mapped](map), and nobody has a pointer into them.
pub unsafe fn unmap(base: *mut u8, bytes: usize) -> io::Result<()> {
    // SAFETY: the caller's promise.
    check(unsafe { libc::munmap(base.cast(), bytes) }).map(drop)
}

/// Gives the memory of whole pages back: they are zeroes then, which show no file.
///
/// # Errors
/// The system's: they are locked. Then they are as they were.
///
/// # Safety
/// They were [mapped](map), and who looks at them expects other bytes at any time.
pub unsafe fn discard(base: *mut u8, bytes: usize) -> io::Result<()> {
    // SAFETY: the caller's promise.
    unsafe { advise(base, bytes, libc::MADV_DONTNEED) }
}

/// Leaves whole pages out of dumps of this process.
///
/// # Errors
/// The system's: it does not know that.
///
/// # Safety
/// They were [mapped](map).
pub unsafe fn leave_out_of_dumps(base: *mut u8, bytes: usize) -> io::Result<()> {
    // SAFETY: it changes nothing about the memory.
    unsafe { advise(base, bytes, libc::MADV_DONTDUMP) }
}

/// # Safety
/// As the advice needs it.
unsafe fn advise(base: *mut u8, bytes: usize, advice: libc::c_int) -> io::Result<()> {
    // SAFETY: the caller's promise.
    check(unsafe { libc::madvise(base.cast(), bytes, advice) }).map(drop)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    const BYTES: usize = 2 << 12;

    #[test]
    fn what_was_written_is_there_until_it_is_given_back() {
        for shows in [Shows::Zeroes, Shows::ZeroesOnUse] {
            let base = map(BYTES, shows).expect("memory");
            // SAFETY: it was just mapped.
            unsafe { base.write(7) };
            // SAFETY: it is ours.
            unsafe { leave_out_of_dumps(base, BYTES) }.expect("Linux knows it");
            // SAFETY: it is ours.
            assert_eq!(unsafe { base.read() }, 7);
            // SAFETY: it is ours.
            unsafe { discard(base, BYTES) }.expect("nobody has locked it");
            // SAFETY: it is ours.
            assert_eq!(unsafe { base.read() }, 0);
            // SAFETY: nobody else has heard of it.
            unsafe { unmap(base, BYTES) }.expect("it was mapped");
        }
    }

    #[test]
    fn pages_fit_into_granules() {
        assert!(page_bytes().is_power_of_two() && GRANULE.is_multiple_of(page_bytes()));
    }

    #[test]
    fn two_mappings_of_a_file_show_the_same() {
        let file = crate::file::in_memory(c"test").expect("a file");
        crate::file::set_bytes(file.as_fd(), BYTES as u64).expect("room");
        let (first, second) = (map(BYTES, Shows::Zeroes), map(BYTES, Shows::File(file.as_fd(), 0)));
        let (first, second) = (first.expect("memory"), second.expect("memory"));
        // SAFETY: it is ours.
        unsafe { map_over(first, BYTES, Shows::File(file.as_fd(), 0)) }.expect("memory");
        // SAFETY: it is ours.
        unsafe { first.write(9) };
        // SAFETY: it is ours, and nobody writes to it meanwhile.
        assert_eq!(unsafe { second.read_volatile() }, 9);
        map(BYTES, Shows::File(file.as_fd(), u64::MAX)).expect_err("no file is so long");
    }
}
