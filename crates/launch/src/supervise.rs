//! The launcher's loop: one thread that waits for everything at once and acts on what happens.
//!
//! It sleeps while nothing happens. Ended ranks stay zombies until their job has ended, so that no process group can be
//! mistaken for another one.

use std::iter::StepBy;
use std::ops::{ControlFlow, RangeFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use oxmpi_broker::{Host, Interest, Server, Token, Tree};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Rlimit, Signal};

use crate::crew::{Crew, Outset};
use crate::feed::Feed;
use crate::guardian::Guardian;
use crate::part::FIRST_SPAWNED;
use crate::signals::Signals;
use crate::spawn::SpawnError;
use crate::start::Site;
use crate::status::{Cause, lost_output};
use crate::streams::Streams;
use crate::uplink::Uplink;
use crate::{orphans, report, ties};

/// Time between telling ranks to end and killing them, after a failure.
pub const GRACE: Duration = Duration::from_millis(250);

/// The same when the user has interrupted the job: programs may want to save their work.
pub const INTERRUPT_GRACE: Duration = Duration::from_secs(2);

/// Between looks at things that nobody tells the launcher.
const TICK: Duration = Duration::from_millis(20);
const SLOW_TICK: Duration = Duration::from_millis(200);

/// All that runs under this launcher.
#[derive(Debug)]
pub struct Supervisor {
    /// The jobs that have not ended, the oldest first.
    pub crews: Vec<Crew>,
    /// Those that have ended and failed, which only who has asked for them is told, and may not listen to.
    pub unheard: Vec<Crew>,
    /// What they share.
    pub shared: Shared,
    /// Where they run.
    pub site: Site,
    /// The brokers of all jobs.
    pub server: Server,
    /// The process that the launcher serves, if it does so and that wants it.
    pub host: Option<Host>,
    /// Of an agent, its connection with the launcher.
    pub uplink: Option<Uplink>,
    /// Of an agent, what its jobs share with those on other hosts.
    pub tree: Option<Tree>,
    /// The numbers of the jobs that will be spawned.
    pub numbers: StepBy<RangeFrom<u32>>,
    /// The time limit, and when it is reached.
    pub time_limit: Option<(Duration, Instant)>,
    /// When to print what every rank is doing.
    pub hang_at: Option<Instant>,
    /// What has gone wrong first.
    pub outcome: Outcome,
}

/// What all jobs of a launcher share.
#[derive(Debug)]
pub struct Shared {
    /// The launcher's name, for what it prints.
    pub launcher: &'static str,
    /// What the ranks print.
    pub streams: Streams,
    /// What they read.
    pub feed: Feed,
    /// Signals to the launcher.
    pub signals: Signals,
    /// Cleans up should the launcher be killed.
    pub guardian: Guardian,
    /// The limit of open files that ranks shall have.
    pub open_files: Rlimit,
    /// The time limit, and when it is reached, for who reads what has been printed.
    pub reading_limit: Option<(Duration, Instant)>,
}

/// What has gone wrong first.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What has ended a job.
    pub failure: Option<Cause>,
    /// What has left its job running.
    pub spoilt: Option<Cause>,
}

/// What the loop waits for.
#[derive(Clone, Copy, Debug)]
enum Source {
    Broker(Token),
    /// A rank of a job, both by index.
    Exit(usize, usize),
    Feed(usize),
    Guardian,
    Host,
    Input,
    Signal,
    Sink(usize),
    /// Of a job by index.
    SpawnError(usize),
    Stream(usize),
    Uplink,
}

impl Outcome {
    /// What has ended a job first.
    pub fn failure(&self) -> Option<Cause> {
        self.failure
    }

    /// Whose status counts.
    fn cause(&self) -> Option<Cause> {
        match self.failure {
            Some(failure) if failure.is_last_resort() => self.spoilt.or(self.failure),
            failure => failure.or(self.spoilt),
        }
    }
}

impl Supervisor {
    /// Nothing runs yet.
    pub fn new(shared: Shared, site: Site) -> Self {
        Self {
            crews: Vec::new(),
            unheard: Vec::new(),
            shared,
            site,
            server: Server::default(),
            host: None,
            uplink: None,
            tree: None,
            numbers: (FIRST_SPAWNED..).step_by(1),
            time_limit: None,
            hang_at: None,
            outcome: Outcome::default(),
        }
    }

    /// Supervises all jobs to their end; returns the launcher's exit status.
    pub fn run(mut self) -> u8 {
        while !self.crews.iter().all(Crew::is_over) {
            for source in self.wait() {
                self.handle(source);
            }
            self.tick(Instant::now());
            self.part_with_ended();
        }
        self.close()
    }

    /// Waits until something happens or a time has come.
    fn wait(&self) -> Vec<Source> {
        let mut waiting: Vec<(Source, BorrowedFd, PollFlags)> = Vec::new();
        let mut wait_for = |source, fd, flags| waiting.push((source, fd, flags));
        let Shared { streams, feed, signals, guardian, .. } = &self.shared;
        // Before ends: what a process has asked, or given up, came before its end and before that of whom it has told.
        for (token, fd, interest) in self.server.sources() {
            let flags = match interest {
                Interest::Read => PollFlags::IN,
                Interest::ReadAndWrite => PollFlags::IN | PollFlags::OUT,
            };
            wait_for(Source::Broker(token), fd, flags);
        }
        for (index, crew) in self.crews.iter().enumerate() {
            if let Some(errors) = &crew.spawn_errors {
                wait_for(Source::SpawnError(index), errors.as_fd(), PollFlags::IN);
            }
        }
        if let Some(pipe) = guardian.writable() {
            wait_for(Source::Guardian, pipe, PollFlags::OUT);
        }
        wait_for(Source::Signal, signals.as_fd(), PollFlags::IN);
        for (index, crew) in self.crews.iter().enumerate() {
            let alive = crew.ranks.iter().enumerate().filter(|(_, rank)| rank.exit.is_none());
            alive.for_each(|(rank, process)| {
                wait_for(Source::Exit(index, rank), process.handle.as_fd(), PollFlags::IN);
            });
        }
        streams.readable().for_each(|(index, fd)| wait_for(Source::Stream(index), fd, PollFlags::IN));
        streams.writable().for_each(|(index, fd)| wait_for(Source::Sink(index), fd, PollFlags::OUT));
        feed.hungry().for_each(|(index, fd)| wait_for(Source::Feed(index), fd, PollFlags::OUT));
        if feed.wants_input() {
            wait_for(Source::Input, rustix::stdio::stdin(), PollFlags::IN);
        }
        if let Some(host) = &self.host {
            wait_for(Source::Host, host.as_fd(), PollFlags::IN);
        }
        if let Some(uplink) = &self.uplink {
            wait_for(Source::Uplink, uplink.as_fd(), uplink.wanted());
        }
        poll(&waiting, self.next_time())
    }

    /// When the loop must look again though nothing has happened.
    fn next_time(&self) -> Option<Instant> {
        let now = Instant::now();
        let any = |is_so: fn(&Crew) -> bool| self.crews.iter().any(is_so);
        let times = [
            self.crews.iter().filter_map(Crew::kill_time).min(),
            self.time_limit.map(|(_, at)| at).filter(|_| any(|crew| !crew.is_ending())),
            self.hang_at,
            self.uplink.as_ref().map(Uplink::next_time),
            self.shared.streams.prompt_time(),
            any(Crew::may_wait_for_absent).then(|| now + SLOW_TICK),
            any(Crew::is_restless).then(|| now + TICK),
        ];
        times.into_iter().flatten().min()
    }

    fn handle(&mut self, source: Source) {
        let Shared { streams, feed, guardian, .. } = &mut self.shared;
        match source {
            Source::Broker(token) => {
                self.server.handle(token).into_iter().for_each(|event| self.asked(event));
            }
            Source::Exit(crew, rank) => self.rank_ended(crew, rank),
            Source::Feed(reader) => feed.write(reader),
            // Without a guardian the job goes on: it is for the launcher's own sudden end.
            Source::Guardian => drop(guardian.send()),
            Source::Host => self.hear_host(),
            Source::Input => feed.read(),
            Source::Signal => {
                while let Some(signal) = self.shared.signals.next() {
                    self.signalled(signal);
                }
            }
            Source::Sink(sink) => {
                self.shared.write(sink);
            }
            Source::SpawnError(crew) => self.read_spawn_error(crew),
            Source::Stream(stream) => {
                // That of the first rank of all.
                if Streams::rank(stream) == 0
                    && let Some(first) = self.crews.first_mut().filter(|crew| crew.number == 1)
                {
                    first.look_for_foreign_mpi();
                }
                streams.read(stream);
            }
            Source::Uplink => self.hear_uplink(),
        }
    }

    pub fn rank_ended(&mut self, index: usize, rank: usize) {
        self.read_spawn_error(index); // written before the exit, but perhaps not seen before it
        let spoilt = self.crews[index].spoilt();
        if let Some(cause) = self.crews[index].rank_ended(rank) {
            self.end(index, cause);
        } else if spoilt.is_none()
            && let Some(cause) = self.crews[index].spoilt()
        {
            self.note_spoilt(index, cause);
        }
        // Ranks of other jobs may have waited for it.
        let others = self.crews.iter().enumerate().filter(|(other, _)| *other != index);
        others.for_each(|(_, crew)| crew.segment.wake_all());
    }

    pub fn read_spawn_error(&mut self, index: usize) {
        match self.crews[index].read_spawn_error() {
            None => {}
            Some(Outset::AllBegun) => self.tell_begun(index),
            Some(Outset::Failed(SpawnError { rank, step, errno })) => {
                self.end(index, Cause::NotStarted { rank, step, errno });
            }
        }
    }

    fn signalled(&mut self, signal: i32) {
        match signal {
            libc::SIGINT | libc::SIGTERM | libc::SIGHUP => self.interrupted(signal),
            libc::SIGCHLD => orphans::bury(&self.own_children()),
            libc::SIGQUIT => self.inquire(None),
            libc::SIGTSTP => {
                self.signal(Signal::STOP);
                stop();
            }
            libc::SIGCONT => {
                self.signal(Signal::CONT);
                self.shared.feed.resume();
            }
            _ => Signal::from_named_raw(signal).into_iter().for_each(|signal| self.signal(signal)),
        }
    }

    /// Passes a signal on to all jobs.
    pub fn signal(&self, signal: Signal) {
        self.crews.iter().filter(|crew| !crew.origin.is_host()).for_each(|crew| crew.signal(signal));
    }

    /// Ends all jobs at the user's wish; at once if he wishes it twice.
    fn interrupted(&mut self, signal: i32) {
        let cause = Cause::Interrupted(signal);
        let forwarded = Signal::from_named_raw(signal).unwrap_or(Signal::TERM);
        for crew in &mut self.crews {
            if crew.is_ending() {
                crew.hurry();
            } else {
                let text = report::failure(&crew.speaker, cause, &crew.states());
                crew.end_with(text, forwarded, INTERRUPT_GRACE);
            }
        }
        self.outcome.failure.get_or_insert(cause);
    }

    /// Acts on what time has brought.
    fn tick(&mut self, now: Instant) {
        if self.hang_at.is_some_and(|at| at <= now) {
            self.hang_at = None;
            self.inquire(None);
        }
        if let Some((limit, _)) = self.time_limit.take_if(|(_, at)| *at <= now) {
            self.inquire(Some(Cause::TimeLimit(limit)));
        }
        self.shared.streams.show_prompts(now);
        for index in 0..self.crews.len() {
            self.take_answers(index, now);
            if let Some(cause) = self.crews[index].absent_rank() {
                self.end(index, cause);
            }
            if let Some(cause) = self.crews[index].fulfilled_doom(now) {
                self.end(index, cause);
            }
            self.crews[index].kill_if_due(now);
        }
        self.beat(now);
    }

    /// Asks all ranks for their pending requests; `ends` says why all jobs end with the answers, if they do.
    pub fn inquire(&mut self, ends: Option<Cause>) {
        self.crews.iter_mut().for_each(|crew| crew.inquire(ends));
    }

    /// Prints what the ranks of a job have answered.
    fn take_answers(&mut self, index: usize, now: Instant) {
        let crew = &mut self.crews[index];
        let Some(answered) = crew.answered(now) else { return };
        match answered.ends {
            Some(cause) => {
                let text = report::ending_inquiry(&crew.speaker, cause, &answered.states);
                crew.end_with(text, Signal::TERM, GRACE);
                self.outcome.failure.get_or_insert(cause);
                self.end_connected(index); // what it has spawned while it was asked
            }
            None => self.shared.streams.say(&report::inquiry(&crew.speaker, &answered.states)),
        }
    }

    /// Ends a job because of `cause`, and the jobs that are connected with it.
    pub fn end(&mut self, index: usize, cause: Cause) {
        let crew = &mut self.crews[index];
        if crew.is_ending() {
            return;
        }
        let states = crew.states();
        if let Some(birth) = crew.origin.birth_mut().filter(|birth| birth.client.is_some()) {
            // Who has asked for it is told, and nobody else: it may go on without.
            birth.failure = Some(report::describe(cause, &states));
            birth.unsaid = Some((cause, report::failure(&crew.speaker, cause, &states)));
            crew.end_with(String::new(), Signal::TERM, GRACE);
            return;
        }
        let is_told = !crew.origin.is_host(); // who has started that sees its end by himself
        let text = if is_told { report::failure(&crew.speaker, cause, &states) } else { String::new() };
        crew.end_with(text, Signal::TERM, GRACE);
        self.note(index, |outcome| &mut outcome.failure, cause);
        self.end_connected(index);
    }

    /// Ends the jobs that are connected with one that has failed.
    pub fn end_connected(&mut self, failed: usize) {
        let number = self.crews[failed].number;
        for index in ties::ended_with(&self.crews, failed) {
            self.end_aside(index, Cause::Connected { job: number });
        }
    }

    /// Ends a job that has not failed itself.
    pub fn end_aside(&mut self, index: usize, cause: Cause) {
        let crew = &mut self.crews[index];
        if crew.is_ending() {
            return;
        }
        let speaker = format!("{}: job {}", self.shared.launcher, crew.number);
        let text = report::failure(&speaker, cause, &crew.states());
        let text = if crew.origin.is_host() { String::new() } else { text };
        crew.end_with(text, Signal::TERM, GRACE);
    }

    /// Notes what is wrong with a job, unless something was before, or it is a matter of who has asked for the job.
    pub fn note(&mut self, index: usize, place: fn(&mut Outcome) -> &mut Option<Cause>, cause: Cause) {
        if !self.crews[index].origin.is_watched() {
            place(&mut self.outcome).get_or_insert(cause);
        }
    }

    /// The same of what has left its job running. When a job has been ended it tells nothing any more: ranks that have
    /// left MPI are ended with it.
    pub fn note_spoilt(&mut self, index: usize, cause: Cause) {
        if self.outcome.failure.is_none() {
            self.note(index, |outcome| &mut outcome.spoilt, cause);
        }
    }

    fn own_children(&self) -> Vec<Pid> {
        let ranks = self.crews.iter().flat_map(|crew| &crew.ranks);
        ranks.map(|rank| rank.pid).chain([self.shared.guardian.pid()]).collect()
    }

    /// Parts with jobs that have ended while others go on.
    fn part_with_ended(&mut self) {
        if self.crews.iter().all(Crew::is_over) {
            return; // that is the end of all
        }
        while let Some(index) = self.crews.iter().position(Crew::is_over) {
            let Shared { launcher, streams, guardian, .. } = &mut self.shared;
            let crew = &mut self.crews[index];
            crew.bury(|group| guardian.forget(group));
            streams.finish(crew.streams.clone());
            streams.say(&crew.last_words(launcher));
            self.tell_end(index);
            let crew = self.crews.remove(index);
            self.part_with(crew);
        }
    }

    /// All have ended: removes what they left, prints the rest, says what happened.
    fn close(mut self) -> u8 {
        self.crews.iter_mut().for_each(|crew| crew.bury(|_| {}));
        orphans::kill(&[self.shared.guardian.pid()]);
        let streams = &mut self.shared.streams;
        self.crews.iter().for_each(|crew| streams.finish(crew.streams.clone()));
        for mut crew in self.crews.drain(..) {
            streams.say(&crew.last_words(self.shared.launcher));
        }
        self.shared.guardian.dismiss();
        let cut_short = self.flush();
        let cause = cut_short.or(self.outcome.cause());
        let status = match cause.map_or(0, Cause::status) {
            0 => lost_output(self.shared.streams.losses()),
            status => status,
        };
        if let Some(uplink) = self.uplink.take() {
            uplink.close(status, cause.is_some_and(Cause::is_last_resort));
        }
        status
    }

    /// Writes what sinks still hold; why it has been cut short, if it has. An agent is there for the launcher
    /// meanwhile, however long that takes to read; when it has gone nobody reads any more.
    fn flush(&mut self) -> Option<Cause> {
        if self.uplink.is_none() {
            return self.shared.flush();
        }
        while let Some(uplink) = &self.uplink {
            let (beside, until) = ((uplink.as_fd(), uplink.wanted()), uplink.next_time());
            if let ControlFlow::Break(signal) = self.shared.flush_some(Some(beside), Some(until)) {
                return signal.map(Cause::Interrupted);
            }
            self.hear_uplink();
            self.beat(Instant::now());
        }
        None
    }
}

impl Shared {
    /// Writes some of what a sink holds.
    pub fn write(&mut self, sink: usize) {
        if let Some(loss) = self.streams.write(sink) {
            let text = report::loss(self.launcher, loss);
            self.streams.say(&text);
        }
    }

    /// Writes what sinks still hold; why it has been cut short, if it has: whoever reads may never go on. By the time
    /// limit it is, too, but what is said of that, when it has ended the job, is to be read.
    pub fn flush(&mut self) -> Option<Cause> {
        let end = self.reading_limit.map(|(limit, at)| (limit, at.max(Instant::now() + INTERRUPT_GRACE)));
        loop {
            if let ControlFlow::Break(signal) = self.flush_some(None, end.map(|(_, at)| at)) {
                return signal.map(Cause::Interrupted);
            }
            if let Some((limit, at)) = end
                && at <= Instant::now()
                && self.streams.writable().next().is_some()
            {
                self.streams.discard();
                self.streams.say(&report::unread(self.launcher, limit));
                // Who does not read the output may read the errors.
                let _ = self.flush_some(None, Some(at));
                return Some(Cause::TimeLimit(limit));
            }
        }
    }

    /// Writes some of it, or waits until something happens `beside`, or a time has come. Breaks when all is written,
    /// and where the user cuts it short.
    pub fn flush_some(
        &mut self,
        beside: Option<(BorrowedFd, PollFlags)>,
        until: Option<Instant>,
    ) -> ControlFlow<Option<i32>> {
        let Self { streams, signals, .. } = &*self;
        let mut waiting: Vec<(Option<usize>, BorrowedFd, PollFlags)> =
            streams.writable().map(|(index, fd)| (Some(index), fd, PollFlags::OUT)).collect();
        if waiting.is_empty() {
            return ControlFlow::Break(None);
        }
        waiting.push((None, signals.as_fd(), PollFlags::IN));
        waiting.extend(beside.map(|(fd, wanted)| (None, fd, wanted)));
        let ready = poll(&waiting, until);
        ready.into_iter().flatten().for_each(|sink| self.write(sink));
        match self.signals.next() {
            Some(signal @ (libc::SIGINT | libc::SIGTERM | libc::SIGHUP)) => {
                return ControlFlow::Break(Some(signal));
            }
            Some(libc::SIGTSTP) => stop(),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Stops the launcher, which goes on from here when its shell continues it.
fn stop() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::STOP);
}

/// Waits for descriptors, at most until `until`; returns those where something happened, in their order.
pub fn poll<S: Copy>(waiting: &[(S, BorrowedFd, PollFlags)], until: Option<Instant>) -> Vec<S> {
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
