//! Files that live in memory, and what is to be known of any.

use std::ffi::CStr;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};

use crate::{again, check, check_bytes};

/// What the system tells of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Where it lies; with `inode`, no other file has that.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Its size.
    pub bytes: u64,
}

/// An empty file without a place, which other programs do not inherit. `name` is for who looks at `/proc`.
///
/// # Errors
/// The system's.
pub fn in_memory(name: &CStr) -> io::Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name ends where it does.
    let file = check(unsafe { libc::memfd_create(name.as_ptr(), flags) })?;
    // SAFETY: it was just opened, and nobody else has heard of it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// Opens `/dev/null` in place of what is closed of standard input, output and error: what is opened next would be
/// taken for that, and read or written, by whoever believes in these numbers. Where it cannot be opened all stays.
pub fn fill_standard() {
    for number in libc::STDIN_FILENO..=libc::STDERR_FILENO {
        // SAFETY: it touches no memory, whatever the number is.
        let is_open = unsafe { libc::fcntl(number, libc::F_GETFD) } != -1;
        let null =
            if is_open { None } else { OpenOptions::new().read(true).write(true).open("/dev/null").ok() };
        // Another thread may have opened something meanwhile.
        if let Some(null) = null.filter(|null| null.as_raw_fd() == number) {
            _ = null.into_raw_fd();
        }
    }
}

/// See [`Metadata`].
///
/// # Errors
/// The system's.
pub fn metadata(file: BorrowedFd<'_>) -> io::Result<Metadata> {
    let mut found = std::mem::MaybeUninit::<libc::stat64>::zeroed();
    // SAFETY: `found` may be written.
    check(unsafe { libc::fstat64(file.as_raw_fd(), found.as_mut_ptr()) })?;
    // SAFETY: all of it are numbers, and zeroes are some.
    let found = unsafe { found.assume_init() };
    Ok(Metadata { device: found.st_dev, inode: found.st_ino, bytes: found.st_size.cast_unsigned() })
}

/// Makes a file so long; what is added reads as zeroes.
///
/// # Errors
/// The system's.
pub fn set_bytes(file: BorrowedFd<'_>, bytes: u64) -> io::Result<()> {
    // SAFETY: it touches no memory of ours, but what was mapped of a file that shrinks: for that there are seals.
    again(|| check(unsafe { libc::ftruncate64(file.as_raw_fd(), offset(bytes)?) })).map(drop)
}

/// Seals a file so that it keeps its size.
///
/// # Errors
/// The system's: it is sealed already, or no file that can be.
pub fn keep_size(file: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: it touches no memory of ours.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, KEPT | libc::F_SEAL_SEAL) }).map(drop)
}

/// Whether it was sealed so that it keeps its size.
pub fn keeps_size(file: BorrowedFd<'_>) -> bool {
    // SAFETY: it asks for a number.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    seals >= 0 && seals & KEPT == KEPT
}

const KEPT: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;

/// Gives memory to a part of a file, which cannot lack any then.
///
/// # Errors
/// The system's. Then some of it may have memory, if there were signals.
pub fn allocate(file: BorrowedFd<'_>, from: u64, bytes: u64) -> io::Result<()> {
    change(file, 0, from, bytes)
}

/// Takes the memory of a part of a file away, which reads as zeroes then.
///
/// # Errors
/// The system's.
pub fn discard(file: BorrowedFd<'_>, from: u64, bytes: u64) -> io::Result<()> {
    change(file, libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, from, bytes)
}

fn change(file: BorrowedFd<'_>, mode: libc::c_int, from: u64, bytes: u64) -> io::Result<()> {
    in_parts(from, bytes, &mut |from, bytes| {
        let (file, from, bytes) = (file.as_raw_fd(), offset(from)?, offset(bytes)?);
        // SAFETY: it touches no memory of ours, but what was mapped of the file, as everybody expects who maps one.
        check(unsafe { libc::fallocate64(file, mode, from, bytes) }).map(drop)
    })
}

/// Makes a call for a part of a file, or, where a signal interrupts it, for one half after the other: many kernels undo
/// then what was done, and the next signal may come before all of that is done again.
fn in_parts(from: u64, bytes: u64, call: &mut impl FnMut(u64, u64) -> io::Result<()>) -> io::Result<()> {
    match call(from, bytes) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        done => return done,
    }
    match half(from, bytes) {
        None => again(|| call(from, bytes)),
        Some(half) => {
            in_parts(from, half, call)?;
            in_parts(from + half, bytes - half, call)
        }
    }
}

/// How many bytes of a part of a file its first half has, up to the end of a page; `None` if it lies in one.
fn half(from: u64, bytes: u64) -> Option<u64> {
    let end = (from + bytes / 2) / PAGE * PAGE;
    let ends = [end, end + PAGE].map(|end| end.saturating_sub(from));
    ends.into_iter().find(|half| (1..bytes).contains(half))
}

/// Of any system at least.
const PAGE: u64 = 1 << 12;

/// Reads what lies in a file from a byte on; how many bytes that were.
///
/// # Errors
/// The system's.
pub fn read_at(file: BorrowedFd<'_>, room: &mut [u8], from: u64) -> io::Result<usize> {
    let from = offset(from)?;
    let (file, place) = (file.as_raw_fd(), room.as_mut_ptr().cast());
    // SAFETY: there is as much room.
    again(|| check_bytes(unsafe { libc::pread64(file, place, room.len(), from) }))
}

fn offset(bytes: u64) -> io::Result<libc::off64_t> {
    Ok(libc::off64_t::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn a_sealed_file_keeps_its_size_and_not_its_memory() {
        let file = std::fs::File::from(in_memory(c"test").expect("a file"));
        let (fd, page) = (file.as_fd(), 1 << 12);
        set_bytes(fd, 2 * page).expect("room");
        assert!(!keeps_size(fd));
        keep_size(fd).expect("nobody has sealed it");
        assert!(keeps_size(fd));
        set_bytes(fd, page).expect_err("it keeps its size");
        keep_size(fd).expect_err("once is enough");
        file.write_all_at(b"abc", page).expect("room");
        let mut text = [0; 3];
        assert_eq!((read_at(fd, &mut text, page).expect("a file"), &text), (3, b"abc"));
        discard(fd, page, page).expect("room");
        assert_eq!((read_at(fd, &mut text, page).expect("a file"), text), (3, [0; 3]));
        allocate(fd, 0, 2 * page).expect("room");
        assert_eq!(metadata(fd).expect("a file").bytes, 2 * page);
        assert_eq!(
            read_at(fd, &mut text, u64::MAX).expect_err("no file").kind(),
            io::ErrorKind::InvalidInput
        );
        let other = in_memory(c"test").expect("a file");
        assert_ne!(metadata(other.as_fd()).expect("a file").inode, metadata(fd).expect("a file").inode);
    }

    #[test]
    fn halves_end_with_a_page() {
        assert_eq!([half(0, 1), half(0, 4096), half(4000, 96), half(4096, 4096)], [None; 4]);
        assert_eq!([half(0, 4097), half(2048, 4096), half(4095, 2)], [Some(4096), Some(2048), Some(1)]);
        assert_eq!([half(100, 8092), half(2048, 8 << 20)], [Some(3996), Some((4 << 20) - 2048)]);
    }

    #[test]
    fn a_large_part_of_a_file_is_changed_though_there_are_many_signals() {
        const END: u64 = 8 << 20;
        // The system comes so far between two signals, which come in the middle of a page, too.
        for most in [0, 3 * PAGE, 1 << 20, END] {
            let (mut done, mut calls) = (100, 0);
            let changed = in_parts(done, END - done, &mut |from, bytes| {
                calls += 1;
                assert!(from == done && calls <= 5 * END / PAGE, "call {calls}: {from}, after {done}");
                if bytes > most && (bytes > PAGE || calls % 3 != 0) {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                done += bytes;
                Ok(())
            });
            changed.expect("there is memory");
            assert_eq!(done, END);
        }
        let refused = in_parts(0, END, &mut |from, bytes| {
            let is_long = bytes > END / 2;
            assert_eq!(from, 0, "no more after an error");
            Err(if is_long { io::ErrorKind::Interrupted } else { io::ErrorKind::StorageFull }.into())
        });
        assert_eq!(refused.expect_err("no memory").kind(), io::ErrorKind::StorageFull);
    }
}
