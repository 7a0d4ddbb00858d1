//! The three lifetimes of any collective.
//!
//! *Blocking*: the run lives on the caller's stack and goes to its end. *Nonblocking*: it begins there, and the engine
//! keeps it unless it is over at once. *Persistent*: the engine keeps it, on a channel of its own, to be begun at will.
//!
//! MPI-5.0: Collective Communication, Nonblocking Collective Operations; Persistent Collective Operations.

use std::mem;
use std::sync::Arc;

use oxmpi_base::{Result, Status};
use oxmpi_engine::machine::Posts;
use oxmpi_engine::{Absent, Event, Lifetime, Outcome, PeerId, Program, Run, RunKey};

use super::cache::Lent;
use super::irregular::Irregular;
use super::operation::Operation;
use super::wish::Wish;
use crate::comm::Communicator;
use crate::process::{Process, State};
use crate::request::RequestKey;
use crate::request::activity::Activity;
use crate::wait::Awaited;

impl Process {
    /// Runs a collective to its end.
    ///
    /// # Errors
    /// `NoMem` if shared memory is used up.
    pub fn blocking(&self, comm: &Arc<Communicator>, operation: &Operation) -> Result<()> {
        let mut state = self.enter();
        let plan = state.lend_plan(comm, operation);
        let mut run = Run::new(&plan, Lifetime::Blocking);
        if let Some(signature) = &operation.signature {
            run.sign(signature.clone());
        }
        state.engine.begin(comm.channel, &mut run, &plan, &operation.binding);
        self.wait_inside(state, OnTheStack { comm, operation, run: &mut run, plan: Some(plan), kept: None })
    }

    /// Begins a collective.
    ///
    /// # Errors
    /// `NoMem` if there is no memory for another request; what goes wrong later is in the completion.
    pub fn nonblocking(&self, comm: &Arc<Communicator>, operation: &Operation) -> Result<RequestKey> {
        let mut state = self.enter();
        let binding = &operation.binding;
        if let Err(error) = state.check_memory(state.engine.growth_of_runs()) {
            state.engine.release(binding);
            return Err(error);
        }
        let plan = state.lend_plan(comm, operation);
        let mut run = Run::new(&plan, Lifetime::Nonblocking);
        if let Some(signature) = &operation.signature {
            run.sign(signature.clone());
        }
        state.engine.begin(comm.channel, &mut run, &plan, binding);
        let begun = if state.leaves_to_thread(binding) {
            state.engine.take_first_steps(comm.channel, &mut run, &plan, binding);
            Ok(false)
        } else {
            state.engine.advance(comm.channel, &mut run, &plan, binding)
        };
        let key = match begun {
            Ok(false) => {
                let run = state.engine.adopt(comm.channel, run, &plan, binding);
                state.add_collective(run, comm)
            }
            over => {
                state.engine.release(binding);
                match over.err() {
                    None => state.add_collected(comm),
                    error => {
                        state.add_message(Activity::Over(Outcome { status: Status::EMPTY, error }), comm)
                    }
                }
            }
        };
        state.plans.give_back(comm.channel, plan);
        self.leave_to_thread(state, [key]);
        Ok(key)
    }

    /// Prepares a collective to be started at will, by the algorithm that the ranks wish. Collective: all ranks prepare
    /// the same.
    ///
    /// # Errors
    /// `Other` if another rank prepares another collective, `Root`, `Op`, `Type` or `Truncate` if it prepares the same
    /// with other arguments; the text names both. `NoMem` if shared memory is used up.
    pub fn persistent(
        &self,
        comm: &Arc<Communicator>,
        operation: Operation,
        wish: Wish,
    ) -> Result<RequestKey> {
        let bound = self.bind(comm, &operation, wish);
        let mut state = self.enter();
        let (channel, plan) = bound.inspect_err(|_| state.engine.release(&operation.binding))?;
        state.engine.bind(channel, &plan, &operation.binding);
        let run = state.engine.keep(channel, plan, operation.binding, Lifetime::Persistent);
        if let Some(signature) = operation.signature {
            state.engine.sign(run, signature);
        }
        Ok(state.add_prepared(run, channel, comm))
    }
}

/// The run of a blocking call. What it has borrowed it gives back when it is complete.
struct OnTheStack<'a> {
    comm: &'a Communicator,
    operation: &'a Operation,
    run: &'a mut Run,
    /// Until the run is complete.
    plan: Option<Lent>,
    /// The run, once the engine keeps it.
    kept: Option<RunKey>,
}

impl OnTheStack<'_> {
    /// Looks at a run that the engine keeps.
    #[cold]
    fn look_at_kept(&mut self, state: &mut State, kept: RunKey) -> Option<Result<()>> {
        if !state.engine.drive(kept) {
            return None;
        }
        let outcome = state.engine.outcome(kept);
        state.engine.forget(kept);
        if let Some(plan) = self.plan.take() {
            state.plans.give_back(self.comm.channel, plan);
        }
        Some(outcome)
    }
}

impl Awaited for OnTheStack<'_> {
    type Outcome = Result<()>;

    #[inline]
    fn look(&mut self, state: &mut State) -> Option<Result<()>> {
        if self.run.awaits().is_some_and(|awaits| !awaits.has_come()) {
            return None;
        }
        if let Some(kept) = self.kept {
            return self.look_at_kept(state, kept);
        }
        let plan = self.plan.as_ref()?;
        let (channel, binding) = (self.comm.channel, &self.operation.binding);
        let outcome = match state.engine.advance(channel, self.run, plan, binding) {
            Ok(false) => return None,
            outcome => outcome.map(drop),
        };
        if let Some(plan) = self.plan.take() {
            state.plans.give_back(self.comm.channel, plan);
        }
        state.engine.release(binding);
        Some(outcome)
    }

    #[inline]
    fn is_a_post(&self) -> bool {
        self.run.awaits().is_some()
    }

    fn post(&mut self, state: &mut State) -> Option<Result<()>> {
        if let (None, Some(plan)) = (self.kept, &self.plan) {
            let run = mem::replace(self.run, Run::new(plan, Lifetime::Blocking));
            self.kept = Some(state.engine.adopt(self.comm.channel, run, plan, &self.operation.binding));
        }
        None
    }

    fn events(&self, _: &State) -> Vec<Event> {
        self.kept.map(Event::Complete).into_iter().collect()
    }

    fn suspect(&mut self, state: &mut State) {
        if let (None, Some(plan)) = (self.kept, &self.plan) {
            state.engine.suspect_run(self.comm.channel, self.run, plan);
        }
    }

    fn posts(&self, state: &State) -> Posts {
        let plan = self.plan.as_ref().filter(|_| self.kept.is_none());
        plan.map_or(Posts::OfNobody, |plan| state.engine.posts_for(self.comm.channel, self.run, plan))
    }

    fn describe(&self, state: &State) -> Option<String> {
        let plan = self.plan.as_ref().filter(|_| self.kept.is_none());
        plan.map(|plan| state.engine.describe_run(self.comm.channel, self.run, plan, state))
    }

    fn misses(&self, state: &State, absent: &mut Absent) -> Option<PeerId> {
        match self.kept {
            Some(kept) => state.engine.misses_for(kept, absent),
            None => state.engine.misses(self.comm.channel, self.run, self.plan.as_ref()?, absent),
        }
    }
}

impl State {
    #[inline]
    fn lend_plan(&mut self, comm: &Communicator, operation: &Operation) -> Lent {
        match &operation.irregular {
            Some(irregular) => Lent::shared(self.plan_of(comm, irregular)),
            None => self.plans.lend(comm, &operation.case),
        }
    }

    pub(super) fn share_plan(&mut self, comm: &Communicator, operation: &Operation) -> Arc<Program> {
        match &operation.irregular {
            Some(irregular) => self.plan_of(comm, irregular),
            None => self.plans.share(comm, &operation.case),
        }
    }

    /// The plan of an operation for this run: others plan theirs by themselves.
    fn plan_of(&mut self, comm: &Communicator, irregular: &Irregular) -> Arc<Program> {
        match irregular {
            Irregular::Lengths { function, lengths, form } => {
                self.plans.of_lengths(comm, *function, form, lengths)
            }
            Irregular::Made(plan) => Arc::clone(plan),
        }
    }

    /// Begins a collective that the engine keeps from the start.
    pub(crate) fn begin(&mut self, comm: &Communicator, operation: Operation) -> RunKey {
        let plan = self.share_plan(comm, &operation);
        let run = self.engine.keep(comm.channel, plan, operation.binding, Lifetime::Nonblocking);
        if let Some(signature) = operation.signature {
            self.engine.sign(run, signature);
        }
        self.engine.start(run);
        run
    }
}
