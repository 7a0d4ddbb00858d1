//! A thread of the library's own, which keeps out of the way of the program's.
//!
//! It gets no signals but those of its own making: what others send, the program's threads are to get. And it leaves
//! the processor to the thread that it works for, where it may use another one: who is woken is put where its waker is
//! more often than not, and one of the two then waits for a time slice.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::thread::{self, Builder, JoinHandle};

use oxmpi_system::thread::{CpuSet, ThreadId, this_cpu};

/// See the module.
#[derive(Debug)]
pub struct ThreadAside {
    thread: JoinHandle<()>,
    /// Its number, once it runs.
    number: Arc<OnceLock<ThreadId>>,
    /// Where it may run, as far as the system lets it; `None` where it does not tell.
    allowed: Option<Box<CpuSet>>,
    /// The processor among them that it leaves to another thread.
    left: Option<usize>,
}

/// Signals of what a thread does itself. A program may handle them, as one that follows which of its pages are written;
/// where they were blocked the system would end it.
const OF_ITS_OWN: [libc::c_int; 6] =
    [libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSEGV, libc::SIGSYS, libc::SIGTRAP];

impl ThreadAside {
    /// Starts one that may run where the caller may.
    ///
    /// # Errors
    /// The system's, if it refuses.
    pub fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let allowed = CpuSet::of_this_thread().ok().map(Box::new);
        let number = Arc::new(OnceLock::new());
        let told = Arc::clone(&number);
        let body = move || {
            let _ = told.set(ThreadId::of_this_thread()); // nobody else does
            body();
        };
        let before = block_signals_of_others()?;
        let thread = Builder::new().name(name.to_owned()).spawn(body);
        // SAFETY: `before` is a whole mask. It cannot fail, as it did not then.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
        Ok(Self { thread: thread?, number, allowed, left: None })
    }

    /// Leaves the processor that the caller runs on to the caller from now on, unless it is the only one. Costs a look,
    /// and a system call when it is another one than before.
    pub fn leave_this_processor(&mut self) {
        let (Some(here), Some(allowed)) = (this_cpu(), self.allowed.as_deref()) else { return };
        let Some(&number) = self.number.get().filter(|_| self.left != Some(here)) else { return };
        self.left = Some(here);
        let others = if here < CpuSet::MAX_CPU { allowed.without(here) } else { *allowed };
        let where_to = if others.count() == 0 { *allowed } else { others };
        let _ = where_to.confine(number); // at worst it is in the way
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// What it has panicked with.
    pub fn join(self) -> thread::Result<()> {
        self.thread.join()
    }
}

/// Blocks for the caller what others may send; the mask before.
fn block_signals_of_others() -> io::Result<libc::sigset_t> {
    let mut others = MaybeUninit::uninit();
    // SAFETY: `others` may be written.
    unsafe { libc::sigfillset(others.as_mut_ptr()) };
    for own in OF_ITS_OWN {
        // SAFETY: `others` was filled above, and may be written.
        unsafe { libc::sigdelset(others.as_mut_ptr(), own) };
    }
    let mut before = MaybeUninit::uninit();
    // SAFETY: `others` was filled above, and `before` may be written.
    let refused = unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, others.as_ptr(), before.as_mut_ptr()) };
    if refused != 0 {
        return Err(io::Error::from_raw_os_error(refused));
    }
    // SAFETY: the call that has not failed has written it.
    Ok(unsafe { before.assume_init() })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::fs;
    use std::sync::mpsc;

    use super::*;

    fn blocked() -> u64 {
        let status = fs::read_to_string("/proc/thread-self/status").expect("Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).expect("it is there");
        u64::from_str_radix(line.trim(), 16).expect("a mask")
    }

    #[test]
    fn it_blocks_signals_of_others_and_its_maker_does_not() {
        let before = blocked();
        let (tell, told) = mpsc::channel();
        let thread = ThreadAside::spawn("oxmpi-test", move || {
            let name = fs::read_to_string("/proc/thread-self/comm").expect("Linux");
            tell.send((blocked(), name)).expect("it is waited for");
        });
        let (inside, name) = told.recv().expect("it tells");
        thread.expect("the system allows it").join().expect("no panic");
        assert_eq!((blocked(), name.trim()), (before, "oxmpi-test"));
        let blocks = |signal: libc::c_int| inside & 1 << (signal - 1) != 0;
        assert!(blocks(libc::SIGTERM) && blocks(libc::SIGALRM) && !OF_ITS_OWN.map(blocks).contains(&true));
    }

    #[test]
    fn it_runs_elsewhere_if_there_is_another_processor() {
        let allowed = CpuSet::of_this_thread().expect("an affinity mask");
        let (tell, told) = mpsc::channel();
        let (ask, asked) = mpsc::channel();
        let thread = ThreadAside::spawn("oxmpi-test", move || {
            while asked.recv().is_ok() {
                tell.send(CpuSet::of_this_thread().expect("an affinity mask")).expect("it is waited for");
            }
        });
        let mut thread = thread.expect("the system allows it");
        let mask = || {
            ask.send(()).expect("it is there");
            told.recv().expect("it tells")
        };
        assert_eq!(mask(), allowed);
        thread.leave_this_processor();
        let left = thread.left.expect("it runs");
        let (now, others) = (mask(), allowed.count() - usize::from(allowed.contains(left)));
        assert_eq!(now.count(), if others == 0 { allowed.count() } else { others });
        drop(ask);
        thread.join().expect("no panic");
    }
}
