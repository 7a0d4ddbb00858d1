//! What the launcher says about a job that went wrong, or that it was asked about.
//!
//! Pure: the states of the ranks in, text out. A failure is at most [`FAILURE_LINES`] lines, a report about pending
//! requests at most [`SCREEN_LINES`].

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use oxmpi_base::generated::functions::Function;
use oxmpi_shm::Phase;
use rustix::io::Errno;

use crate::status::{Cause, Exit, Step};
use crate::streams::Loss;

/// Lines of the block about a failure.
pub const FAILURE_LINES: usize = 8;

/// Lines of a report with pending requests.
pub const SCREEN_LINES: usize = 24;

/// What is known about a rank at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankState {
    /// The rank.
    pub rank: u32,
    /// Its process.
    pub pid: i32,
    /// Its program, as the user named it.
    pub program: String,
    /// How far it has come.
    pub phase: Phase,
    /// The index of the MPI function it is in; 0 if in none.
    pub call: u16,
    /// How its process ended, if it has.
    pub exit: Option<Exit>,
    /// What it says about its pending requests, if it was asked and answered.
    pub pending: Option<String>,
}

/// A program that uses another MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignMpi {
    /// The program, as the user named it.
    pub program: String,
    /// That MPI's library.
    pub library: String,
}

/// Where ranks are, so that those at the same place are told together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Call(&'static str),
    /// It waited there for this rank.
    Stranded(&'static str, u32),
    Computing,
    Outside,
    Finalized,
    Aborted,
    Failed,
    Gone,
}

/// The block about what has ended a job: who, how, and where the others were if any rank is in MPI.
pub fn failure(launcher: &str, cause: Cause, states: &[RankState]) -> String {
    let mut lines = vec![describe(cause, states)];
    if states.iter().any(|state| !matches!(state.place(), Place::Gone | Place::Outside)) {
        lines.extend(places(states, cause.rank(), FAILURE_LINES - 1));
    }
    text(launcher, &lines)
}

/// What every rank is doing, with the pending requests of those that answered.
pub fn inquiry(launcher: &str, states: &[RankState]) -> String {
    inquiry_under("what every rank is doing".to_owned(), launcher, states)
}

/// The same for a job that ends because of `cause`.
pub fn ending_inquiry(launcher: &str, cause: Cause, states: &[RankState]) -> String {
    inquiry_under(describe(cause, states), launcher, states)
}

/// What is said when output cannot be written: nothing where the reader has gone, as in any pipeline.
pub fn loss(launcher: &str, loss: &Loss) -> String {
    match loss.errno {
        Errno::PIPE => String::new(),
        errno => {
            format!("{launcher}: cannot write {}: {errno}; what the ranks print there is lost\n", loss.to)
        }
    }
}

/// What is said when nobody has read the output by the time limit.
pub fn unread(launcher: &str, limit: Duration) -> String {
    let reached = describe(Cause::TimeLimit(limit), &[]);
    text(launcher, &[format!("{reached}; what nobody has read by now of the output is lost")])
}

/// What is said at the end of a job that no rank has joined, because its program uses another MPI.
pub fn foreign_mpi(launcher: &str, foreign: &ForeignMpi) -> String {
    let ForeignMpi { program, library } = foreign;
    let lines = [format!(
        "no rank has joined the job: {program} uses {library} of another MPI, to which every rank is alone; \
         start it with the {launcher} of that MPI, or build it for oxmpi"
    )];
    text(launcher, &lines)
}

/// What an agent says when the launcher has gone.
pub fn lost_launcher(agent: &str) -> String {
    text(agent, &["the launcher has gone; the ranks here are killed".to_owned()])
}

fn inquiry_under(heading: String, launcher: &str, states: &[RankState]) -> String {
    let mut lines = vec![heading];
    lines.extend(places(states, None, FAILURE_LINES - 1));
    lines.extend(pending_requests(states, SCREEN_LINES - lines.len()));
    text(launcher, &lines)
}

/// What ranks have answered, in at most `most` lines that are shared out evenly.
fn pending_requests(states: &[RankState], most: usize) -> Vec<String> {
    let answered = states.iter().filter_map(|state| Some((state.rank, state.pending.as_deref()?)));
    let answers: Vec<(u32, &str)> = answered.collect();
    let each = (most / answers.len().max(1)).max(1);
    let mut lines = Vec::new();
    for (rank, answer) in answers {
        let all: Vec<&str> = answer.lines().filter(|line| !line.trim().is_empty()).collect();
        let shown = if all.len() > each { (each - 1).max(1) } else { all.len() };
        lines.extend(all[..shown].iter().map(|line| format!("  rank {rank}: {line}")));
        if shown < all.len() && shown < each {
            lines.push(format!("  rank {rank}: and {} lines more", all.len() - shown));
        }
    }
    if lines.len() > most {
        let more = lines.len() - (most - 1);
        lines.truncate(most - 1);
        lines.push(format!("  and {more} lines more"));
    }
    lines
}

fn text(launcher: &str, lines: &[String]) -> String {
    lines.iter().map(|line| format!("{launcher}: {line}\n")).collect()
}

/// One sentence about what has happened.
pub fn describe(cause: Cause, states: &[RankState]) -> String {
    let state_of = |rank: u32| states.iter().find(|state| state.rank == rank);
    let who = |rank: u32| match state_of(rank) {
        Some(state) => format!("rank {rank} ({}, pid {})", state.program, state.pid),
        None => format!("rank {rank}"),
    };
    let in_call = |rank: u32| match state_of(rank).map(RankState::place) {
        Some(Place::Call(name)) => format!(" in {name}"),
        _ => String::new(),
    };
    match cause {
        Cause::Absent { rank, round: 0 } => {
            format!("{} left without calling MPI_Init; the others would wait for it", who(rank))
        }
        Cause::Absent { rank, .. } => {
            format!("{} left after its program; others began a next one, and would wait for it", who(rank))
        }
        Cause::Failed { rank, code } => {
            let at = Function::from_index(state_of(rank).map_or(0, |state| state.call));
            let at = at.map_or(String::new(), |function| format!(" in {}", function.name()));
            format!("{} could not go on after an error{at} (code {code})", who(rank))
        }
        Cause::Stranded { rank, missed } => {
            let waited = state_of(rank).map(|state| state.place().name()).unwrap_or_default();
            let how = match state_of(missed).map(|state| (state.exit, state.phase)) {
                Some((_, Phase::Leaving | Phase::Finalized)) => "which had called MPI_Finalize",
                None => "which had ended or called MPI_Finalize on another host",
                Some(_) => "which had ended",
            };
            format!("{} {waited}, {how}", who(rank))
        }
        Cause::AbortedFrom { pid: 0, code } => {
            format!("a process of another job called MPI_Abort with code {code}")
        }
        Cause::AbortedFrom { pid, code } => {
            format!("process {pid} of another job called MPI_Abort with code {code}")
        }
        Cause::Connected { job } => format!("ends with job {job}, to which it is connected"),
        Cause::Unwanted { job } => format!("ends because job {job}, which has spawned it, wants it no more"),
        Cause::Aborted { rank, code } => format!("{} called MPI_Abort with code {code}", who(rank)),
        Cause::Ended { rank, exit: Exit::Status(status), phase } => {
            let when = match phase {
                Phase::InSession => format!("{} before MPI_Session_finalize", in_call(rank)),
                Phase::Leaving | Phase::Running => format!("{} before MPI_Finalize", in_call(rank)),
                Phase::Finalized => " after MPI_Finalize".to_owned(),
                Phase::Outside | Phase::Aborted(_) | Phase::Failed(_) | Phase::Stranded(_) => String::new(),
            };
            format!("{} exited with status {status}{when}", who(rank))
        }
        Cause::Ended { rank, exit: Exit::Unseen, .. } => format!("{} ended before MPI_Finalize", who(rank)),
        Cause::Ended { rank, exit: Exit::Signal(signal), phase } => {
            let after = if phase == Phase::Finalized { " after MPI_Finalize" } else { "" };
            let hint = if signal == libc::SIGKILL { "; was the machine out of memory?" } else { "" };
            format!("{} was killed by {}{}{after}{hint}", who(rank), signal_name(signal), in_call(rank))
        }
        Cause::Elsewhere => "ends because the job has failed on another host".to_owned(),
        Cause::Interrupted(signal) => format!("stopped by {}", signal_name(signal)),
        Cause::NotStarted { rank, step, errno } => {
            let what = match step {
                Step::Prepare => "could not be prepared",
                Step::ChangeDir => "cannot enter its working directory",
                Step::Execute => "cannot be executed",
            };
            format!("{} {what}: {}", who(rank), io::Error::from_raw_os_error(errno))
        }
        Cause::TimeLimit(limit) => format!("time limit of {} s reached", limit.as_secs_f64()),
    }
}

/// At most `most` lines that say where the ranks other than `except` are.
fn places(states: &[RankState], except: Option<u32>, most: usize) -> Vec<String> {
    let mut groups: BTreeMap<Place, Vec<u32>> = BTreeMap::new();
    for state in states {
        if except != Some(state.rank) {
            groups.entry(state.place()).or_default().push(state.rank);
        }
    }
    let line = |(place, ranks): (&Place, &Vec<u32>)| format!("  {} {}", name_ranks(ranks), place.name());
    let mut lines: Vec<String> = groups.iter().map(line).collect();
    if lines.len() > most {
        let rest: usize = groups.values().skip(most - 1).map(Vec::len).sum();
        lines.truncate(most - 1);
        lines.push(format!("  {rest} more ranks at other places"));
    }
    lines
}

impl RankState {
    fn place(&self) -> Place {
        match (self.phase, self.exit, Function::from_index(self.call)) {
            (Phase::Aborted(_), ..) => Place::Aborted,
            (Phase::Failed(_), ..) => Place::Failed,
            (Phase::Stranded(missed), _, function) => {
                Place::Stranded(function.map_or("MPI", Function::name), missed)
            }
            (Phase::InSession | Phase::Leaving | Phase::Running | Phase::Outside, _, Some(function)) => {
                Place::Call(function.name())
            }
            (_, Some(_), _) => Place::Gone,
            (Phase::InSession | Phase::Leaving | Phase::Running, ..) => Place::Computing,
            (Phase::Finalized, ..) => Place::Finalized,
            (Phase::Outside, ..) => Place::Outside,
        }
    }
}

impl Place {
    fn name(self) -> String {
        match self {
            Self::Aborted => "called MPI_Abort".to_owned(),
            Self::Call(name) => format!("in {name}"),
            Self::Failed => "met an error".to_owned(),
            Self::Stranded(function, missed) => format!("waited in {function} for rank {missed}"),
            Self::Computing => "between MPI calls".to_owned(),
            Self::Finalized => "after MPI_Finalize".to_owned(),
            Self::Gone => "had left".to_owned(),
            Self::Outside => "outside MPI".to_owned(),
        }
    }
}

/// `rank 3`, `ranks 0-2, 5`; many separate ranges are cut.
pub fn name_ranks(ranks: &[u32]) -> String {
    const MOST_RANGES: usize = 8;
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &rank in ranks {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == rank => *last = rank,
            _ => ranges.push((rank, rank)),
        }
    }
    let range = |&(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let mut names: Vec<String> = ranges.iter().take(MOST_RANGES).map(range).collect();
    if ranges.len() > MOST_RANGES {
        names.push(format!("... ({} ranks)", ranks.len()));
    }
    format!("rank{} {}", if ranks.len() == 1 { "" } else { "s" }, names.join(", "))
}

/// The name of a signal, such as `SIGSEGV`.
pub fn signal_name(signal: i32) -> String {
    const NAMES: [(i32, &str); 17] = [
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGSYS, "SIGSYS"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGXCPU, "SIGXCPU"),
    ];
    match NAMES.iter().find(|(number, _)| *number == signal) {
        Some((_, name)) => format!("{name} (signal {signal})"),
        None => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests;
