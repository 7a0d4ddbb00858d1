//! Signals to the launcher, as events of its loop.
//!
//! They are blocked and read from a descriptor, so no code runs inside a handler. Signals that whoever started the
//! launcher had set to be ignored (as `nohup` does) stay ignored.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::{io, ptr};

/// The launcher's signals.
#[derive(Debug)]
pub struct Signals {
    fd: OwnedFd,
    before: SignalMask,
}

/// The signals that were blocked before the launcher took them.
pub struct SignalMask(libc::sigset_t);

/// Signals the launcher acts upon.
const TAKEN: [i32; 9] = [
    libc::SIGCHLD,
    libc::SIGCONT,
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGTSTP,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

impl Signals {
    /// Takes over the launcher's signals.
    ///
    /// Also blocks `SIGTTIN`, so that reading from a terminal in the background fails instead of stopping the
    /// launcher, and `SIGXFSZ`, so that a file which may not become longer is as one on a full disk; and resets
    /// `SIGCHLD`, without which ended ranks would vanish before anyone has seen how they ended.
    ///
    /// # Errors
    /// The system's.
    pub fn take() -> io::Result<Self> {
        // SAFETY: the default disposition runs no code.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        let mut events = SignalMask::empty();
        TAKEN.into_iter().filter(|&signal| !is_ignored(signal)).for_each(|signal| events.add(signal));
        let mut blocked = SignalMask(events.0);
        [libc::SIGTTIN, libc::SIGXFSZ].into_iter().for_each(|signal| blocked.add(signal));
        let before = blocked.swap(libc::SIG_BLOCK)?;
        // SAFETY: the set is initialised; -1 asks for a new descriptor.
        let fd = unsafe { libc::signalfd(-1, &raw const events.0, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and nobody else knows it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { fd, before })
    }

    /// The next signal that has arrived, if any.
    pub fn next(&self) -> Option<i32> {
        let mut info = [0_u8; size_of::<libc::signalfd_siginfo>()];
        let bytes = rustix::io::read(&self.fd, &mut info).ok()?;
        // The first field is the signal's number.
        (bytes == info.len()).then(|| i32::from_ne_bytes([info[0], info[1], info[2], info[3]]))
    }

    /// The signals that were blocked before.
    pub fn before(&self) -> &SignalMask {
        &self.before
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl SignalMask {
    fn empty() -> Self {
        let mut set = MaybeUninit::uninit();
        // SAFETY: a pointer to room for a set.
        unsafe { libc::sigemptyset(set.as_mut_ptr()) };
        // SAFETY: `sigemptyset` initialises it and cannot fail.
        Self(unsafe { set.assume_init() })
    }

    fn add(&mut self, signal: i32) {
        // SAFETY: the set is initialised.
        unsafe { libc::sigaddset(&raw mut self.0, signal) };
    }

    /// Applies this mask and returns the one before.
    fn swap(&self, how: i32) -> io::Result<Self> {
        let mut before = Self::empty();
        // SAFETY: both sets are initialised.
        match unsafe { libc::sigprocmask(how, &raw const self.0, &raw mut before.0) } {
            0 => Ok(before),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Makes the signals of a child as they were before, with `SIGPIPE` as programs expect it: Rust ignores it.
    pub fn restore(&self) {
        // SAFETY: the default disposition runs no code.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        // It fails only for a wrong first argument.
        let _ = self.swap(libc::SIG_SETMASK);
    }
}

impl std::fmt::Debug for SignalMask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignalMask")
    }
}

fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: only asks for the present action, for which there is room.
    unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: all bytes zero is a valid action, and the call wrote a valid one.
    let action = unsafe { action.assume_init() };
    action.sa_sigaction == libc::SIG_IGN
}
