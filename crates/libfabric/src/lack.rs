//! What a call of libfabric's says of want of memory: "later" (`-FI_EAGAIN`), as of a connection that is to be made.
//!
//! Providers have buffers of many messages each, which they make as they are needed, and where the system has no memory
//! for them a later attempt finds none either, as under `ulimit -v`. But the system's number of the error is left: that
//! tells such a refusal from others. A call that ends well may leave it, too, as where there are no huge pages.

use std::io;

/// What is said of it.
pub(crate) const LACK: &str = "the network finds no memory for what it is to carry; `ulimit -v` says how \
                               much a process may have, and `ulimit -l` how much of it may be locked";

/// What a call returns, and whether the last that it has asked of the system in vain was memory.
pub(crate) fn noting_lack<T>(call: impl FnOnce() -> T) -> (T, bool) {
    // SAFETY: every thread has one.
    let error = unsafe { libc::__errno_location() };
    // SAFETY: it is this thread's own, as long as that is there.
    unsafe { *error = 0 };
    let result = call();
    (result, io::Error::last_os_error().raw_os_error() == Some(libc::ENOMEM))
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    /// Asks for memory as the buffers of providers do.
    fn ask_for(bytes: usize) -> bool {
        let mut memory = ptr::null_mut();
        // SAFETY: the pointer may be written, and the alignment is one.
        let code = unsafe { libc::posix_memalign(&raw mut memory, 4096, bytes) };
        // SAFETY: it was allocated just now, or is null.
        unsafe { libc::free(memory) };
        code == 0
    }

    #[test]
    fn a_lack_is_told_from_what_works_and_from_what_fails_otherwise() {
        assert_eq!(noting_lack(|| ask_for(1 << 60)), (false, true));
        assert_eq!(noting_lack(|| ask_for(4096)), (true, false), "what was before does not count");
        // SAFETY: there is no such descriptor.
        assert_eq!(noting_lack(|| unsafe { libc::close(-1) }), (-1, false));
    }
}
