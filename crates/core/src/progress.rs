//! The progress thread: long operations go on while the program computes.
//!
//! It is started when a long operation is under way for the first time as a call returns, and is a helper of the
//! process's gate: it comes in while it is invited. A call that has begun something long invites it, or ends a wait
//! and leaves something long behind; a call that waits dismisses it, and moves everything on itself, without a lock as
//! ever. Where nothing long is under way it is not invited, and sleeps away from the doorbell. So it takes part in no
//! more than what the program does not wait for.
//!
//! It runs nothing of the program's own: no operation (see [`Engine::poll_without_callbacks`]), no callback, no waker,
//! no error handler. What goes wrong in its hands is kept where all errors are until a call completes the operation.
//!
//! In a process with a network it is a guest for another reason, too, whatever the user has set: what a call has told
//! other nodes goes though no other call follows: see `Process::leave_complete`.
//!
//! What it costs, what was measured: `docs/decisions/33-progress-thread.md`.
//! MPI-5.0: MPI Terms and Conventions, Progress.
//!
//! Here is what it needs to know; what it does is in `aside`.
//!
//! [`Engine::poll_without_callbacks`]: oxmpi_engine::Engine::poll_without_callbacks

use std::sync::{Mutex, OnceLock};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::machine::ThreadAside;

/// Who moves operations on, as the user has set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Calls, and the thread where a processor is free and the program computes beside long operations.
    Auto,
    /// Calls alone.
    #[default]
    Poll,
    /// Calls, and the thread.
    Thread,
}

/// The thread of a process.
#[derive(Debug)]
pub(crate) struct ProgressThread<P: 'static> {
    /// Whom it works for, if it may.
    pub(crate) process: OnceLock<&'static P>,
    pub(crate) running: Mutex<Running>,
}

#[derive(Debug, Default)]
pub(crate) enum Running {
    #[default]
    No,
    /// In the process of this number: a child that was forked off does not have it.
    Yes(ThreadAside, u32),
    /// The system has refused to start it.
    Refused,
}

/// Whether the thread is worth its while: what calls note inside the gate.
#[derive(Debug)]
pub(crate) struct Absence {
    /// Calls that wait, and move everything on themselves.
    pub(crate) waiting: usize,
    /// When the program was left alone with something long, in nanoseconds; 0 if that is over.
    since: u64,
    /// The higher, the more likely it computes then; none if that does not matter.
    computes: Option<u8>,
    pub(crate) guest: Guest,
    /// When something was told and sent last; how many times it was soon after the time before.
    told_at: u64,
    burst: u32,
}

/// What the thread is invited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guest {
    /// What was told other nodes and has not gone; and long operations.
    LongAndTold,
    /// Nothing: the system has no thread for us.
    Nobody,
    /// What was told other nodes and has not gone.
    Told,
}

/// The environment variable that says who moves operations on.
pub(crate) const PROGRESS: &str = "OXMPI_PROGRESS";
/// Operations of so many bytes are long: they take some tens of microseconds, to invite the thread one or two.
pub(crate) const LONG_BYTES: u64 = 256 << 10;
/// A program that comes back so soon did not compute in between.
const SOON_NS: u64 = 50_000;
/// What is told sooner after each other belongs to a burst, of which so many go alone.
const APART_NS: u64 = 20_000;
const ALONE: u32 = 4;
/// [`Absence::computes`] at most, and from where on the thread is invited.
const SURE: u8 = 3;
const LIKELY: u8 = 2;

impl Progress {
    /// What the variable says.
    ///
    /// # Errors
    /// `Arg` if that is no way to make progress.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match text {
            "" => Ok(Self::default()),
            "auto" => Ok(Self::Auto),
            "poll" => Ok(Self::Poll),
            "thread" => Ok(Self::Thread),
            _ => {
                let text = format!("{PROGRESS} is '{text}', and should be auto, poll or thread");
                Err(Error::new(ErrorClass::Arg, text))
            }
        }
    }

    /// How many threads of so many ranks may want a processor at the same time.
    pub(crate) fn threads(self, ranks: usize) -> usize {
        match self {
            Self::Auto | Self::Poll => ranks,
            Self::Thread => 2 * ranks,
        }
    }

    /// What calls are to note, if there may be a thread at all: with `auto`, where the node has more processors than
    /// ranks and this rank may use several.
    pub(crate) fn absence(self, ranks: usize, cpus: usize, own_cpus: usize) -> Option<Absence> {
        let computes = match self {
            Self::Poll => return None,
            Self::Auto if cpus <= ranks || own_cpus < 2 => return None,
            Self::Auto => Some(LIKELY - 1),
            Self::Thread => None,
        };
        Some(Absence { computes, guest: Guest::LongAndTold, ..Absence::of_network() })
    }
}

impl<P> Default for ProgressThread<P> {
    fn default() -> Self {
        Self { process: OnceLock::new(), running: Mutex::default() }
    }
}

impl Absence {
    /// Of a process with a network, where long operations are not left to a thread.
    pub(crate) fn of_network() -> Self {
        Self { waiting: 0, since: 0, computes: None, guest: Guest::Told, told_at: 0, burst: 0 }
    }

    /// Whether the thread is to be invited when the program is left alone with something long.
    pub(crate) fn invites(&self) -> bool {
        let may_come = self.waiting == 0 && self.guest == Guest::LongAndTold;
        may_come && self.computes.is_none_or(|computes| computes >= LIKELY)
    }

    /// The same, where that is something told that has not gone.
    pub(crate) fn invites_for_told(&self) -> bool {
        self.waiting == 0 && self.guest != Guest::Nobody
    }

    /// Whether something is told now as one of many in short time. The first of these go at once, each alone.
    pub(crate) fn is_in_burst(&mut self, now: u64) -> bool {
        let is_soon = now.saturating_sub(self.told_at) < APART_NS;
        self.burst = if is_soon { self.burst.saturating_add(1) } else { 0 };
        self.told_at = now;
        self.burst >= ALONE
    }

    /// A call waits: it sends all, and what is told next may be an answer.
    pub(crate) fn end_burst(&mut self) {
        self.burst = 0;
    }

    /// What was told has been sent, which takes its time.
    pub(crate) fn note_sent(&mut self, now: u64) {
        self.told_at = now;
    }

    /// The program is left alone with something long.
    pub(crate) fn begin(&mut self, now: impl FnOnce() -> u64) {
        if self.waiting == 0 && self.computes.is_some() {
            self.since = now();
        }
    }

    /// It has come back, and must wait.
    pub(crate) fn end(&mut self, now: impl FnOnce() -> u64) {
        if let Some(computes) = &mut self.computes
            && self.since != 0
        {
            let is_soon = now().saturating_sub(self.since) < SOON_NS;
            *computes = if is_soon { computes.saturating_sub(1) } else { SURE.min(*computes + 2) };
            self.since = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_auto_a_processor_must_be_free_that_the_rank_may_use() {
        assert!(Progress::Poll.absence(1, 16, 16).is_none());
        assert!(Progress::Thread.absence(16, 2, 1).is_some());
        let auto = |ranks, cpus, own| Progress::Auto.absence(ranks, cpus, own).is_some();
        assert_eq!([auto(2, 2, 2), auto(2, 3, 1), auto(2, 3, 3), auto(1, 2, 2)], [false, false, true, true]);
    }

    #[test]
    fn with_auto_the_program_must_have_computed_beside_something_long() {
        let mut absence = Progress::Auto.absence(1, 2, 2).expect("a processor is free");
        let mut now = 1;
        let mut comes_back_after = |time| {
            absence.begin(|| now);
            let is_invited = absence.invites();
            now += time;
            absence.end(|| now);
            is_invited
        };
        let invited: Vec<bool> =
            [SOON_NS, SOON_NS, 0, 0, 0, 0, SOON_NS, SOON_NS, 0].map(&mut comes_back_after).into();
        assert_eq!(invited, [false, true, true, true, false, false, false, true, true]);
    }

    #[test]
    fn of_a_burst_the_first_go_alone() {
        let mut absence = Absence::of_network();
        let mut now = APART_NS;
        let mut is_in_burst_after = |time| {
            now += time;
            absence.is_in_burst(now)
        };
        let found: Vec<bool> = [0, 0, 0, 1, 1, APART_NS, 0].map(&mut is_in_burst_after).into();
        assert_eq!(found, [false, false, false, false, true, false, false]);
        // To send takes long; what follows is as soon all the same.
        absence.end_burst();
        absence.is_in_burst(now);
        absence.note_sent(now + 2 * APART_NS);
        assert!((0..ALONE).any(|_| absence.is_in_burst(now + 2 * APART_NS)));
    }

    #[test]
    fn ways_to_make_progress_have_names() {
        assert_eq!(Progress::parse("thread").ok(), Some(Progress::Thread));
        assert_eq!(Progress::parse("").ok(), Some(Progress::Poll));
        assert!(Progress::parse("threads").is_err_and(|error| error.text().contains("'threads'")));
    }
}
