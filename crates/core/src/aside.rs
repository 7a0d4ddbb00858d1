//! What the progress thread does, and what calls do for it.

use std::hint;
use std::process;
use std::sync::PoisonError;
use std::thread;
use std::time::Duration;

use oxmpi_engine::machine::{Posts, ThreadAside, now_ns};
use oxmpi_engine::{Binding, Standing};
use oxmpi_mem::{Entered, Helper};

use crate::policy::Silence;
use crate::process::{Process, State};
use crate::progress::{Absence, Guest, LONG_BYTES, Running};
use crate::request::RequestKey;

/// What the system calls the thread.
pub(crate) const PROGRESS_THREAD: &str = "oxmpi-progress";
/// So often the thread looks in vain before it sleeps.
const LOOKS: u32 = 200;
/// What was told and has not gone most often goes with the next call, which comes sooner than this.
const BREATH: Duration = Duration::from_millis(1);
/// Where another thread of the rank moves everything on, this one stays away for as long.
const AWAY: Duration = Duration::from_micros(200);

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
        if state.absence.as_ref().is_some_and(|absence| absence.guest == Guest::LongAndTold) {
            begun.into_iter().for_each(|key| state.note_if_long(key));
            self.leave_behind(state, false);
        }
    }

    /// Ends a call that has completed something. What it has told other nodes goes before it returns; what the network
    /// does not take then is left to the thread, for the program may not call again for long, nor wait in a call for
    /// those who wait for that. So is what is told in a burst, where each time is a call of the system.
    #[inline]
    pub(crate) fn leave_complete(&self, state: Entered<'_, State>) {
        if state.absence.is_some() {
            self.send_off(state);
        }
    }

    #[cold]
    fn send_off(&self, mut state: Entered<'_, State>) {
        let gathers = state.engine.p2p.may_gather();
        let may_invite = gathers && self.progress.process.get().is_some();
        let may_wait = may_invite && state.absence.as_ref().is_some_and(Absence::invites_for_told);
        let is_in_burst =
            state.absence.as_mut().is_some_and(|absence| may_wait && absence.is_in_burst(now_ns()));
        let is_behind = is_in_burst || state.engine.p2p.send_off();
        if gathers && !is_in_burst {
            state.absence.iter_mut().for_each(|absence| absence.note_sent(now_ns()));
        }
        self.leave_behind(state, is_behind);
    }

    /// Invites the thread if something long is under way, or something told `is_behind`, and nobody waits.
    fn leave_behind(&self, mut state: Entered<'_, State>, is_behind: bool) {
        let is_long = state.has_long();
        let Some(absence) = &mut state.absence else { return };
        if is_long {
            absence.begin(now_ns);
        }
        let invites_for_long = is_long && absence.invites();
        let invites_for_told = is_behind && absence.invites_for_told();
        if !invites_for_long && !invites_for_told {
            return;
        }
        if !invites_for_long && state.is_helper_invited() {
            return; // it looks again soon enough, and there is no reason to wake it for each message of many
        }
        if self.progress.process.get().is_none() {
            return; // this process begins, and goes on to call, or it may have no thread
        }
        if self.has_progress_thread() {
            state.invite_helper();
            self.bed.ring(); // it may sleep there
        } else if state.engine.has_fabric() {
            state.absence.iter_mut().for_each(|absence| absence.guest = Guest::Nobody);
            state.engine.p2p.send_off(); // what was to be gathered, for nobody does that
        } else {
            state.absence = None;
        }
    }

    /// Begins to wait: the caller moves everything on itself, until it [leaves](Process::leave_to_thread_again).
    #[cold]
    pub(crate) fn take_over_from_thread(state: &mut Entered<'_, State>) {
        if let Some(absence) = &mut state.absence {
            absence.end(now_ns);
            absence.end_burst();
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
        self.send_off(state);
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
        ThreadAside::spawn(PROGRESS_THREAD, body)
            .map_or(Running::Refused, |thread| Running::Yes(thread, process::id()))
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
        if helper.enter().is_some_and(|state| !state.has_long()) {
            thread::sleep(BREATH);
        }
        let (mut vain, mut polls, mut silence) = (0, None, Silence::default());
        loop {
            let Some(mut state) = helper.enter() else { return };
            if state.leaves_nothing() {
                return state.end();
            }
            let is_alone = polls.is_none_or(|polls| polls == state.engine.polls());
            let moved = is_alone && state.engine.poll_without_callbacks();
            polls = Some(state.engine.polls());
            let (now, has_long) = (now_ns(), state.has_long());
            if moved || has_long {
                silence = Silence::default();
            } else if state.engine.has_fabric() && silence.is_to_be_broken(now) {
                self.ask_after_those_told(&mut state);
            }
            let nap = self.nap(&state, &mut silence, now);
            drop(state);
            if !is_alone {
                thread::sleep(AWAY);
            } else if moved {
                vain = 0;
            } else if vain < LOOKS {
                vain += 1;
                hint::spin_loop();
            } else {
                vain = if has_long { 0 } else { LOOKS }; // who takes nothing may compute for long
                self.bed.sleep(nap, Posts::OfAnybody, || {
                    helper.enter().is_none_or(|mut state| {
                        state.engine.poll_without_callbacks() || state.leaves_nothing()
                    })
                });
                polls = None;
            }
        }
    }

    /// Asks those who take nothing of what they were told: one that is gone is waited for no longer.
    fn ask_after_those_told(&self, state: &mut State) {
        let mut absent = state.engine.absent_or_silent(self.is_world_only());
        state.engine.look_after_needed(&mut absent);
        state.engine.ask_after(&absent, false);
        state.engine.ask_no_more();
    }
}

impl State {
    /// Whether a collective of this process is to be left to the thread from its beginning, as far as the thread may
    /// run it. Whoever begins it would carry out all of it otherwise, where the other ranks are there.
    #[inline]
    pub(crate) fn leaves_to_thread(&self, binding: &Binding) -> bool {
        let invites = self.absence.as_ref().is_some_and(Absence::invites);
        invites && binding.bytes() >= LONG_BYTES && !binding.calls_back()
    }

    /// Whether something long is left to the thread.
    fn has_long(&self) -> bool {
        self.engine.p2p.board.long() != 0
    }

    /// Whether nothing is left to the thread. Where an operation is over here, its peer on another node may still wait
    /// for what was told last.
    fn leaves_nothing(&self) -> bool {
        !self.has_long() && !self.engine.p2p.is_behind()
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
