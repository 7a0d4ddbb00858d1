//! Waiting for descriptors.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::time::Duration;

use crate::time::timespec;
use crate::{again, check};

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// That the other side has closed, or reads no more.
    End,
    /// Something to be read.
    Reading,
    /// Room to write.
    Writing,
}

/// Waits until one of them has what is wanted, or fails, or `timeout` has passed; without one, as long as it takes.
/// Returns whether one has. After a signal the time begins again.
///
/// # Errors
/// The system's.
pub fn wait<'fd>(
    all: impl IntoIterator<Item = (BorrowedFd<'fd>, Wanted)>,
    timeout: Option<Duration>,
) -> io::Result<bool> {
    let entry = |(fd, wanted): (BorrowedFd<'_>, Wanted)| {
        let events = match wanted {
            Wanted::End => libc::POLLRDHUP,
            Wanted::Reading => libc::POLLIN,
            Wanted::Writing => libc::POLLOUT,
        };
        libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 }
    };
    let mut entries: Vec<_> = all.into_iter().map(entry).collect();
    let limit = timeout.map(timespec);
    let limit = limit.as_ref().map_or(ptr::null(), ptr::from_ref);
    let count = entries.len() as libc::nfds_t;
    // SAFETY: there are as many entries, which may be written, and the time, if there is one, may be read.
    let ready = again(|| check(unsafe { libc::ppoll(entries.as_mut_ptr(), count, limit, ptr::null()) }))?;
    Ok(ready > 0)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_is_there_is_seen_and_nothing_else() {
        let (here, mut there) = UnixStream::pair().expect("sockets");
        let has = |wanted| wait([(here.as_fd(), wanted)], Some(Duration::ZERO)).expect("an open socket");
        assert!(has(Wanted::Writing) && !has(Wanted::Reading) && !has(Wanted::End));
        there.write_all(b"x").expect("room");
        assert!(has(Wanted::Reading) && !has(Wanted::End));
        drop(there);
        assert!(has(Wanted::End));
        wait([(here.as_fd(), Wanted::Reading)], None).expect("an open socket");
    }
}
