//! The end of a process: in order, and in the middle of things.

use std::process;
use std::sync::{Mutex, PoisonError};

/// What is to be done at the end of the process of this number.
type Last = (u32, Box<dyn FnOnce() + Send>);

static LAST: Mutex<Vec<Last>> = Mutex::new(Vec::new());

/// Lets something be done when this process ends in order: at the end of `main`, or by `exit`. A child that it forks
/// off does not do it.
pub fn at_exit(last: impl FnOnce() + Send + 'static) {
    let mut all = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    all.push((process::id(), Box::new(last)));
    // SAFETY: the function takes nothing, and stays as long as this code does.
    unsafe { libc::atexit(do_last) };
}

extern "C" fn do_last() {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).pop();
    if let Some((process, last)) = last
        && process == process::id()
    {
        last();
    }
}

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
