//! Processes: fork, take a rank's place, become its program.
//!
//! The only code that runs between fork and exec is here. Everything it needs is laid out before the fork, so that it
//! allocates nothing; it makes system calls only. The launcher has one thread, and must keep to it: a rank dies with
//! the *thread* that made it.

use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::{io, ptr};

use oxmpi_system::thread::{CpuSet, ThreadId};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, FdFlags};
use rustix::process::{Pid, Resource, Rlimit, Signal};

use crate::signals::SignalMask;
use crate::status::Step;

/// A program with its arguments, and where it runs.
#[derive(Debug)]
pub struct Program {
    /// The file to execute.
    pub path: CString,
    /// Its arguments, from its own name on.
    pub arguments: Vec<CString>,
    /// Variables (`NAME=VALUE`) that all its ranks share.
    pub environment: Vec<CString>,
    /// Its working directory, if not the launcher's.
    pub dir: Option<CString>,
    /// The library of another MPI that it is linked with, if any.
    pub foreign_mpi: Option<String>,
}

/// The place of one rank.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The rank, for reports of failures.
    pub rank: u32,
    /// Variables (`NAME=VALUE`) of this rank alone.
    pub environment: &'a [CString],
    /// Standard input, output and error.
    pub streams: [BorrowedFd<'a>; 3],
    /// Descriptors that stay open under their numbers; all others above 2 are closed.
    pub inherited: &'a [BorrowedFd<'a>],
    /// CPUs the rank is bound to, if any.
    pub cpus: Option<&'a CpuSet>,
}

/// What is the same for all ranks of a job.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// The launcher.
    pub launcher: Pid,
    /// Signals as they were when the launcher began.
    pub signals: &'a SignalMask,
    /// The limit of open files as it was when the launcher began.
    pub open_files: Rlimit,
    /// Where a [`SpawnError`] is written.
    pub errors: BorrowedFd<'a>,
}

/// Why a new process did not become its program; written to [`Surroundings::errors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnError {
    /// The rank.
    pub rank: u32,
    /// What failed.
    pub step: Step,
    /// The system's error number.
    pub errno: i32,
}

/// The null-terminated arrays that `execve` takes.
struct Pointers {
    arguments: Vec<*const c_char>,
    shell_arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
}

const SHELL: &CStr = c"/bin/sh";

/// Starts `program` as a process in a process group of its own.
///
/// Returns once the process exists; if it cannot become the program, it writes a [`SpawnError`] and exits with 127.
///
/// # Errors
/// The system's, if no process can be made.
pub fn spawn(program: &Program, place: &Place, surroundings: &Surroundings) -> io::Result<Pid> {
    let pointers = Pointers::new(program, place);
    let pid = fork_into(|| {
        let (step, errno) = match take_place(program, place, surroundings) {
            Err((step, errno)) => (step, errno),
            Ok(()) => (Step::Execute, execute(program, &pointers)),
        };
        let error = SpawnError { rank: place.rank, step, errno: errno.raw_os_error() };
        // If nobody reads it any more, the launcher is gone and this process is about to be killed.
        let _ = rustix::io::write(surroundings.errors, &error.to_bytes());
        127
    })?;
    // The child does the same; whoever comes first, the group exists when this function returns.
    let _ = rustix::process::setpgid(Some(pid), Some(pid));
    Ok(pid)
}

/// Forks; the child runs `body` and exits with the status it returns.
///
/// # Errors
/// The system's, if no process can be made.
pub fn fork_into(body: impl FnOnce() -> c_int) -> io::Result<Pid> {
    // SAFETY: the launcher has one thread, so the child's copy of its memory is consistent.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        leave(body());
    }
    Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(io::Error::last_os_error)
}

/// Ends this process at once, without running anything that was registered for its exit.
fn leave(status: c_int) -> ! {
    // SAFETY: no duties.
    unsafe { libc::_exit(status) }
}

/// Closes all descriptors above 2 except `kept`.
///
/// # Safety
/// No other descriptor is used in this process any more.
pub unsafe fn close_all_but(kept: BorrowedFd) {
    let kept = c_uint::try_from(kept.as_raw_fd()).expect("a borrowed descriptor is not negative");
    // SAFETY: the caller's promise.
    unsafe { close_range(3, kept - 1, 0) };
    // SAFETY: the caller's promise.
    unsafe { close_range(kept + 1, c_uint::MAX, 0) };
}

/// Everything between fork and exec.
fn take_place(program: &Program, place: &Place, surroundings: &Surroundings) -> Result<(), (Step, Errno)> {
    let prepare = |errno| (Step::Prepare, errno);
    rustix::process::setpgid(None, None).map_err(prepare)?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(prepare)?;
    if rustix::process::getppid() != Some(surroundings.launcher) {
        leave(127); // the launcher died before the line above could take effect
    }
    rustix::stdio::dup2_stdin(place.streams[0]).map_err(prepare)?;
    rustix::stdio::dup2_stdout(place.streams[1]).map_err(prepare)?;
    rustix::stdio::dup2_stderr(place.streams[2]).map_err(prepare)?;
    // SAFETY: nothing is closed before the program begins.
    unsafe { close_range(3, c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    for fd in place.inherited {
        rustix::io::fcntl_setfd(fd, FdFlags::empty()).map_err(prepare)?;
    }
    if let Some(cpus) = place.cpus {
        let bound = cpus.confine(ThreadId::of_this_thread());
        bound.map_err(|error| prepare(Errno::from_io_error(&error).unwrap_or(Errno::INVAL)))?;
    }
    rustix::process::setrlimit(Resource::Nofile, surroundings.open_files).map_err(prepare)?;
    if let Some(dir) = &program.dir {
        rustix::process::chdir(dir.as_c_str()).map_err(|errno| (Step::ChangeDir, errno))?;
    }
    surroundings.signals.restore();
    Ok(())
}

/// Becomes the program; a text without `#!` is given to the shell, a binary for another machine is not. Returns only if
/// that fails.
fn execute(program: &Program, pointers: &Pointers) -> Errno {
    let environment = pointers.environment.as_ptr();
    // SAFETY: path, arguments and environment are null-terminated and alive (`Pointers` borrows from `program`).
    unsafe { libc::execve(program.path.as_ptr(), pointers.arguments.as_ptr(), environment) };
    let error = last_errno();
    if error != Errno::NOEXEC || is_elf(&program.path) {
        return error;
    }
    // SAFETY: as above.
    unsafe { libc::execve(SHELL.as_ptr(), pointers.shell_arguments.as_ptr(), environment) };
    last_errno()
}

/// Whether the file is a binary, as far as it can be read.
fn is_elf(path: &CStr) -> bool {
    const MAGIC: &[u8] = b"\x7fELF";
    let mut head = [0; MAGIC.len()];
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    file.is_ok_and(|file| rustix::io::read(file, &mut head).is_ok()) && head == MAGIC
}

fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::NOEXEC)
}

/// Applies `close_range` (with `flags`) to the descriptors `first..=last`.
///
/// Kernels before 5.11 refuse; then only descriptors that were opened without close-on-exec by whoever started the
/// launcher stay open.
///
/// # Safety
/// If `flags` make it close them at once, none of these descriptors is used in this process any more.
unsafe fn close_range(first: c_uint, last: c_uint, flags: c_uint) {
    if first <= last {
        // SAFETY: the caller's promise.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    }
}

impl Pointers {
    fn new(program: &Program, place: &Place) -> Self {
        let end = [ptr::null()];
        let arguments = program.arguments.iter().map(|word| word.as_ptr());
        let environment = program.environment.iter().chain(place.environment).map(|word| word.as_ptr());
        let shell = [SHELL.as_ptr(), program.path.as_ptr()].into_iter().chain(arguments.clone().skip(1));
        Self {
            arguments: arguments.chain(end).collect(),
            shell_arguments: shell.chain(end).collect(),
            environment: environment.chain(end).collect(),
        }
    }
}

impl SpawnError {
    /// Bytes of one error on the pipe.
    pub const BYTES: usize = 12;

    fn to_bytes(self) -> [u8; Self::BYTES] {
        let step: i32 = match self.step {
            Step::Prepare => 0,
            Step::ChangeDir => 1,
            Step::Execute => 2,
        };
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.rank.to_ne_bytes());
        bytes[4..8].copy_from_slice(&step.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.errno.to_ne_bytes());
        bytes
    }

    /// What a child has written.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let word = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let step = match i32::from_ne_bytes(word(4)) {
            0 => Step::Prepare,
            1 => Step::ChangeDir,
            _ => Step::Execute,
        };
        Self { rank: u32::from_ne_bytes(word(0)), step, errno: i32::from_ne_bytes(word(8)) }
    }
}

/// The number under which a rank will find a descriptor that it inherits.
pub fn number(fd: &impl AsFd) -> RawFd {
    fd.as_fd().as_raw_fd()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spawn_error_survives_the_pipe() {
        for step in [Step::Prepare, Step::ChangeDir, Step::Execute] {
            let error = SpawnError { rank: 7, step, errno: libc::ENOENT };
            assert_eq!(SpawnError::from_bytes(error.to_bytes()), error);
        }
    }
}
