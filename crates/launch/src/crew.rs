//! One job under supervision: its processes, how it stands, and what the end of each process means for it.

use std::fs;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use oxmpi_shm::{Guest, Phase};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::birth::Origin;
use crate::executable::is_library_of_foreign_mpi;
use crate::job::Job;
use crate::report::{self, ForeignMpi, RankState};
use crate::spawn::SpawnError;
use crate::status::{Cause, Exit, Verdict, judge};

/// How long ranks may take to tell of their pending requests.
const ANSWER_TIME: Duration = Duration::from_millis(500);

/// What ranks have to end by themselves, where the user gives no other time.
const DOOM_GRACE: Duration = Duration::from_secs(1);

/// What a rank that is missed has at most, until its end is seen: its connections end before it does.
const MISSED_GRACE: Duration = Duration::from_secs(2);

/// A running job.
#[derive(Debug)]
pub struct Crew {
    /// Its number among the jobs of this launcher; the first has 1. Agents of one launcher give different numbers to
    /// what is spawned.
    pub number: u32,
    /// Who speaks of it: the launcher, and for a further job its number.
    pub speaker: String,
    /// What was asked for.
    pub job: Job,
    /// Who has asked for it.
    pub origin: Origin,
    /// Processes by rank.
    pub ranks: Vec<Rank>,
    /// The segment the ranks share.
    pub segment: oxmpi_shm::Job,
    /// Which of the launcher's streams are theirs.
    pub streams: Range<usize>,
    /// Where processes that cannot become their program write why; `None` once all have.
    pub spawn_errors: Option<OwnedFd>,
    /// All ranks of the job are here.
    pub speaks_for_all: bool,
    /// Those that are not have ended.
    pub others_have_ended: bool,
    /// Its ranks meet those on other hosts when they join, for the world model or a session.
    pub meets_others: bool,
    progress: Progress,
}

/// One rank's process.
#[derive(Debug)]
pub struct Rank {
    /// Its number in the job.
    pub number: u32,
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
    /// Until when its end is waited for, if one on another host has waited for it in vain.
    pub missed_until: Option<Instant>,
}

/// How a job stands.
#[derive(Debug, Default)]
struct Progress {
    /// The job is being ended.
    ending: Option<Ending>,
    /// The job is to end soon, whatever its ranks do.
    doomed: Option<Doom>,
    /// The first failure that left the others running.
    spoilt: Option<Cause>,
    /// For whom ranks here have waited in vain.
    missed: Vec<u32>,
    /// Ranks have been asked for their pending requests.
    inquiry: Option<Inquiry>,
    /// A program of the job that uses another MPI.
    foreign_mpi: Option<ForeignMpi>,
    /// How often rank 0 has printed.
    prints: u64,
}

#[derive(Debug)]
struct Ending {
    /// What to say last.
    report: String,
    /// When to kill what is left; `None` once done.
    kill_at: Option<Instant>,
}

/// What ends the job when those who may end by themselves have, or their time is over.
#[derive(Debug)]
struct Doom {
    cause: Cause,
    /// When their time is over; `None` if it is beyond all time, or for others to say.
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

/// How the processes of a job begin.
#[derive(Debug)]
pub enum Outset {
    /// All have become their programs.
    AllBegun,
    /// One cannot.
    Failed(SpawnError),
}

/// What ranks have answered.
#[derive(Debug)]
pub struct Answered {
    /// What they are doing.
    pub states: Vec<RankState>,
    /// Why the job ends now, if it does.
    pub ends: Option<Cause>,
}

impl Crew {
    /// A job without processes; `foreign_mpi` is a program known to use another MPI, if there is one.
    pub fn new(
        launcher: &str,
        number: u32,
        job: Job,
        origin: Origin,
        segment: oxmpi_shm::Job,
        foreign_mpi: Option<ForeignMpi>,
    ) -> Self {
        let speaker = match number {
            1 => launcher.to_owned(),
            number => format!("{launcher}: job {number}"),
        };
        let progress = Progress { foreign_mpi, ..Progress::default() };
        let (ranks, spawn_errors) = (Vec::new(), None);
        let streams = 0..0;
        Self {
            number,
            speaker,
            job,
            origin,
            ranks,
            segment,
            streams,
            spawn_errors,
            speaks_for_all: true,
            others_have_ended: false,
            meets_others: false,
            progress,
        }
    }

    /// The number that no other job has.
    pub fn id(&self) -> u64 {
        self.segment.id()
    }

    /// Whether all of it has ended.
    pub fn is_over(&self) -> bool {
        self.ranks.iter().all(|rank| rank.exit.is_some()) && !self.is_in_grace() && !self.awaits_others()
    }

    /// Whether it is to say why the job ends when those on other hosts have had their time.
    fn awaits_others(&self) -> bool {
        let is_doomed = self.progress.doomed.as_ref().is_some_and(|doom| doom.until.is_some());
        is_doomed && !self.speaks_for_all && !self.is_ending()
    }

    /// Whether it is being ended.
    pub fn is_ending(&self) -> bool {
        self.progress.ending.is_some()
    }

    /// The first failure that left the others running.
    pub fn spoilt(&self) -> Option<Cause> {
        self.progress.spoilt
    }

    /// When to kill what is left of it.
    pub fn kill_time(&self) -> Option<Instant> {
        self.progress.ending.as_ref().and_then(|ending| ending.kill_at)
    }

    /// Whether something may change in a moment of which nobody tells.
    pub fn is_restless(&self) -> bool {
        let is_doomed = self.progress.doomed.is_some() && !self.is_ending();
        self.progress.inquiry.is_some() || is_doomed || self.is_in_grace()
    }

    /// Whether [`Crew::absent_rank`] may come to find one.
    pub fn may_wait_for_absent(&self) -> bool {
        !self.is_ending() && self.ranks.iter().any(|rank| rank.exit.is_some())
    }

    /// Whether a process in MPI that is not the rank's own, but one it has started, has time left to end by itself.
    fn is_in_grace(&self) -> bool {
        self.kill_time().is_some() && (0..self.ranks.len()).any(|index| self.has_deputy(index))
    }

    /// Whether a process is in MPI as this rank that is not the rank's own, but one it has started.
    fn has_deputy(&self, index: usize) -> bool {
        let own = self.ranks[index].pid.as_raw_nonzero().get().cast_unsigned();
        let is_other = self.segment.owner(index).is_some_and(|owner| owner != own);
        is_other && self.segment.state(index).phase().is_in_mpi()
    }

    /// Rank 0 has printed: has it loaded the library of another MPI? Python does so as it runs.
    pub fn look_for_foreign_mpi(&mut self) {
        self.progress.prints += 1;
        // At most 64 times, however much it prints.
        if !self.progress.prints.is_power_of_two() || self.progress.foreign_mpi.is_some() || self.has_joined()
        {
            return;
        }
        let Some(Rank { pid, program, .. }) = self.ranks.first() else { return };
        let maps = fs::read(format!("/proc/{}/maps", pid.as_raw_nonzero())).unwrap_or_default();
        let maps = String::from_utf8_lossy(&maps);
        let mut paths: Vec<&str> = maps.lines().filter_map(|line| Some(&line[line.find('/')?..])).collect();
        paths.dedup();
        let library = paths.into_iter().map(Path::new).find(|path| is_library_of_foreign_mpi(path));
        let name = library.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        self.progress.foreign_mpi = name.map(|library| ForeignMpi { program: program.clone(), library });
    }

    /// Whether any rank has initialised MPI.
    fn has_joined(&self) -> bool {
        let mut pages = (0..self.ranks.len()).map(|index| self.segment.state(index));
        pages.any(|page| page.phase() != Phase::Outside)
    }

    /// How the processes have begun, where that is known now and was not before.
    pub fn read_spawn_error(&mut self) -> Option<Outset> {
        let pipe = self.spawn_errors.as_ref()?;
        let mut bytes = [0; SpawnError::BYTES];
        match rustix::io::read(pipe, &mut bytes) {
            Ok(SpawnError::BYTES) => Some(Outset::Failed(SpawnError::from_bytes(bytes))),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => None,
            _ => {
                self.spawn_errors = None;
                Some(Outset::AllBegun)
            }
        }
    }

    /// A rank's process may have ended; returns why the job must end now, if it must.
    pub fn rank_ended(&mut self, index: usize) -> Option<Cause> {
        let exit = self.exit(index)?;
        self.ranks[index].exit = Some(exit);
        match judge(self.ranks[index].number, exit, self.segment.state(index).phase()) {
            Verdict::Done => self.tell_gone(index),
            Verdict::Spoils(cause) => {
                self.tell_gone(index);
                self.progress.spoilt = self.progress.spoilt.or(Some(cause));
            }
            Verdict::Dooms(cause) => {
                match cause {
                    Cause::Stranded { missed, .. } => self.progress.missed.push(missed),
                    _ => self.tell_gone(index),
                }
                self.doom(cause);
            }
            Verdict::Ends(cause) => return Some(cause),
        }
        None
    }

    /// How a rank's process has ended, if it has.
    fn exit(&self, index: usize) -> Option<Exit> {
        if self.origin.is_host() {
            return Some(Exit::Unseen); // it is nobody's child
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let handle = WaitId::PidFd(self.ranks[index].handle.as_fd());
        let status = rustix::process::waitid(handle, options).ok()??;
        Some(match status.terminating_signal() {
            Some(signal) => Exit::Signal(signal),
            None => Exit::Status(
                status.exit_status().and_then(|status| u8::try_from(status).ok()).unwrap_or(u8::MAX),
            ),
        })
    }

    /// Lets the other ranks know that one has ended, unless a process that it has started goes on in its stead.
    fn tell_gone(&self, index: usize) {
        if !self.has_deputy(index) {
            self.segment.state(index).set_gone();
            self.segment.forget_sleeper(index);
            self.segment.wake_those_left();
        }
    }

    /// Whether somebody has waited in vain, if the job is to end soon.
    pub fn doomed(&self) -> Option<bool> {
        self.progress.doomed.as_ref().map(|doom| doom.is_stranded)
    }

    /// Ends the job soon, as on another host, where somebody may have waited in vain.
    pub fn doom_as_elsewhere(&mut self, is_stranded: bool) {
        self.doom(Cause::Elsewhere);
        self.progress.doomed.iter_mut().for_each(|doom| doom.is_stranded |= is_stranded);
    }

    /// For whom ranks here have waited in vain, in the order in which that was seen.
    pub fn missed(&self) -> &[u32] {
        &self.progress.missed
    }

    /// One on another host has waited in vain for this rank, which is here.
    pub fn miss(&mut self, number: u32) {
        let until = Instant::now() + MISSED_GRACE;
        if let Some(rank) = self.ranks.iter_mut().find(|rank| rank.number == number) {
            rank.missed_until.get_or_insert(until);
        }
    }

    /// Ends the job soon. Nobody needs to wait for others in `MPI_Finalize` any more.
    pub fn doom(&mut self, cause: Cause) {
        (0..self.ranks.len()).for_each(|index| self.segment.state(index).release());
        self.segment.wake_all();
        // Who has missed somebody elsewhere ends the job there, and so here.
        let grace = self.job.doom_grace.unwrap_or(DOOM_GRACE);
        let until = Instant::now().checked_add(grace).filter(|_| cause != Cause::Elsewhere);
        let first = || Doom { cause, until, is_stranded: false };
        let doom = self.progress.doomed.get_or_insert_with(first);
        doom.is_stranded |= matches!(cause, Cause::Stranded { .. });
    }

    /// Why a doomed job ends, once there is nobody left to wait for. A rank that fails by itself tells more than one
    /// that has waited for it.
    pub fn fulfilled_doom(&self, now: Instant) -> Option<Cause> {
        let doom = self.progress.doomed.as_ref().filter(|_| !self.is_ending())?;
        let is_time_over = doom.until.is_some_and(|until| until <= now);
        // Those on other nodes have their time, too.
        let is_alone = (self.speaks_for_all || self.others_have_ended) && !self.awaits_ranks(doom, now);
        (is_time_over || is_alone).then(|| self.doom_cause(doom))
    }

    /// Whether it is doomed, and nobody here is waited for.
    pub fn is_idle(&self, now: Instant) -> bool {
        let doom = self.progress.doomed.as_ref().filter(|_| !self.is_ending());
        doom.is_some_and(|doom| !self.awaits_ranks(doom, now))
    }

    /// Whether there are ranks here that may end by themselves.
    fn awaits_ranks(&self, doom: &Doom, now: Instant) -> bool {
        let is_awaited = |(index, rank): (usize, &Rank)| {
            let has_left = matches!(self.segment.state(index).phase(), Phase::Leaving | Phase::Finalized);
            let is_missed = rank.missed_until.is_some_and(|until| now < until);
            rank.exit.is_none() && (!doom.is_stranded || has_left || is_missed)
        };
        self.ranks.iter().enumerate().any(is_awaited)
    }

    fn doom_cause(&self, doom: &Doom) -> Cause {
        match doom.cause {
            Cause::Stranded { .. } => self.progress.spoilt.unwrap_or(doom.cause),
            cause => cause,
        }
    }

    /// A rank that has left without `MPI_Init`, when another one is in the world model (a session needs no others,
    /// unless joining meets all); or that has left after a program of an earlier round than that which another one is
    /// in.
    pub fn absent_rank(&self) -> Option<Cause> {
        let (left, present): (Vec<usize>, Vec<usize>) =
            (0..self.ranks.len()).partition(|&index| self.ranks[index].exit.is_some());
        let phase = |index: usize| self.segment.state(index).phase();
        let round = present.iter().map(|&index| self.segment.round(index)).max()?;
        let needs_all = |&index: &usize| match phase(index) {
            Phase::InSession => self.meets_others,
            phase => matches!(phase, Phase::Running | Phase::Leaving),
        };
        let are_all_needed = present.iter().any(needs_all);
        left.into_iter().find_map(|index| {
            let rank = self.ranks[index].number;
            match phase(index) {
                Phase::Outside if are_all_needed => Some(Cause::Absent { rank, round: 0 }),
                Phase::Finalized if self.segment.round(index) < round => Some(Cause::Absent { rank, round }),
                _ => None,
            }
        })
    }

    /// Asks the ranks for their pending requests; `ends` says why the job ends with the answers, if it does.
    pub fn inquire(&mut self, ends: Option<Cause>) {
        if self.is_ending() {
            return;
        }
        self.running().for_each(|index| self.segment.state(index).ask());
        self.segment.wake_all();
        let ends = self.progress.inquiry.take().and_then(|before| before.ends).or(ends);
        self.progress.inquiry = Some(Inquiry { until: Instant::now() + ANSWER_TIME, ends });
    }

    /// Whether the job ends when the ranks have answered what they are doing.
    pub fn ends_when_answered(&self) -> bool {
        self.progress.inquiry.as_ref().is_some_and(|inquiry| inquiry.ends.is_some())
    }

    /// What the ranks have answered, once they have or their time is over.
    pub fn answered(&mut self, now: Instant) -> Option<Answered> {
        let inquiry = self.progress.inquiry.as_ref()?;
        let is_answered = self.running().all(|index| self.segment.state(index).report().is_some());
        if !is_answered && now < inquiry.until {
            return None;
        }
        let ends = inquiry.ends;
        self.progress.inquiry = None;
        Some(Answered { states: self.states(), ends })
    }

    /// Ranks that use MPI now, whose processes live.
    fn running(&self) -> impl Iterator<Item = usize> {
        let alive = (0..self.ranks.len()).filter(|&index| self.ranks[index].exit.is_none());
        alive.filter(|&index| self.segment.state(index).phase().is_in_mpi())
    }

    /// Ends the job: `signal` now, and `SIGKILL` to what is left after `grace`. Then says `report`.
    pub fn end_with(&mut self, report: String, signal: Signal, grace: Duration) {
        self.progress.inquiry = None;
        self.progress.ending = Some(Ending { report, kill_at: Some(Instant::now() + grace) });
        self.signal(signal);
        self.signal(Signal::CONT); // a stopped process acts on signals only when continued
    }

    /// Says `report` of the end of a job that has been ended without a word.
    pub fn end_saying(&mut self, report: String) {
        let unsaid = || Ending { report: String::new(), kill_at: None };
        self.progress.ending.get_or_insert_with(unsaid).report = report;
    }

    /// Leaves a job that is being ended no more time.
    pub fn hurry(&mut self) {
        if let Some(ending) = &mut self.progress.ending {
            ending.kill_at = Some(Instant::now());
        }
    }

    /// Kills what is left when its time is over.
    pub fn kill_if_due(&mut self, now: Instant) {
        if let Some(ending) = &mut self.progress.ending
            && ending.kill_at.is_some_and(|at| at <= now)
        {
            ending.kill_at = None;
            self.signal(Signal::KILL);
        }
    }

    /// Sends a signal to all processes of the job.
    pub fn signal(&self, signal: Signal) {
        for rank in &self.ranks {
            // They fail if all are gone, which is as well.
            if !self.origin.is_host() {
                let _ = rustix::process::kill_process_group(rank.pid, signal);
            }
            if signal == Signal::KILL || self.origin.is_host() {
                // It may have left its group.
                let _ = rustix::process::pidfd_send_signal(&rank.handle, signal);
            }
        }
    }

    /// All ranks have ended: kills what they have left in their groups, and buries them. `before` hears of each group
    /// before its number may become that of another one.
    pub fn bury(&mut self, mut before: impl FnMut(Pid)) {
        if self.origin.is_host() {
            return; // it is nobody's child, and may go on without MPI
        }
        self.signal(Signal::KILL);
        for rank in &mut self.ranks {
            drop(rank.lifeline.take());
            before(rank.pid);
            let _ = rustix::process::waitid(WaitId::PidFd(rank.handle.as_fd()), WaitIdOptions::EXITED);
        }
    }

    /// Gives its memory back, for the next job that the launcher makes.
    pub fn give_up(self) {
        // Where the system refuses, it stays.
        let _ = Guest::of(self.segment).retire();
    }

    /// What is to be said of the job at last.
    pub fn last_words(&mut self, launcher: &str) -> String {
        let mut text = match (self.progress.ending.take(), self.progress.spoilt) {
            (Some(ending), _) => ending.report,
            // Who has asked for the job is told that.
            (None, Some(cause)) if !self.origin.is_watched() => {
                report::failure(&self.speaker, cause, &self.states())
            }
            (None, _) => String::new(),
        };
        if let Some(foreign) = self.progress.foreign_mpi.take().filter(|_| !self.has_joined()) {
            text += &report::foreign_mpi(launcher, &foreign);
        }
        text
    }

    /// What those are to hear who have waited in vain on another host: which rank has failed here, and left the others
    /// running.
    pub fn words_for_stranded(&self) -> String {
        let is_part = !self.speaks_for_all && self.doomed() == Some(true);
        let cause = self.spoilt().filter(|_| is_part);
        cause.map_or(String::new(), |cause| report::failure(&self.speaker, cause, &self.states()))
    }

    /// What every rank is doing.
    pub fn states(&self) -> Vec<RankState> {
        let state = |(index, rank): (usize, &Rank)| {
            let page = self.segment.state(index);
            RankState {
                rank: rank.number,
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
}
