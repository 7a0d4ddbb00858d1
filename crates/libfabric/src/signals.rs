//! What signals do, which stays as it is while libraries are loaded.
//!
//! Debian's libfabric brings libraries of adapters (`libinfinipath`, `libpsm2`) whose initialisers take the signals of
//! a crash, and `SIGTERM`: they print a backtrace, or end the process by `exit`, with all that the program does at its
//! end. Who tells a rank to end, or looks why it has crashed, counts on what the program has chosen.

use std::mem;
use std::ptr;

/// What each signal does, by number.
pub(crate) struct Actions(Vec<libc::sigaction>);

/// Those of the system, but for those of real time; the last is below this.
const SIGNALS: libc::c_int = 32;

impl Actions {
    /// As it is now.
    pub(crate) fn now() -> Self {
        Self((0..SIGNALS).map(action).collect())
    }

    /// Makes it so again.
    pub(crate) fn restore(&self) {
        for (signal, before) in (0..SIGNALS).zip(&self.0) {
            if action(signal).sa_sigaction != before.sa_sigaction {
                // SAFETY: both point to an action, or to nothing; what was taken before may be set again.
                unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
            }
        }
    }
}

/// What a signal does; of what is no signal, and of those that nobody may take, nothing special.
fn action(signal: libc::c_int) -> libc::sigaction {
    // SAFETY: zeroes are an action: the usual one.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: it is written to an action.
    unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) };
    action
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;

    /// Where libfabric is not there nothing is shown.
    #[test]
    fn libraries_that_are_loaded_take_no_signals() {
        drop(Library::get());
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGABRT, libc::SIGFPE] {
            let of_nobody = [libc::SIG_DFL, libc::SIG_IGN]; // as whoever runs the tests has it
            assert!(of_nobody.contains(&action(signal).sa_sigaction), "signal {signal}");
        }
    }
}
