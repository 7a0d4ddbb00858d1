//! What oxmpi asks of Linux, as safe functions where that can be.
//!
//! Crates that know all of Linux take seconds to compile, in every program of the Rust API; this one takes a fraction
//! of one. What the standard library has is taken from there. Errors are the system's; a call that a signal has
//! interrupted is made again, where its function does not say otherwise.
//! Cost: that of the system call.

pub mod file;
pub mod limits;
pub mod memory;
pub mod notice;
pub mod poll;
pub mod random;
pub mod socket;
pub mod thread;
pub mod time;

use std::io;

/// What a call has returned, if that is no error.
fn check(returned: libc::c_int) -> io::Result<libc::c_int> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

/// How many bytes a call has moved, if that is no error.
fn check_bytes(returned: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(returned).map_err(|_| io::Error::last_os_error())
}

/// Makes a call again as long as signals interrupt it.
fn again<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
