//! The progress thread: long operations go on while the program computes.
//!
//! It is started when a long operation is under way for the first time as a call returns, and is a helper of the
//! process's gate: it comes in while it is invited. A call that has begun something long invites it, or ends a wait
//! and leaves something long behind; a call that waits dismisses it, and moves everything on itself, without a lock as
//! ever. Where nothing long is under way it is not invited, and sleeps away from the doorbell. So it takes part in no
//! more than what the program does not wait for.
//!
//! It runs nothing of the program's own: no operation (see [`Engine::poll_without_callbacks`]), no callback, no waker, no
//! error handler. What goes wrong in its hands is kept where all errors are until a call completes the operation.
//!
//! What it costs, what was measured: `docs/decisions/33-progress-thread.md`.
//! MPI-5.0: MPI Terms and Conventions, Progress.
//!
//! [`Engine::poll_without_callbacks`]: oxmpi_engine::Engine::poll_without_callbacks

use std::hint;
use std::process;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::machine::{Posts, ThreadAside, now_ns};
use oxmpi_engine::{Binding, Standing};
use oxmpi_mem::{Entered, Helper};

use crate::process::{Process, State};
use crate::request::RequestKey;

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
#[derive(Default)]
pub(crate) struct ProgressThread {
    /// Whom it works for, if it may.
    process: OnceLock<&'static Process>,
    running: Mutex<Running>,
}

#[derive(Default)]
enum Running {
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
    waiting: usize,
    /// When the program was left alone with something long, in nanoseconds; 0 if that is over.
    since: u64,
    /// The higher, the more likely it computes then; none if that does not matter.
    computes: Option<u8>,
}

/// The environment variable that says who moves operations on.
pub(crate) const PROGRESS: &str = "OXMPI_PROGRESS";
/// What the system calls the thread.
const NAME: &str = "oxmpi-progress";
/// Operations of so many bytes are long: they take some tens of microseconds, to invite the thread one or two.
pub(crate) const LONG_BYTES: u64 = 256 << 10;
/// A program that comes back so soon did not compute in between.
const SOON_NS: u64 = 50_000;
/// [`Absence::computes`] at most, and from where on the thread is invited.
const SURE: u8 = 3;
const LIKELY: u8 = 2;
/// So often the thread looks in vain before it sleeps.
const LOOKS: u32 = 200;
/// Where another thread of the rank moves everything on, this one stays away for as long.
const AWAY: Duration = Duration::from_micros(200);

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
        Some(Absence { waiting: 0, since: 0, computes })
    }
}

impl Absence {
    /// Whether the thread is to be invited when the program is left alone with something long.
    fn invites(&self) -> bool {
        self.waiting == 0 && self.computes.is_none_or(|computes| computes >= LIKELY)
    }

    /// The program is left alone with something long.
    fn begin(&mut self, now: impl FnOnce() -> u64) {
        if self.waiting == 0 && self.computes.is_some() {
            self.since = now();
        }
    }

    /// It has come back, and must wait.
    fn end(&mut self, now: impl FnOnce() -> u64) {
        if let Some(computes) = &mut self.computes
            && self.since != 0
        {
            let is_soon = now().saturating_sub(self.since) < SOON_NS;
            *computes = if is_soon { computes.saturating_sub(1) } else { SURE.min(*computes + 2) };
            self.since = 0;
        }
    }
}

impl Process {
    /// Lets this process have a progress thread, if the user wishes one.
    pub fn may_have_progress_thread(&'static self) {
        let _ = self.progress.process.set(self); // it is known already, or is now
    }

    /// Ends a call that has begun these operations.
    #[inline]
    pub(crate) fn leave_to_thread(
        &self,
        state: Entered<'_, State>,
        begun: impl IntoIterator<Item = RequestKey>,
    ) {
        if state.absence.is_some() {
            self.leave_all_to_thread(state, begun);
        }
    }

    #[cold]
    fn leave_all_to_thread(
        &self,
        mut state: Entered<'_, State>,
        begun: impl IntoIterator<Item = RequestKey>,
    ) {
        begun.into_iter().for_each(|key| state.note_if_long(key));
        self.leave_long_behind(state);
    }

    /// Invites the thread if something long is under way, and nobody waits.
    fn leave_long_behind(&self, mut state: Entered<'_, State>) {
        if state.engine.p2p.board.long() == 0 {
            return;
        }
        let Some(absence) = &mut state.absence else { return };
        absence.begin(now_ns);
        if !absence.invites() {
            return;
        }
        if self.has_progress_thread() {
            state.invite_helper();
            self.bed.ring(); // it may sleep there
        } else {
            state.absence = None;
        }
    }

    /// Begins to wait: the caller moves everything on itself, until it [leaves](Process::leave_to_thread_again).
    #[cold]
    pub(crate) fn take_over_from_thread(state: &mut Entered<'_, State>) {
        if let Some(absence) = &mut state.absence {
            absence.end(now_ns);
            absence.waiting += 1;
        }
        state.dismiss_helper();
    }

    /// Ends a wait.
    #[cold]
    pub(crate) fn leave_to_thread_again(&self) {
        let mut state = self.enter();
        if let Some(absence) = &mut state.absence {
            absence.waiting = absence.waiting.saturating_sub(1);
        }
        self.leave_long_behind(state);
    }

    /// Whether the thread runs, which is started now if it does not.
    fn has_progress_thread(&self) -> bool {
        let Some(process) = self.progress.process.get() else { return false };
        let mut running = self.progress.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Running::No = *running {
            *running = process.start_progress_thread();
        }
        match &mut *running {
            Running::Yes(thread, _) => {
                thread.leave_this_processor();
                true
            }
            Running::No | Running::Refused => false,
        }
    }

    fn start_progress_thread(&'static self) -> Running {
        let Some(helper) = self.helper() else { return Running::Refused };
        let body = move || {
            let fuse = AbortOnUnwind;
            while helper.wait() {
                self.help(&helper);
            }
            std::mem::forget(fuse);
        };
        ThreadAside::spawn(NAME, body).map_or(Running::Refused, |thread| Running::Yes(thread, process::id()))
    }

    /// Ends the thread, if there is one.
    pub(crate) fn end_progress_thread(&self) {
        let mut running = self.progress.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Running::Yes(thread, of) = std::mem::take(&mut *running)
            && of == process::id()
        {
            self.end_helper();
            self.bed.ring();
            thread.join().expect("a thread that panics ends the process");
        }
    }

    /// What the thread does while it is invited.
    fn help(&self, helper: &Helper<'_, State>) {
        let (mut vain, mut polls) = (0, None);
        loop {
            let Some(mut state) = helper.enter() else { return };
            if state.engine.p2p.board.long() == 0 {
                return state.end();
            }
            let is_alone = polls.is_none_or(|polls| polls == state.engine.polls());
            let moved = is_alone && state.engine.poll_without_callbacks();
            polls = Some(state.engine.polls());
            let knows_other_jobs = state.engine.knows_other_jobs();
            drop(state);
            if !is_alone {
                thread::sleep(AWAY);
            } else if moved {
                vain = 0;
            } else if vain < LOOKS {
                vain += 1;
                hint::spin_loop();
            } else {
                vain = 0;
                self.bed.sleep(self.policy.nap(knows_other_jobs), Posts::OfAnybody, || {
                    helper.enter().is_none_or(|mut state| {
                        state.engine.poll_without_callbacks() || state.engine.p2p.board.long() == 0
                    })
                });
                polls = None;
            }
        }
    }
}

impl State {
    /// Whether a collective of this process is to be left to the thread from its beginning, as far as the thread may run
    /// it. Whoever begins it would carry out all of it otherwise, where the other ranks are there.
    #[inline]
    pub(crate) fn leaves_to_thread(&self, binding: &Binding) -> bool {
        let invites = self.absence.as_ref().is_some_and(Absence::invites);
        invites && binding.bytes() >= LONG_BYTES && !binding.calls_back()
    }

    /// Notes that a request is one of a long operation, if it is and is under way.
    fn note_if_long(&mut self, key: RequestKey) {
        let is_under_way = matches!(self.engine.p2p.board.standing(key), Some(Standing::UnderWay(_)));
        if is_under_way && self.bytes_of(key) >= LONG_BYTES {
            self.engine.p2p.board.note_long(key);
        }
    }
}

/// A panic is a defect of the library: nobody would hear of it.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        process::abort();
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
    fn ways_to_make_progress_have_names() {
        assert_eq!(Progress::parse("thread").ok(), Some(Progress::Thread));
        assert_eq!(Progress::parse("").ok(), Some(Progress::Poll));
        assert!(Progress::parse("threads").is_err_and(|error| error.text().contains("'threads'")));
    }
}
