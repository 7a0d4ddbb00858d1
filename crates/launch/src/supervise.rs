//! The launcher's loop: one thread that waits for everything at once and acts on what happens.
//!
//! It sleeps while nothing happens. Ended ranks stay zombies until the very end, so that no process group can be
//! mistaken for another one.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use oxmpi_shm::Phase;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::executable::is_foreign_mpi;
use crate::feed::Feed;
use crate::guardian::Guardian;
use crate::orphans;
use crate::report::{self, ForeignMpi, RankState};
use crate::signals::Signals;
use crate::spawn::SpawnError;
use crate::status::{Cause, Exit, Verdict, judge, lost_output};
use crate::streams::Streams;

/// Time between telling ranks to end and killing them, after a failure.
const GRACE: Duration = Duration::from_millis(250);

/// The same when the user has interrupted the job: programs may want to save their work.
const INTERRUPT_GRACE: Duration = Duration::from_secs(2);

/// How long ranks may take to tell of their pending requests.
const ANSWER_TIME: Duration = Duration::from_millis(500);

/// Between looks at things that nobody tells the launcher.
const TICK: Duration = Duration::from_millis(20);
const SLOW_TICK: Duration = Duration::from_millis(200);

/// A running job.
#[derive(Debug)]
pub struct Supervisor {
    /// The launcher's name, for what it prints.
    pub launcher: &'static str,
    /// Processes by rank.
    pub ranks: Vec<Rank>,
    /// The segment the ranks share.
    pub segment: oxmpi_shm::Job,
    /// What the ranks print.
    pub streams: Streams,
    /// What they read.
    pub feed: Feed,
    /// Signals to the launcher.
    pub signals: Signals,
    /// Cleans up should the launcher be killed.
    pub guardian: Guardian,
    /// Where processes that cannot become their program write why; `None` once all have.
    pub spawn_errors: Option<OwnedFd>,
    /// The time limit, and when it is reached.
    pub time_limit: Option<(Duration, Instant)>,
    /// Time for ranks to end by themselves before they are told to, where one is missed that has left.
    pub doom_grace: Duration,
    /// When to print what every rank is doing.
    pub hang_at: Option<Instant>,
    /// How the job stands.
    pub progress: Progress,
}

/// One rank's process.
#[derive(Debug)]
pub struct Rank {
    /// The process, and its process group.
    pub pid: Pid,
    /// Becomes readable when it ends.
    pub handle: OwnedFd,
    /// Closed at the end of the job, and when the launcher dies: that kills the rank even if it is not this process
    /// but one it has started.
    pub lifeline: Option<OwnedFd>,
    /// The program, as the user named it.
    pub program: String,
    /// How it ended, if it has.
    pub exit: Option<Exit>,
}

/// How a job stands.
#[derive(Debug, Default)]
pub struct Progress {
    /// The job is being ended.
    ending: Option<Ending>,
    /// The job is to end soon, whatever its ranks do.
    doomed: Option<Doom>,
    /// The first failure that left the others running.
    spoilt: Option<Cause>,
    /// Ranks have been asked for their pending requests.
    inquiry: Option<Inquiry>,
    /// A program of the job that uses another MPI.
    foreign_mpi: Option<ForeignMpi>,
    /// How often rank 0 has printed.
    prints: u64,
}

#[derive(Debug)]
struct Ending {
    cause: Cause,
    /// What to say last.
    report: String,
    /// When to kill what is left; `None` once done.
    kill_at: Option<Instant>,
}

/// What ends the job when those who may end by themselves have, or their time is over.
#[derive(Debug)]
struct Doom {
    cause: Cause,
    /// When their time is over; `None` if it is beyond all time.
    until: Option<Instant>,
    /// Somebody has waited in vain: nobody else in the middle of things is waited for.
    is_stranded: bool,
}

#[derive(Debug)]
struct Inquiry {
    until: Instant,
    /// Why the job ends with the answers, if it does.
    ends: Option<Cause>,
}

/// What the loop waits for.
#[derive(Clone, Copy, Debug)]
enum Source {
    Exit(usize),
    Feed(usize),
    Guardian,
    Input,
    Signal,
    Sink(usize),
    SpawnError,
    Stream(usize),
}

impl Progress {
    /// A job at its beginning; `foreign_mpi` is a program known to use another MPI, if there is one.
    pub fn new(foreign_mpi: Option<ForeignMpi>) -> Self {
        Self { foreign_mpi, ..Self::default() }
    }
}

impl Supervisor {
    /// Supervises the job to its end; returns the launcher's exit status.
    pub fn run(mut self) -> u8 {
        while self.ranks.iter().any(|rank| rank.exit.is_none()) || self.is_in_grace() {
            for source in self.wait() {
                self.handle(source);
            }
            self.tick(Instant::now());
        }
        self.close()
    }

    /// Waits until something happens or a time has come.
    fn wait(&self) -> Vec<Source> {
        let mut waiting: Vec<(Source, BorrowedFd, PollFlags)> = Vec::new();
        let mut wait_for = |source, fd, flags| waiting.push((source, fd, flags));
        if let Some(errors) = &self.spawn_errors {
            wait_for(Source::SpawnError, errors.as_fd(), PollFlags::IN);
        }
        if let Some(pipe) = self.guardian.writable() {
            wait_for(Source::Guardian, pipe, PollFlags::OUT);
        }
        wait_for(Source::Signal, self.signals.as_fd(), PollFlags::IN);
        for (index, rank) in self.ranks.iter().enumerate().filter(|(_, rank)| rank.exit.is_none()) {
            wait_for(Source::Exit(index), rank.handle.as_fd(), PollFlags::IN);
        }
        self.streams.readable().for_each(|(index, fd)| wait_for(Source::Stream(index), fd, PollFlags::IN));
        self.streams.writable().for_each(|(index, fd)| wait_for(Source::Sink(index), fd, PollFlags::OUT));
        self.feed.hungry().for_each(|(index, fd)| wait_for(Source::Feed(index), fd, PollFlags::OUT));
        if self.feed.wants_input() {
            wait_for(Source::Input, rustix::stdio::stdin(), PollFlags::IN);
        }
        poll(&waiting, self.next_time())
    }

    /// When the loop must look again though nothing has happened.
    fn next_time(&self) -> Option<Instant> {
        let now = Instant::now();
        let ending = &self.progress.ending;
        let times = [
            ending.as_ref().and_then(|ending| ending.kill_at),
            self.time_limit.map(|(_, at)| at).filter(|_| ending.is_none()),
            self.hang_at,
            self.progress.inquiry.as_ref().map(|_| now + TICK),
            self.may_wait_for_absent().then(|| now + SLOW_TICK),
            self.streams.prompt_time(),
            self.is_in_grace().then(|| now + TICK),
            self.progress.doomed.as_ref().map(|_| now + TICK).filter(|_| ending.is_none()),
        ];
        times.into_iter().flatten().min()
    }

    fn handle(&mut self, source: Source) {
        match source {
            Source::Exit(rank) => self.rank_ended(rank),
            Source::Feed(reader) => self.feed.write(reader),
            // Without a guardian the job goes on: it is for the launcher's own sudden end.
            Source::Guardian => drop(self.guardian.send()),
            Source::Input => self.feed.read(),
            Source::Signal => {
                while let Some(signal) = self.signals.next() {
                    self.signalled(signal);
                }
            }
            Source::Sink(sink) => {
                if let Some(loss) = self.streams.write(sink) {
                    let text = report::loss(self.launcher, loss);
                    self.streams.say(&text);
                }
            }
            Source::SpawnError => self.read_spawn_error(),
            Source::Stream(stream) => {
                if Streams::rank(stream) == 0 {
                    self.look_for_foreign_mpi();
                }
                self.streams.read(stream);
            }
        }
    }

    /// Whether rank 0, which prints something, has loaded the library of another MPI: Python does so as it runs.
    fn look_for_foreign_mpi(&mut self) {
        self.progress.prints += 1;
        // At most 64 times, however much it prints.
        if !self.progress.prints.is_power_of_two() || self.progress.foreign_mpi.is_some() || self.has_joined()
        {
            return;
        }
        let Rank { pid, program, .. } = &self.ranks[0];
        let maps = fs::read(format!("/proc/{}/maps", pid.as_raw_nonzero())).unwrap_or_default();
        let maps = String::from_utf8_lossy(&maps);
        let mut names = maps.lines().filter_map(|line| Some(line.rsplit_once('/')?.1));
        let library = names.find(|name| is_foreign_mpi(name)).map(str::to_owned);
        self.progress.foreign_mpi = library.map(|library| ForeignMpi { program: program.clone(), library });
    }

    /// Whether any rank has initialised MPI.
    fn has_joined(&self) -> bool {
        let mut pages = (0..self.ranks.len()).map(|index| self.segment.state(index));
        pages.any(|page| page.phase() != Phase::Outside)
    }

    fn rank_ended(&mut self, index: usize) {
        self.read_spawn_error(); // written before the exit, but perhaps not seen before it
        let rank = &mut self.ranks[index];
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let Ok(Some(status)) = rustix::process::waitid(WaitId::PidFd(rank.handle.as_fd()), options) else {
            return;
        };
        let exit = match status.terminating_signal() {
            Some(signal) => Exit::Signal(signal),
            None => Exit::Status(
                status.exit_status().and_then(|status| u8::try_from(status).ok()).unwrap_or(u8::MAX),
            ),
        };
        rank.exit = Some(exit);
        let number = u32::try_from(index).expect("ranks are counted in 32 bits");
        match judge(number, exit, self.segment.state(index).phase()) {
            Verdict::Done => self.tell_gone(index),
            Verdict::Spoils(cause) => {
                self.tell_gone(index);
                self.progress.spoilt = self.progress.spoilt.or(Some(cause));
            }
            Verdict::Dooms(cause) => {
                if !matches!(cause, Cause::Stranded { .. }) {
                    self.tell_gone(index);
                }
                self.doom(cause);
            }
            Verdict::Ends(cause) => self.end(cause),
        }
    }

    /// Lets the other ranks know that one has ended, unless a process that it has started goes on in its stead.
    fn tell_gone(&self, index: usize) {
        if !self.has_deputy(index) {
            self.segment.state(index).set_gone();
            self.segment.wake_all();
        }
    }

    /// Ends the job soon. Nobody needs to wait for others in `MPI_Finalize` any more.
    fn doom(&mut self, cause: Cause) {
        (0..self.ranks.len()).for_each(|index| self.segment.state(index).release());
        self.segment.wake_all();
        let until = Instant::now().checked_add(self.doom_grace);
        let first = || Doom { cause, until, is_stranded: false };
        let doom = self.progress.doomed.get_or_insert_with(first);
        doom.is_stranded |= matches!(cause, Cause::Stranded { .. });
    }

    /// Why a doomed job ends, once there is nobody left to wait for. A rank that fails by itself tells more than one
    /// that has waited for it.
    fn fulfilled_doom(&self, now: Instant) -> Option<Cause> {
        let doom = self.progress.doomed.as_ref().filter(|_| self.progress.ending.is_none())?;
        let is_awaited = |(index, rank): (usize, &Rank)| {
            let phase = self.segment.state(index).phase();
            rank.exit.is_none() && (!doom.is_stranded || matches!(phase, Phase::Leaving | Phase::Finalized))
        };
        let is_over =
            doom.until.is_some_and(|until| until <= now) || !self.ranks.iter().enumerate().any(is_awaited);
        is_over.then(|| self.doom_cause(doom))
    }

    fn doom_cause(&self, doom: &Doom) -> Cause {
        match doom.cause {
            Cause::Stranded { .. } => self.progress.spoilt.unwrap_or(doom.cause),
            cause => cause,
        }
    }

    fn read_spawn_error(&mut self) {
        let Some(pipe) = &self.spawn_errors else { return };
        let mut bytes = [0; SpawnError::BYTES];
        match rustix::io::read(pipe, &mut bytes) {
            Ok(SpawnError::BYTES) => {
                let SpawnError { rank, step, errno } = SpawnError::from_bytes(bytes);
                self.end(Cause::NotStarted { rank, step, errno });
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            _ => self.spawn_errors = None,
        }
    }

    fn signalled(&mut self, signal: i32) {
        let forwarded = Signal::from_named_raw(signal);
        match signal {
            libc::SIGINT | libc::SIGTERM | libc::SIGHUP => self.interrupted(signal),
            libc::SIGCHLD => orphans::bury(&self.own_children()),
            libc::SIGQUIT => self.inquire(None),
            libc::SIGTSTP => {
                self.signal_groups(Signal::STOP);
                // The launcher goes on from here when its shell continues it.
                let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::STOP);
            }
            libc::SIGCONT => {
                self.signal_groups(Signal::CONT);
                self.feed.resume();
            }
            _ => forwarded.into_iter().for_each(|signal| self.signal_groups(signal)),
        }
    }

    /// Ends the job at the user's wish; at once if he wishes it twice.
    fn interrupted(&mut self, signal: i32) {
        if let Some(ending) = &mut self.progress.ending {
            ending.kill_at = Some(Instant::now());
            return;
        }
        let cause = Cause::Interrupted(signal);
        let text = report::failure(self.launcher, cause, &self.states());
        let forwarded = Signal::from_named_raw(signal).unwrap_or(Signal::TERM);
        self.end_with(cause, text, forwarded, INTERRUPT_GRACE);
    }

    /// Acts on what time has brought.
    fn tick(&mut self, now: Instant) {
        if self.hang_at.is_some_and(|at| at <= now) {
            self.hang_at = None;
            self.inquire(None);
        }
        match self.time_limit {
            Some((limit, at)) if at <= now => {
                self.time_limit = None;
                self.inquire(Some(Cause::TimeLimit(limit)));
            }
            _ => {}
        }
        self.answer_inquiry(now);
        self.streams.show_prompts(now);
        if let Some(cause) = self.absent_rank() {
            self.end(cause);
        }
        if let Some(cause) = self.fulfilled_doom(now) {
            self.end(cause);
        }
        match &mut self.progress.ending {
            Some(ending) if ending.kill_at.is_some_and(|at| at <= now) => {
                ending.kill_at = None;
                self.signal_groups(Signal::KILL);
            }
            _ => {}
        }
    }

    /// Asks the ranks for their pending requests; `ends` says why the job ends with the answers, if it does.
    fn inquire(&mut self, ends: Option<Cause>) {
        if self.progress.ending.is_some() {
            return;
        }
        self.running().for_each(|index| self.segment.state(index).ask());
        self.segment.wake_all();
        let ends = self.progress.inquiry.take().and_then(|before| before.ends).or(ends);
        self.progress.inquiry = Some(Inquiry { until: Instant::now() + ANSWER_TIME, ends });
    }

    /// Prints what the ranks have answered, once they have or their time is over.
    fn answer_inquiry(&mut self, now: Instant) {
        let Some(inquiry) = &self.progress.inquiry else { return };
        let is_answered = self.running().all(|index| self.segment.state(index).report().is_some());
        if !is_answered && now < inquiry.until {
            return;
        }
        let (states, ends) = (self.states(), inquiry.ends);
        self.progress.inquiry = None;
        match ends {
            Some(cause) => {
                let text = report::ending_inquiry(self.launcher, cause, &states);
                self.end_with(cause, text, Signal::TERM, GRACE);
            }
            None => self.streams.say(&report::inquiry(self.launcher, &states)),
        }
    }

    /// Ends the job because of `cause`.
    fn end(&mut self, cause: Cause) {
        if self.progress.ending.is_none() {
            let text = report::failure(self.launcher, cause, &self.states());
            self.end_with(cause, text, Signal::TERM, GRACE);
        }
    }

    fn end_with(&mut self, cause: Cause, report: String, signal: Signal, grace: Duration) {
        self.progress.inquiry = None;
        self.progress.ending = Some(Ending { cause, report, kill_at: Some(Instant::now() + grace) });
        self.signal_groups(signal);
        self.signal_groups(Signal::CONT); // a stopped process acts on signals only when continued
    }

    fn signal_groups(&self, signal: Signal) {
        for rank in &self.ranks {
            // It fails if all of the group are gone, which is as well.
            let _ = rustix::process::kill_process_group(rank.pid, signal);
            if signal == Signal::KILL {
                // It may have left its group.
                let _ = rustix::process::pidfd_send_signal(&rank.handle, signal);
            }
        }
    }

    /// Whether a process in MPI that is not the rank's own, but one it has started, has time left to end by itself.
    fn is_in_grace(&self) -> bool {
        let may_end = self.progress.ending.as_ref().is_some_and(|ending| ending.kill_at.is_some());
        may_end && (0..self.ranks.len()).any(|index| self.has_deputy(index))
    }

    /// Whether a process is in MPI as this rank that is not the rank's own, but one it has started.
    fn has_deputy(&self, index: usize) -> bool {
        let own = self.ranks[index].pid.as_raw_nonzero().get().cast_unsigned();
        let is_other = self.segment.owner(index).is_some_and(|owner| owner != own);
        is_other && self.segment.state(index).phase().is_in_mpi()
    }

    /// Ranks that use MPI now, whose processes live.
    fn running(&self) -> impl Iterator<Item = usize> {
        let alive = (0..self.ranks.len()).filter(|&index| self.ranks[index].exit.is_none());
        alive.filter(|&index| self.segment.state(index).phase().is_in_mpi())
    }

    /// A rank that has left without `MPI_Init`, when another one is in the world model (a session needs no others); or
    /// that has left after a program of an earlier round than that which another one is in.
    fn absent_rank(&self) -> Option<Cause> {
        let (left, present): (Vec<usize>, Vec<usize>) =
            (0..self.ranks.len()).partition(|&index| self.ranks[index].exit.is_some());
        let phase = |index: usize| self.segment.state(index).phase();
        let round = present.iter().map(|&index| self.segment.round(index)).max()?;
        let world_runs = present.iter().any(|&index| matches!(phase(index), Phase::Running | Phase::Leaving));
        left.into_iter().find_map(|index| {
            let rank = u32::try_from(index).ok()?;
            match phase(index) {
                Phase::Outside if world_runs => Some(Cause::Absent { rank, round: 0 }),
                Phase::Finalized if self.segment.round(index) < round => Some(Cause::Absent { rank, round }),
                _ => None,
            }
        })
    }

    /// Whether [`Self::absent_rank`] may come to find one.
    fn may_wait_for_absent(&self) -> bool {
        self.progress.ending.is_none() && self.ranks.iter().any(|rank| rank.exit.is_some())
    }

    fn own_children(&self) -> Vec<Pid> {
        self.ranks.iter().map(|rank| rank.pid).chain([self.guardian.pid()]).collect()
    }

    fn states(&self) -> Vec<RankState> {
        let state = |(index, rank): (usize, &Rank)| {
            let page = self.segment.state(index);
            RankState {
                pid: rank.pid.as_raw_nonzero().get(),
                program: rank.program.clone(),
                phase: page.phase(),
                call: page.call(),
                exit: rank.exit,
                pending: page.report(),
            }
        };
        self.ranks.iter().enumerate().map(state).collect()
    }

    /// All ranks have ended: removes what they left, prints the rest, says what happened.
    fn close(mut self) -> u8 {
        self.signal_groups(Signal::KILL);
        for rank in &mut self.ranks {
            drop(rank.lifeline.take());
            let _ = rustix::process::waitid(WaitId::PidFd(rank.handle.as_fd()), WaitIdOptions::EXITED);
        }
        orphans::kill(&[self.guardian.pid()]);
        self.streams.finish();
        let (cause, text) = match self.progress.ending.take() {
            Some(ending) => (Some(ending.cause), ending.report),
            None => match self.progress.spoilt {
                Some(cause) => (Some(cause), report::failure(self.launcher, cause, &self.states())),
                None => (None, String::new()),
            },
        };
        self.streams.say(&text);
        if let Some(foreign) = self.progress.foreign_mpi.take().filter(|_| !self.has_joined()) {
            self.streams.say(&report::foreign_mpi(self.launcher, &foreign));
        }
        self.guardian.dismiss();
        let status = self.flush().or(cause).map_or(0, Cause::status);
        if status == 0 { lost_output(self.streams.losses()) } else { status }
    }

    /// Writes what sinks still hold. The user can cut it short: whoever reads may never go on.
    fn flush(&mut self) -> Option<Cause> {
        loop {
            let mut waiting: Vec<(Source, BorrowedFd, PollFlags)> = self
                .streams
                .writable()
                .map(|(index, fd)| (Source::Sink(index), fd, PollFlags::OUT))
                .collect();
            if waiting.is_empty() {
                return None;
            }
            waiting.push((Source::Signal, self.signals.as_fd(), PollFlags::IN));
            for source in poll(&waiting, None) {
                match source {
                    Source::Signal => {
                        let ends =
                            |signal: &i32| [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].contains(signal);
                        if let Some(signal) = self.signals.next().filter(ends) {
                            return Some(Cause::Interrupted(signal));
                        }
                    }
                    source => self.handle(source),
                }
            }
        }
    }
}

/// Waits for descriptors, at most until `until`; returns those where something happened, in their order.
fn poll(waiting: &[(Source, BorrowedFd, PollFlags)], until: Option<Instant>) -> Vec<Source> {
    let mut fds: Vec<PollFd> =
        waiting.iter().map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
    let timeout = until.map(|at| {
        let rest = at.saturating_duration_since(Instant::now());
        Timespec::try_from(rest).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 })
    });
    // An error is an interruption, or a lack of memory: both pass.
    let _ = rustix::event::poll(&mut fds, timeout.as_ref());
    let ready = waiting.iter().zip(&fds).filter(|(_, fd)| !fd.revents().is_empty());
    ready.map(|((source, ..), _)| *source).collect()
}
