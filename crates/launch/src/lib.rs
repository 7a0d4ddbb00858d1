//! `mpiexec` and `mpirun`: start the ranks of a job, and see it, and jobs that it spawns, to their end.
//!
//! | part | modules |
//! |---|---|
//! | what the user wants | `command_line` (words to a description), `job` (the description) |
//! | decisions, pure | `bind`, `environment`, `output`, `report`, `status`, `ties` |
//! | who calls | `cargo` (`cargo oxmpi`), and `main` |
//! | the machine | `program`, `executable`, `library`, `start`, `spawn`, `signals` |
//! | the running jobs | `supervise` (the loop), `crew` (one job), `streams`, `feed`, `guardian`, `orphans` |
//! | several hosts | `hosts` (where to), `allocation` (as a batch system says), `conductor` (the launcher), `relay` (between, where there are many), `agent`, `uplink` (on each host), `talk` (between them), `part` |
//! | who asks for more | `requests` (to a job's broker), `names`, `birth`, `serve` (a process that nobody has launched) |
//!
//! Nothing is left behind however the job ends. Ranks share one anonymous segment, which has no name. Each rank has a
//! process group of its own, which is killed at the end of the job; each is killed by the kernel when the launcher
//! dies; the launcher inherits and kills what has left its rank's group; and a *guardian* process kills what ranks have
//! started should the launcher be killed. No file is written, and on one machine no port of the network is opened:
//! brokers listen on abstract sockets, which end with the launcher.
//!
//! The exit status is specified in `status`. MPI-5.0: Process Initialization, Creation, and Management, Portable MPI
//! Process Startup.
#![deny(unsafe_code)]

mod agent;
mod allocation;
mod bind;
mod birth;
pub mod cargo;
mod command_line;
mod conductor;
mod crew;
mod environment;
mod executable;
mod failure;
mod feed;
#[allow(unsafe_code)] // closes what it was forked with
mod guardian;
mod hosts;
#[allow(unsafe_code)] // a list of the system's
mod interface;
mod job;
mod library;
mod names;
mod orphans;
mod output;
mod part;
mod presence;
mod program;
mod relay;
mod report;
mod requests;
#[allow(unsafe_code)] // closes what it has inherited
mod serve;
#[allow(unsafe_code)] // signal sets and dispositions
mod signals;
#[allow(unsafe_code)] // fork and exec
mod spawn;
mod start;
mod status;
mod streams;
mod supervise;
mod talk;
mod ties;
mod uplink;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use command_line::Request;
use failure::{Failure, Result};
use hosts::Host;
use job::Job;

/// Runs the launcher called `name` with the arguments of this process.
///
/// The process must have no other thread: ranks die with the thread that made them.
pub fn main(name: &'static str) -> ExitCode {
    launch_words(name, std::env::args_os().skip(1).collect())
}

fn launch_words(name: &'static str, words: Vec<OsString>) -> ExitCode {
    match run(name, words) {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            // Whoever reads it may have gone; the status says enough.
            let _ = writeln!(io::stderr(), "{name}: {failure}");
            ExitCode::from(failure.status())
        }
    }
}

fn run(name: &'static str, words: Vec<OsString>) -> Result<u8> {
    if oxmpi_broker::Host::is_called_by(&words) {
        return serve::serve(name).map(|()| 0);
    }
    if matches!(&*words, [word] if word == agent::FLAG) {
        return agent::run(name);
    }
    let text = match command_line::parse(&words, &command_line::read_file)? {
        Request::Help => command_line::manual(name, |manual| manual.help()),
        Request::Manual(format) => {
            command_line::manual(name, |manual| manual.print_as(&format)).expect("the format was checked")
        }
        Request::Run(job) => {
            let job = with_variables(*job)?;
            return if conductor::is_wanted(&job) {
                conductor::run(name, job)
            } else {
                Ok(start::start(name, job)?.run())
            };
        }
        Request::Version => format!("{name} (oxmpi) {}\n", env!("CARGO_PKG_VERSION")),
    };
    oxmpi_manual::print(&text).map_err(|error| Failure::system("write standard output", error))?;
    Ok(0)
}

/// What the launcher's environment says of the job, and the command line does not.
fn with_variables(mut job: Job) -> Result<Job> {
    if job.time_limit.is_none() {
        job.time_limit = seconds("MPIEXEC_TIMEOUT")?;
    }
    job.doom_grace = seconds("OXMPI_GRACE")?;
    let variable = |name: &str| std::env::var_os(name);
    let mut launcher = None;
    if job.hosts.is_empty() {
        if let Some(allocation) = allocation::find(variable, &command_line::read_file)? {
            (job.hosts, launcher) = (allocation.hosts, allocation.launcher);
        }
    } else if job.launcher.is_none() {
        launcher = allocation::launcher_to(job.named_hosts(), variable);
    }
    // A job on this machine alone needs nothing that reaches others.
    if !job.hosts.iter().all(Host::is_here) {
        job.launcher = job.launcher.or(launcher);
    }
    job.fill_hosts()?;
    Ok(job)
}

/// The value of a variable, if it is set and not empty.
fn seconds(name: &str) -> Result<Option<Duration>> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    let Some(value) = value else { return Ok(None) };
    let text = value.to_string_lossy(); // what is not text is no number either
    let wrong = || Failure::own(format!("{name}={text}: it must be a number of seconds above 0"));
    command_line::parse_seconds(&text).ok_or_else(wrong).map(Some)
}
