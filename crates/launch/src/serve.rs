//! `mpiexec` in the service of a process that nobody has launched, and that needs a broker.
//!
//! The process is a job of one rank, which the launcher has not made and cannot see the exit status of. It starts
//! `mpiexec` with a socket as standard input. What was started goes into the background at once, in a session of its
//! own, so that it is nobody's child and hears nothing of the terminal; what it starts there prints where the process
//! does. It keeps nothing else that the process has open, which may be pipes whose readers wait for an end. It ends
//! when the process and all that it has spawned have ended.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};

use oxmpi_broker::{Answer, Host};
use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;
use rustix::process::{Pid, PidfdFlags};

use crate::birth::Origin;
use crate::crew::{Crew, Rank};
use crate::failure::{Failure, Result};
use crate::job::{Block, Job, StdinTo};
use crate::spawn;
use crate::start::Site;
use crate::supervise::{Shared, Supervisor};

/// Goes into the background and serves the process at the other end of the standard input.
///
/// # Errors
/// The launcher's own failure: there is no such process.
pub fn serve(launcher: &'static str) -> Result<()> {
    let failed = |error| Failure::system("serve the process that has started me", error);
    let socket = take_input().map_err(|error| failed(error.into()))?;
    // SAFETY: this process has just begun, and has opened nothing besides.
    unsafe { spawn::close_all_but(socket.as_fd()) };
    let mut host = Host::greet(socket).map_err(failed)?;
    let serve = || {
        let _ = rustix::process::setsid();
        match prepare(launcher, &host) {
            Ok(mut supervisor) => {
                if host.answer(&Answer::Done).is_err() {
                    return 0; // nobody wants it any more
                }
                supervisor.host = Some(host);
                supervisor.run().into()
            }
            Err(failure) => {
                // It has gone, or is told.
                let _ = host.answer(&Answer::Failed { text: failure.to_string() });
                failure.status().into()
            }
        }
    };
    spawn::fork_into(serve).map_err(failed)?;
    Ok(())
}

/// The standard input under another number, which nothing that is started inherits. In its place nothing is read.
fn take_input() -> rustix::io::Result<OwnedFd> {
    const FIRST: i32 = 3;
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), FIRST)?;
    debug_assert!(rustix::io::fcntl_getfd(&socket).is_ok_and(|flags| flags.contains(FdFlags::CLOEXEC)));
    let null = rustix::fs::open(c"/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    Ok(socket)
}

/// A supervisor of the process's job.
fn prepare(launcher: &'static str, host: &Host) -> Result<Supervisor> {
    let failed = |error| Failure::system("serve the process that has started me", error);
    let file = host.segment.try_clone().map_err(failed)?;
    let segment = oxmpi_shm::Job::attach(file).map_err(failed)?;
    if segment.id() != host.job || segment.size() != 1 {
        return Err(Failure::own("the shared memory is not that of the process that has started me"));
    }
    let pid = Pid::from_raw(host.pid)
        .ok_or_else(|| Failure::own("the process that has started me cannot be seen from here"))?;
    let handle =
        rustix::process::pidfd_open(pid, PidfdFlags::empty()).map_err(|error| failed(error.into()))?;
    let program = fs::read_to_string(format!("/proc/{}/comm", host.pid)).unwrap_or_default();
    let program = program.trim_end().to_owned();
    let block = Block { count: 1, program: program.clone().into(), ..Block::default() };
    let job = Job { blocks: vec![block], stdin: StdinTo::None, ..Job::default() };
    let mut supervisor = Supervisor::new(Shared::take(launcher, job.stdin)?, Site::here());
    let mut crew = Crew::new(launcher, 1, job, Origin::Host, segment, None);
    crew.ranks.push(Rank { number: 0, pid, handle, lifeline: None, program, exit: None, missed_until: None });
    supervisor.server.serve(crew.id()).map_err(|error| Failure::system("listen for requests", error))?;
    supervisor.crews.push(crew);
    Ok(supervisor)
}
