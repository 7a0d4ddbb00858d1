//! The guardian: a process that outlives the launcher just long enough to clean up after it.
//!
//! It sleeps on a pipe that only the launcher writes to, learns the process groups of the ranks from it, and kills
//! those of jobs that have not ended when the launcher vanishes (`kill -9`). Ranks die with the launcher by themselves;
//! the guardian is for the processes that ranks have started. The launcher never waits for it: somebody may have
//! stopped it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Signal, WaitOptions};

use crate::spawn;

/// The launcher's end.
#[derive(Debug)]
pub struct Guardian {
    pipe: OwnedFd,
    /// What the pipe had no room for.
    unsent: Vec<u8>,
    pid: Pid,
}

/// A process group as it is written to the pipe; negative if it is to be forgotten.
type Record = [u8; size_of::<i32>()];

impl Guardian {
    /// Starts the guardian; before any descriptor is open that it must not hold.
    ///
    /// # Errors
    /// The system's, if there can be no pipe or no process.
    pub fn start() -> io::Result<Self> {
        let (reader, pipe) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let pid = spawn::fork_into(|| guard(&reader))?;
        rustix::fs::fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
        Ok(Self { pipe, unsent: Vec::new(), pid })
    }

    /// Its process.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Tells it of a rank's process group, at once if the pipe has room.
    ///
    /// # Errors
    /// The system's, if the guardian is gone.
    pub fn watch(&mut self, group: Pid) -> io::Result<()> {
        let record: Record = group.as_raw_nonzero().get().to_ne_bytes();
        self.unsent.extend(record);
        self.send()
    }

    /// Lets it forget a group of which nothing is left. A guardian that is gone has.
    pub fn forget(&mut self, group: Pid) {
        let record: Record = (-group.as_raw_nonzero().get()).to_ne_bytes();
        self.unsent.extend(record);
        let _ = self.send();
    }

    /// What to wait for before [`Guardian::send`], if there is anything to send.
    pub fn writable(&self) -> Option<BorrowedFd<'_>> {
        (!self.unsent.is_empty()).then(|| self.pipe.as_fd())
    }

    /// Tells it what the pipe had no room for.
    ///
    /// # Errors
    /// As for [`Guardian::watch`].
    pub fn send(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match rustix::io::write(&self.pipe, &self.unsent) {
                Ok(bytes) => drop(self.unsent.drain(..bytes)),
                Err(Errno::AGAIN | Errno::INTR) => break,
                Err(errno) => {
                    self.unsent.clear();
                    return Err(errno.into());
                }
            }
        }
        Ok(())
    }

    /// Ends it: everything has been cleaned up.
    pub fn dismiss(&self) {
        // It has nothing to do but to wait, and a signal that it could act upon would not reach it if it is stopped.
        let _ = rustix::process::kill_process(self.pid, Signal::KILL);
        let _ = rustix::process::waitpid(Some(self.pid), WaitOptions::empty());
    }
}

/// The guardian's whole life; returns its exit status.
fn guard(pipe: &OwnedFd) -> i32 {
    detach(pipe);
    for group in groups(pipe) {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    0
}

/// The groups that are left of everything that is written to `pipe` until its end.
fn groups(pipe: &OwnedFd) -> Vec<Pid> {
    let mut groups = Vec::new();
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut buffer)) {
            Ok(count) if count > 0 => bytes.extend(&buffer[..count]),
            _ => return groups,
        }
        let (records, rest) = bytes.as_chunks();
        for number in records.iter().map(|record: &Record| i32::from_ne_bytes(*record)) {
            match Pid::from_raw(number.saturating_abs()) {
                Some(group) if number < 0 => groups.retain(|&known| known != group),
                group => groups.extend(group),
            }
        }
        bytes = rest.to_vec(); // a record that is torn
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guardian_that_does_not_read_keeps_nobody_waiting_and_misses_nothing() {
        let (reader, pipe) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        rustix::fs::fcntl_setfl(&pipe, OFlags::NONBLOCK).expect("my own pipe");
        let mut guardian = Guardian { pipe, unsent: Vec::new(), pid: Pid::INIT };
        let all: Vec<Pid> = (1..300_000).filter_map(Pid::from_raw).collect();
        all.iter().for_each(|&group| guardian.watch(group).expect("there is a reader"));
        assert!(guardian.writable().is_some(), "no pipe holds this much");
        let reading = std::thread::spawn(move || groups(&reader));
        while guardian.writable().is_some() {
            guardian.send().expect("there is a reader");
        }
        drop(guardian);
        assert_eq!(reading.join().expect("it reads"), all);
    }

    #[test]
    fn a_group_of_which_nothing_is_left_is_forgotten() {
        let (reader, pipe) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        let mut guardian = Guardian { pipe, unsent: Vec::new(), pid: Pid::INIT };
        let group = |number| Pid::from_raw(number).expect("above 0");
        for number in [7, 8, 9] {
            guardian.watch(group(number)).expect("there is a reader");
        }
        guardian.forget(group(8));
        guardian.watch(group(10)).expect("there is a reader");
        drop(guardian);
        assert_eq!(groups(&reader), [7, 9, 10].map(group));
    }
}
