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
use oxmpi_engine::{Absent, Awaits, Binding, Event, Lifetime, Outcome, PeerId, Program, Run, RunKey};
use oxmpi_mem::{Arguments, Entered};

use super::again::{Again, Known};
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
        if let Some(signature) = operation.signature.as_deref() {
            run.sign(Box::new(signature.clone()));
        }
        state.engine.begin(comm.channel, &mut run, &plan, &operation.binding);
        self.wait_for_run(state, comm, What::Made { operation, plan, run: &mut run })
    }

    /// Moves a run that has begun on to its end.
    #[inline(never)]
    fn wait_for_run<'a>(
        &'a self,
        state: Entered<'a, State>,
        comm: &'a Communicator,
        what: What<'a>,
    ) -> Result<()> {
        self.wait_inside(state, OnTheStack { comm, what, kept: None })
    }

    /// Begins a collective.
    ///
    /// # Errors
    /// `NoMem` if there is no memory for another request; what goes wrong later is in the completion.
    pub fn nonblocking(&self, comm: &Arc<Communicator>, operation: &Operation) -> Result<RequestKey> {
        let mut state = self.enter();
        state.check_memory_for_run(&operation.binding)?;
        let plan = state.lend_plan(comm, operation);
        let signature = operation.signature.as_deref();
        let mut run = Run::new(&plan, Lifetime::Nonblocking);
        if let Some(signature) = signature {
            run.sign(Box::new(signature.clone()));
        }
        let begun = state.begin_nonblocking(comm, &mut run, &operation.binding, &plan);
        state.plans.give_back(comm.channel, plan);
        self.leave_to_thread(state, begun.as_ref().ok().copied());
        begun
    }

    /// Runs a collective to its end: what was made of its `arguments` if they have come twice, else what `describe`
    /// makes of them. Without arguments it is not known again.
    ///
    /// # Errors
    /// Those of `describe`, and of [`Process::blocking`].
    #[inline]
    pub fn call_blocking(
        &self,
        comm: &Arc<Communicator>,
        arguments: Option<&Arguments>,
        describe: impl FnOnce() -> Result<Operation>,
    ) -> Result<()> {
        let again = arguments.map_or(Again::New, |arguments| self.blocking_again(comm, arguments));
        if let Again::Done(result) = again {
            return result;
        }
        // Where it lies: to move it would cost as much as to make it.
        let described = describe();
        let operation = match &described {
            Ok(operation) => operation,
            Err(_) => return described.map(drop),
        };
        self.blocking(comm, operation)?;
        if let (Again::Keep, Some(arguments)) = (again, arguments) {
            self.keep_for_again(comm, arguments, described?, Lifetime::Blocking);
        }
        Ok(())
    }

    /// Begins a collective, as [`Process::call_blocking`] finds it.
    ///
    /// # Errors
    /// Those of `describe`, and of [`Process::nonblocking`].
    #[inline]
    pub fn call_nonblocking(
        &self,
        comm: &Arc<Communicator>,
        arguments: Option<&Arguments>,
        describe: impl FnOnce() -> Result<Operation>,
    ) -> Result<RequestKey> {
        let again = arguments.map_or(Again::New, |arguments| self.nonblocking_again(comm, arguments));
        if let Again::Done(key) = again {
            return key;
        }
        let operation = describe()?;
        let key = self.nonblocking(comm, &operation)?;
        if let (Again::Keep, Some(arguments)) = (again, arguments) {
            self.keep_for_again(comm, arguments, operation, Lifetime::Nonblocking);
        }
        Ok(key)
    }

    /// Runs a collective to its end, if these arguments have come twice.
    fn blocking_again(&self, comm: &Arc<Communicator>, arguments: &Arguments) -> Again<()> {
        let mut state = self.enter();
        let State { plans, engine, .. } = &mut *state;
        let calls = plans.calls_of(comm.channel);
        let Some(known) = calls.find(arguments) else { return Again::of(calls.note(arguments)) };
        let Known { binding, plan, run, place, .. } = known;
        engine.begin(comm.channel, run, plan, binding);
        let over = engine.advance(comm.channel, run, plan, binding);
        if let Ok(false) = over {
            let place = *place;
            let known = calls.take(place).expect("just found");
            return Again::Done(self.wait_for_run(state, comm, What::Known(known)));
        }
        self.leave_complete(state);
        Again::Done(over.map(drop))
    }

    /// Begins a collective, if these arguments have come twice.
    fn nonblocking_again(&self, comm: &Arc<Communicator>, arguments: &Arguments) -> Again<RequestKey> {
        let mut state = self.enter();
        let calls = state.plans.calls_of(comm.channel);
        let place = calls.find(arguments).map(|known| known.place);
        let Some(mut known) = place.and_then(|place| calls.take(place)) else {
            return Again::of(calls.note(arguments));
        };
        let Known { binding, plan, run, .. } = &mut *known;
        let begun = state.check_memory_for_run(binding);
        let begun = begun.and_then(|()| state.begin_nonblocking(comm, run, binding, plan));
        state.plans.calls_of(comm.channel).give_back(known);
        self.leave_to_thread(state, begun.as_ref().ok().copied());
        Again::Done(begun)
    }

    /// Keeps what was made of arguments that have come twice.
    fn keep_for_again(
        &self,
        comm: &Arc<Communicator>,
        arguments: &Arguments,
        operation: Operation,
        lifetime: Lifetime,
    ) {
        if operation.irregular.is_some() || operation.binding.images.is_some() {
            return; // these are made for one call
        }
        let mut state = self.enter();
        let plan = state.plans.share(comm, &operation.case);
        state.plans.calls_of(comm.channel).keep(arguments, operation.binding, plan, lifetime);
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

    /// Takes back what an operation holds that is not to begin.
    pub fn take_back(&self, operation: &Operation) {
        self.enter().engine.release(&operation.binding);
    }
}

/// What a blocking call runs.
enum What<'a> {
    Known(Box<Known>),
    Made {
        operation: &'a Operation,
        plan: Lent,
        run: &'a mut Run,
    },
    /// It is over.
    Nothing,
}

/// The run of a blocking call. What it has borrowed it gives back when it is complete.
struct OnTheStack<'a> {
    comm: &'a Communicator,
    what: What<'a>,
    /// The run, once the engine keeps it.
    kept: Option<RunKey>,
}

impl What<'_> {
    /// The run, what its plan's buffers are, and the plan, until it is over.
    #[inline]
    fn parts(&self) -> Option<(&Run, &Binding, &Arc<Program>)> {
        match self {
            Self::Known(known) => Some((&known.run, &known.binding, &known.plan)),
            Self::Made { operation, plan, run } => Some((run, &operation.binding, plan)),
            Self::Nothing => None,
        }
    }

    /// The same, to be moved on.
    #[inline]
    fn parts_mut(&mut self) -> Option<(&mut Run, &Binding, &Arc<Program>)> {
        match self {
            Self::Known(known) => {
                let Known { run, binding, plan, .. } = &mut **known;
                Some((run, binding, plan))
            }
            Self::Made { operation, plan, run } => Some((run, &operation.binding, plan)),
            Self::Nothing => None,
        }
    }

    /// What the run waits for, if it is a peer's post.
    #[inline]
    fn awaits(&self) -> Option<Awaits> {
        self.parts().and_then(|(run, ..)| run.awaits())
    }
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
        self.give_back(state);
        Some(outcome)
    }

    #[inline]
    fn give_back(&mut self, state: &mut State) {
        match mem::replace(&mut self.what, What::Nothing) {
            What::Made { plan, .. } => state.plans.give_back(self.comm.channel, plan),
            What::Known(known) => state.plans.calls_of(self.comm.channel).give_back(known),
            What::Nothing => {}
        }
    }

    /// The run and its plan, as long as it is here.
    fn here(&self) -> Option<(&Run, &Arc<Program>)> {
        self.what.parts().filter(|_| self.kept.is_none()).map(|(run, _, plan)| (run, plan))
    }
}

impl Awaited for OnTheStack<'_> {
    type Outcome = Result<()>;

    #[inline]
    fn look(&mut self, state: &mut State) -> Option<Result<()>> {
        if self.what.awaits().is_some_and(|awaits| !awaits.has_come()) {
            return None;
        }
        if let Some(kept) = self.kept {
            return self.look_at_kept(state, kept);
        }
        let (run, binding, plan) = self.what.parts_mut()?;
        let outcome = match state.engine.advance(self.comm.channel, run, plan, binding) {
            Ok(false) => return None,
            outcome => outcome.map(drop),
        };
        state.engine.release(binding);
        self.give_back(state);
        Some(outcome)
    }

    #[inline]
    fn is_a_post(&self) -> bool {
        self.what.awaits().is_some()
    }

    fn post(&mut self, state: &mut State) -> Option<Result<()>> {
        if let (None, Some((run, binding, plan))) = (self.kept, self.what.parts_mut()) {
            let begun = mem::replace(run, Run::new(plan, Lifetime::Blocking));
            self.kept = Some(state.engine.adopt(self.comm.channel, begun, plan, binding));
        }
        None
    }

    fn events(&self, _: &State) -> Vec<Event> {
        self.kept.map(Event::Complete).into_iter().collect()
    }

    fn suspect(&mut self, state: &mut State) {
        if let (None, Some((run, _, plan))) = (self.kept, self.what.parts_mut()) {
            state.engine.suspect_run(self.comm.channel, run, plan);
        }
    }

    fn posts(&self, state: &State) -> Posts {
        self.here()
            .map_or(Posts::OfNobody, |(run, plan)| state.engine.posts_for(self.comm.channel, run, plan))
    }

    fn describe(&self, state: &State) -> Option<String> {
        let (run, plan) = self.here()?;
        Some(state.engine.describe_run(self.comm.channel, run, plan, state))
    }

    fn misses(&self, state: &State, absent: &mut Absent) -> Option<PeerId> {
        match self.kept {
            Some(kept) => state.engine.misses_for(kept, absent),
            None => {
                let (run, _, plan) = self.what.parts()?;
                state.engine.misses(self.comm.channel, run, plan, absent)
            }
        }
    }
}

impl State {
    /// Whether there is memory for one more run, before anything is made for it.
    #[inline]
    fn check_memory_for_run(&mut self, binding: &Binding) -> Result<()> {
        let checked = self.check_memory(self.engine.growth_of_runs());
        if checked.is_err() {
            self.engine.release(binding);
        }
        checked
    }

    /// Begins a collective by a plan.
    fn begin_nonblocking(
        &mut self,
        comm: &Arc<Communicator>,
        run: &mut Run,
        binding: &Binding,
        plan: &Arc<Program>,
    ) -> Result<RequestKey> {
        self.engine.begin(comm.channel, run, plan, binding);
        let begun = if self.leaves_to_thread(binding) {
            self.engine.take_first_steps(comm.channel, run, plan, binding);
            Ok(false)
        } else {
            self.engine.advance(comm.channel, run, plan, binding)
        };
        let key = match begun {
            Ok(false) => {
                let run = mem::replace(run, Run::new(plan, Lifetime::Nonblocking));
                let run = self.engine.adopt(comm.channel, run, plan, binding);
                self.add_collective(run, comm)
            }
            over => {
                self.engine.release(binding);
                match over.err() {
                    None => self.add_collected(comm),
                    error => self.add_message(Activity::Over(Outcome { status: Status::EMPTY, error }), comm),
                }
            }
        };
        Ok(key)
    }

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
