//! Dying with the launcher, however far down the tree of processes a rank runs.
//!
//! Each rank inherits the reading end of a pipe of its own, whose writing end only the launcher holds. When the
//! launcher is gone, however it went, the system signals the pipe's owner: `SIGKILL`, to the process that has
//! called `MPI_Init`. A program in between may have closed the pipe, and the number be that of something else.

use std::io;
use std::os::fd::BorrowedFd;

use oxmpi_system::file;

use crate::invitation::number_from_environment;

/// The lifeline that the launcher has given this process, if it is still there: it is known by its file.
///
/// # Errors
/// `InvalidData` if the environment is damaged.
pub(crate) fn inherited() -> io::Result<Option<u64>> {
    let number = number_from_environment("OXMPI_LIFELINE_FD")?;
    let device = number_from_environment("OXMPI_LIFELINE_DEVICE")?;
    let inode = number_from_environment("OXMPI_LIFELINE_INODE")?;
    let Some(fd) = number.and_then(|number| libc::c_int::try_from(number).ok()) else { return Ok(None) };
    // SAFETY: the descriptor is only borrowed for the call; if it is not open the call says so.
    let open = file::metadata(unsafe { BorrowedFd::borrow_raw(fd) });
    let is_it = open.is_ok_and(|open| (Some(open.device), Some(open.inode)) == (device, inode));
    Ok(number.filter(|_| is_it))
}

/// Makes this process the owner of the lifeline. Where the system refuses, the launcher's other means remain.
pub(crate) fn arm(fd: u64) {
    let Ok(fd) = libc::c_int::try_from(fd) else { return };
    let pid = std::process::id().cast_signed();
    // SAFETY: the calls change how a descriptor signals; on one that is not open they fail.
    unsafe { libc::fcntl(fd, libc::F_SETOWN, pid) };
    // SAFETY: as above.
    unsafe { libc::fcntl(fd, F_SETSIG, libc::SIGKILL) };
    // SAFETY: as above.
    unsafe { libc::fcntl(fd, libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK) };
    // A launcher that was gone before can signal no more: the pipe says so itself.
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one descriptor, valid for the call.
    let ready = unsafe { libc::poll(&raw mut poll, 1, 0) };
    if ready == 1 && poll.revents & libc::POLLHUP != 0 {
        // SAFETY: the call only ends this process.
        unsafe { libc::raise(libc::SIGKILL) };
    }
}

/// Not in the `libc` crate: number of the command that chooses the signal.
const F_SETSIG: libc::c_int = 10;
