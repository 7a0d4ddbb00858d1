//! Who begins to use a process, who ends, and how it leaves the job.
//!
//! It is in use while the world model runs or a session is open. When the last of them ends, the process completes
//! what it has under way and rests; a later session takes it up as it is. See `docs/decisions/12-sessions.md`.
//!
//! Who finalises says that he is leaving as soon as he has told all that he will ever tell. A rank that waits and
//! sees that someone has left without whom the wait can never end, ends the job: see `wait`.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The World Model; The Sessions Model; Finalizing MPI.

use std::time::{Duration, Instant};
use std::{mem, thread};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::Absent;
use oxmpi_engine::machine::{Phase, at_exit};

use crate::coll::barrier::barrier_by_messages;
use crate::process::{Process, State};
use crate::users::Counts;
use crate::wait::Needing;

impl Process {
    /// Whether the world model runs or a session is open.
    #[inline]
    pub fn is_in_use(&self) -> bool {
        self.users.are_there()
    }

    /// The world model begins.
    pub fn begin_world(&self) {
        let mut counts = self.users.counts();
        counts.world = true;
        self.show_users(&counts);
    }

    /// Completes the communication of the world model, with all ranks. It runs until [`Process::end_world`].
    ///
    /// # Errors
    /// Those of a barrier.
    pub fn complete_world(&self) -> Result<()> {
        if self.is_forked() {
            return Ok(());
        }
        let leaves = {
            let mut counts = self.users.counts();
            // What sessions have under way may need calls that are yet to come.
            counts.has_left = counts.sessions == 0;
            counts.is_leaving = counts.has_left;
            counts.has_left
        };
        if leaves {
            let left = self.leave();
            let has_come_back = {
                let mut counts = self.users.counts();
                counts.is_leaving = false;
                !counts.has_left
            };
            if has_come_back {
                self.enter().engine.come_back();
            }
            left?;
            if self.enter().engine.are_others_elsewhere() {
                self.complete(); // they meet at no launcher
            }
        } else {
            self.meet()?;
        }
        self.meet_at_launcher()?;
        if self.users.counts().has_left {
            self.tell_launcher();
        }
        Ok(())
    }

    /// The world model ends.
    pub fn end_world(&self) {
        self.give_up(|counts| counts.world = false);
    }

    /// Completes and ends the world model.
    ///
    /// # Errors
    /// Those of a barrier; then it runs on.
    pub fn finalize(&self) -> Result<()> {
        self.complete_world()?;
        self.end_world();
        Ok(())
    }

    /// Whether this is a child that the process which has joined has forked off. Such a one may end by what its parent
    /// has had registered for its own end; what there is to complete is the parent's, and nothing is told to anybody.
    pub fn is_forked(&self) -> bool {
        self.users.are_of_parent()
    }

    /// A session is opened.
    pub fn open_session(&self) {
        let mut counts = self.users.counts();
        self.note_session();
        counts.sessions += 1;
        let comes_back = mem::take(&mut counts.has_left) && !counts.is_leaving;
        self.show_users(&counts);
        drop(counts);
        if comes_back {
            self.enter().engine.come_back();
        }
    }

    /// A session is closed. Other processes are not waited for; but what they still receive from this one is sent if
    /// nobody else uses it.
    pub fn close_session(&self) {
        self.give_up(|counts| counts.sessions -= 1);
    }

    /// One user less; the last one completes what the process has under way, unless it has left: then its peers answer
    /// no more, and may be gone.
    fn give_up(&self, leave: impl FnOnce(&mut Counts)) {
        if self.is_forked() {
            return;
        }
        let completes = {
            let mut counts = self.users.counts();
            leave(&mut counts);
            counts.phase() == Phase::Finalized && !counts.has_left
        };
        // Not while the counts are held: another thread may open a session meanwhile, which then stays.
        if completes {
            self.complete();
        }
        self.show_users(&self.users.counts());
    }

    /// Shows to the launcher, and to calls, how the process is used from now on.
    fn show_users(&self, counts: &Counts) {
        if !counts.is_leaving {
            self.note_phase(counts.phase());
        }
        self.users.tell(counts);
    }

    /// Completes what is under way and waits for the other ranks. No more is to be begun on what belongs to the
    /// world model, nor was anything else; a send that waits for a receive of a rank that is leaving too is dropped.
    ///
    /// # Errors
    /// Those of a barrier.
    pub(crate) fn leave(&self) -> Result<()> {
        self.tell_of_leaks();
        let is_world_only = self.is_world_only();
        if is_world_only {
            self.enter().refuse_messages();
        }
        // While the others still poll: once a rank has left, nobody makes room in its rings.
        self.wait_for_delivery(|state| {
            let mut absent = state.engine.absent(is_world_only);
            state.engine.is_told(&mut absent)
        });
        self.note_phase(Phase::Leaving);
        // Who waits in vain, and has not left: of a thousand ranks that leave, each would wake the others again.
        let mut state = self.enter();
        state.engine.tell_of_leaving();
        state.engine.wake_those_left();
        drop(state);
        self.wait_for_delivery(|state| state.engine.is_served());
        self.meet()?;
        if self.enter().engine.has_fabric() {
            // Who ends takes with it what its network has not delivered.
            self.wait_for_delivery(|state| state.engine.is_served());
        }
        Ok(())
    }

    /// Waits until what this process has to tell is where it is to be, or not all ranks will come to the end. Nobody is
    /// missed, but who does not answer is asked: it may be gone.
    pub(crate) fn wait_for_delivery(&self, mut is_delivered: impl FnMut(&mut State) -> bool) {
        let look = |state: &mut State| (is_delivered(state) || state.is_released()).then_some(());
        let misses = |state: &State, absent: &mut Absent| {
            if state.engine.has_fabric() {
                state.engine.look_after_needed(absent);
            }
            None
        };
        self.wait_at_leisure(Needing::new(look, misses));
    }

    /// On several nodes, waits until all ranks of the world have met: who ends before closes connections that others
    /// still read. A rank that has sessions comes, too, and goes on with them afterwards.
    ///
    /// # Errors
    /// `Other` if the launcher is gone.
    fn meet_at_launcher(&self) -> Result<()> {
        if self.world().is_on_one_node() {
            return Ok(());
        }
        let Some(mut launcher) = self.take_launcher() else { return Ok(()) };
        // Meanwhile this thread still answers those who are not there yet; it looks often, beside a network.
        let fence = thread::Builder::new().spawn(move || launcher.fence().map(|()| launcher));
        let fence = fence.map_err(|error| {
            let text = format!("no thread can be made that waits for the other nodes: {error}");
            Error::new(ErrorClass::Other, text)
        })?;
        self.wait_at_leisure(|state: &mut State| (fence.is_finished() || state.is_released()).then_some(()));
        if fence.is_finished() {
            self.keep_launcher(fence.join().expect("a launcher does not panic")?);
        }
        // Else not all will come; it waits until this process ends.
        Ok(())
    }

    /// Tells the launcher that this process is done, once.
    fn tell_launcher(&self) {
        if let Some(mut launcher) = self.take_launcher() {
            launcher.leave();
        }
    }

    /// Lets the launcher be told at the end of this process, unless it knows by then, or somebody still uses MPI: who
    /// closes a session may open another one, and begin the world model, which needs the launcher.
    pub fn tell_launcher_at_exit(&'static self) {
        if self.has_launcher() {
            at_exit(move || {
                if !self.is_in_use() {
                    self.tell_launcher();
                }
            });
        }
    }

    /// Waits until nothing that this process has under way needs it any more. What only ranks could complete that
    /// have left, or this one, is not waited for. On several nodes, also until those with whom anything was exchanged
    /// have taken it, or rest themselves: its program may end now, and with it what is on its way.
    pub(crate) fn complete(&self) {
        let is_over = |state: &mut State| {
            let is_quiet = state.engine.is_quiet();
            state.engine.p2p.go_to_rest(is_quiet);
            let may_rest = is_quiet && state.engine.p2p.kept_from_rest().next().is_none();
            (may_rest || state.is_released()).then_some(())
        };
        // Nobody is missed, but who does not answer is asked: it may be gone.
        let misses = |state: &State, absent: &mut Absent| {
            state.engine.p2p.kept_from_rest().for_each(|peer| _ = absent.is_leaving(peer));
            None
        };
        self.wait_at_leisure(Needing::new(is_over, misses));
        self.enter().engine.p2p.go_to_rest(false);
    }

    /// Waits until all ranks of the world have come here, or not all will.
    ///
    /// # Errors
    /// Those of a barrier.
    pub(crate) fn meet(&self) -> Result<()> {
        let run = {
            let barrier = barrier_by_messages(self.farewell())?;
            self.enter().begin(self.farewell(), barrier)
        };
        let is_on_one_node = self.world().is_on_one_node();
        let mut failed = None;
        self.wait_at_leisure(|state: &mut State| {
            if state.is_released() {
                return Some(Ok(()));
            }
            if failed.is_none() && state.engine.drive(run) {
                let outcome = state.engine.outcome(run);
                state.engine.forget(run);
                let Err(error) = outcome else { return Some(Ok(())) };
                failed = Some((Instant::now(), error));
            }
            // Who is gone on another node may have ended because this rank leaves: its launcher says so, but later.
            let is_over =
                |failed: &mut (Instant, Error)| is_on_one_node || failed.0.elapsed() >= RELEASED_WITHIN;
            failed.take_if(is_over).map(|(_, error)| Err(error))
        })
    }

    /// Where there are several nodes, waits for the others to have left what this rank has left, as long as some do;
    /// whether there was anything to wait for. What it used there comes back then, which one who is short of memory can
    /// do with. They may have left before a collective that has ended: what it tells goes first.
    #[cold]
    pub(crate) fn let_others_leave(&self) -> bool {
        let mut least = self.enter().engine.missing_departures();
        if least == 0 {
            return false;
        }
        let mut heard = Instant::now();
        self.wait_at_leisure(|state: &mut State| {
            let left = state.engine.missing_departures();
            if left < least {
                (least, heard) = (left, Instant::now());
            }
            (left == 0 || heard.elapsed() >= PATIENCE).then_some(())
        });
        true
    }
}

/// Who has told nothing for so long that it leaves has not left, or computes.
const PATIENCE: Duration = Duration::from_secs(2);

/// A launcher tells sooner than this that not all ranks will come, after one that is not reached any more.
const RELEASED_WITHIN: Duration = Duration::from_secs(2);

impl State {
    /// Posts no receives any more on what belongs to the world model.
    fn refuse_messages(&mut self) {
        self.engine.p2p.refuse_all_but(self.letters.meeting_context());
        self.kept.refuse_all(&mut self.engine.p2p);
    }

    /// Whether not all ranks will come to the end.
    fn is_released(&self) -> bool {
        self.engine.state().is_released()
    }
}
