//! The end of a process in the middle of things.

/// Ends this process with `status`, at once: no destructor and no function of `atexit` runs. They are the
/// program's, belong to its orderly end, and may call MPI or wait for what will not come.
///
/// What the program has printed by the C library and not flushed is still written, as it says how far the program
/// came; unless another thread is printing just now, which may take for ever.
pub fn end_process(status: u8) -> ! {
    // SAFETY: the C library sets its stream before the program begins.
    let output = unsafe { stdout };
    // SAFETY: it is a stream, or closed by a program that uses it no more.
    if unsafe { ftrylockfile(output) } == 0 {
        // SAFETY: as above.
        unsafe { libc::fflush(output) };
    }
    // SAFETY: the call only ends the process.
    unsafe { libc::_exit(status.into()) }
}

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    fn ftrylockfile(stream: *mut libc::FILE) -> libc::c_int;
}
