//! How a process leaves the job.
//!
//! Who finalises says that he is leaving as soon as he has told all that he will ever tell. A rank that waits and
//! sees that someone has left without whom the wait can never end, ends the job: see `wait`.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Finalizing MPI.

use std::thread;

use oxmpi_base::Result;
use oxmpi_engine::machine::Phase;

use crate::coll::barrier::barrier_by_messages;
use crate::process::{Process, State};

impl Process {
    /// Completes what is under way and waits for the other ranks. Nothing may be called afterwards.
    ///
    /// # Errors
    /// Those of a barrier.
    pub fn finalize(&self) -> Result<()> {
        self.leave()?;
        self.note_phase(Phase::Finalized);
        Ok(())
    }

    /// Completes what is under way and waits for the other ranks. No more is to be begun on what belongs to the
    /// world model, nor was anything else; a send that waits for a receive of a rank that is leaving too is dropped.
    ///
    /// # Errors
    /// Those of a barrier.
    pub fn leave(&self) -> Result<()> {
        self.tell_of_leaks();
        let is_world_only = self.is_world_only();
        if is_world_only {
            self.enter().refuse_messages();
        }
        // While the others still poll: once a rank has left, nobody makes room in its rings.
        self.wait_for(|state: &mut State| {
            let mut absent = state.engine.absent(is_world_only);
            (state.engine.is_told(&mut absent) || state.is_released()).then_some(())
        });
        self.note_phase(Phase::Leaving);
        // Who waits in vain, and has not left: of a thousand ranks that leave, each would wake the others again.
        let mut state = self.enter();
        state.engine.tell_of_leaving();
        state.engine.wake_those_left();
        drop(state);
        self.wait_for(|state: &mut State| (state.engine.is_served() || state.is_released()).then_some(()));
        self.meet()?;
        self.part()
    }

    /// Tells the launcher that this process is done. On several nodes it waits before until all have what was to be
    /// told them: who ends takes with it what its network has not delivered.
    fn part(&self) -> Result<()> {
        let Some(mut launcher) = self.take_launcher() else { return Ok(()) };
        if self.world().is_on_one_node() {
            launcher.leave();
            return Ok(());
        }
        self.wait_for(|state: &mut State| (state.engine.is_served() || state.is_released()).then_some(()));
        // Meanwhile this thread still answers those who are not there yet; it looks often, beside a network.
        let fence = thread::spawn(move || launcher.fence().map(|()| launcher));
        self.wait_for(|state: &mut State| (fence.is_finished() || state.is_released()).then_some(()));
        if fence.is_finished() {
            fence.join().expect("a launcher does not panic")?.leave();
        }
        // Else not all will come; it waits until this process ends.
        Ok(())
    }

    /// Waits until nothing that this process has under way needs it any more. What only ranks could complete that
    /// have left, or this one, is not waited for.
    pub fn complete(&self) {
        self.wait_for(|state: &mut State| (state.engine.is_quiet() || state.is_released()).then_some(()));
    }

    /// Waits until all ranks of the world have come here, or not all will.
    ///
    /// # Errors
    /// Those of a barrier.
    pub fn meet(&self) -> Result<()> {
        let run = {
            let barrier = barrier_by_messages(self.farewell())?;
            self.enter().begin(self.farewell(), barrier)
        };
        self.wait_for(|state: &mut State| {
            if state.engine.drive(run) {
                let outcome = state.engine.outcome(run);
                state.engine.forget(run);
                return Some(outcome);
            }
            state.is_released().then_some(Ok(()))
        })
    }
}

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
