//! The guardian: a process that outlives the launcher just long enough to clean up after it.
//!
//! It sleeps on a pipe that only the launcher writes to, learns the process groups of the ranks from it, and kills
//! them all when the launcher vanishes without a goodbye (`kill -9`). Ranks die with the launcher by themselves; the
//! guardian is for the processes that ranks have started.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Signal, WaitOptions};

use crate::spawn;

/// The launcher's end.
#[derive(Debug)]
pub struct Guardian {
    pipe: OwnedFd,
    pid: Pid,
}

/// On the pipe, in place of a process group: the launcher has cleaned up itself.
const GOODBYE: i32 = 0;

impl Guardian {
    /// Starts the guardian; before any descriptor is open that it must not hold.
    ///
    /// # Errors
    /// The system's, if there can be no pipe or no process.
    pub fn start() -> io::Result<Self> {
        let (reader, pipe) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let pid = spawn::fork_into(|| guard(&reader))?;
        Ok(Self { pipe, pid })
    }

    /// Its process.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Tells it of a rank's process group.
    ///
    /// # Errors
    /// The system's, if the guardian is gone.
    pub fn watch(&self, group: Pid) -> io::Result<()> {
        rustix::io::write(&self.pipe, &group.as_raw_nonzero().get().to_ne_bytes())?;
        Ok(())
    }

    /// Ends it: everything has been cleaned up.
    pub fn dismiss(self) {
        // If this fails the guardian is gone already.
        let _ = rustix::io::write(&self.pipe, &GOODBYE.to_ne_bytes());
        let _ = rustix::process::waitpid(Some(self.pid), WaitOptions::empty());
    }
}

/// The guardian's whole life; returns its exit status.
fn guard(pipe: &OwnedFd) -> i32 {
    detach(pipe);
    let mut groups: Vec<Pid> = Vec::new();
    let mut record = [0; size_of::<i32>()]; // as written: a write this small is never torn
    while let Ok(4) = rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut record)) {
        match Pid::from_raw(i32::from_ne_bytes(record)) {
            Some(group) => groups.push(group),
            None => return 0,
        }
    }
    for group in groups {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    0
}

/// Leaves the launcher's session, directory and files, so that nobody's end waits for the guardian.
fn detach(pipe: &OwnedFd) {
    let _ = rustix::process::setsid();
    let _ = rustix::thread::set_name(c"mpiexec-guard");
    let _ = rustix::process::chdir(c"/");
    if let Ok(null) = rustix::fs::open(c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    // SAFETY: the guardian uses its pipe and nothing else, and exits without dropping what it was forked with.
    unsafe { spawn::close_all_but(pipe.as_fd()) };
}
