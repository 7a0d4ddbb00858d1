//! How far requests have come: starting, completing and freeing them, inside the gate.

use std::mem;
use std::sync::Arc;

use oxmpi_base::{Error, Result, Status};
use oxmpi_engine::machine::Posts;
use oxmpi_engine::{Absent, Awaits, Binding, ChannelKey, Event, OpKey, Outcome, PeerId, RunKey, Standing};

use super::completion::{Completion, misuse, no_request};
use super::generalized::GeneralizedCallbacks;
use super::{Kind, Request, RequestKey, What};
use crate::comm::Communicator;
use crate::process::State;
use crate::wait::Awaited;

/// A request that is waited for.
pub(super) struct OneRequest<'a> {
    key: RequestKey,
    /// What its run waits for: as long as that has not come, to look at it is enough.
    awaits: Option<Awaits>,
    /// The same of a message: its operation, and who has to say something.
    message: Option<(OpKey, PeerId)>,
    /// Where it is told how it has ended.
    completion: &'a mut Completion,
}

impl<'a> OneRequest<'a> {
    /// Nothing has been told yet in `completion`.
    #[inline]
    pub(super) fn new(key: RequestKey, completion: &'a mut Completion) -> Self {
        Self { key, awaits: None, message: None, completion }
    }
}

impl Awaited for OneRequest<'_> {
    type Outcome = ();

    #[inline]
    fn look(&mut self, state: &mut State) -> Option<()> {
        if self.awaits.is_some_and(|awaits| !awaits.has_come()) {
            return None;
        }
        if self.message.is_some_and(|(op, from)| state.engine.p2p.is_in_vain(op, from)) {
            return None;
        }
        if state.complete_into(self.key, self.completion) {
            return Some(());
        }
        self.awaits = state.awaits(self.key);
        self.message = state.awaits_message(self.key);
        None
    }

    #[inline]
    fn is_a_post(&self) -> bool {
        self.awaits.is_some()
    }

    fn suspect(&mut self, _: &mut State) {
        // Perhaps that is waited for no longer.
        self.awaits = None;
    }

    fn events(&self, state: &State) -> Vec<Event> {
        state.end_of(self.key).into_iter().collect()
    }

    fn posts(&self, _: &State) -> Posts {
        Posts::OfNobody // the engine keeps its run
    }

    fn describe(&self, state: &State) -> Option<String> {
        let is_generalized = matches!(state.requests.all.get(self.key)?.kind, Kind::Generalized(_));
        is_generalized.then(|| "generalized request: the program has not completed it".to_owned())
    }

    fn misses(&self, state: &State, absent: &mut Absent) -> Option<PeerId> {
        state.misses_for(self.key, absent)
    }
}

impl State {
    /// The rank of the job without which a request will never be complete.
    pub(crate) fn misses_for(&self, key: RequestKey, absent: &mut Absent) -> Option<PeerId> {
        if let Some(op) = self.message_of(key) {
            return self.misses_cancellable(&*self.comm_of(key)?, op, absent);
        }
        if let Some(run) = self.run_of(key) {
            return self.engine.misses_for(run, absent);
        }
        match &self.requests.all.get(key)?.kind {
            Kind::SendReceive(messages) => {
                let (comm, [send, receive]) = (self.comm_of(key)?, messages.under_way());
                let missed = send.and_then(|send| self.misses(&comm, send, absent));
                missed.or_else(|| self.misses_cancellable(&comm, receive?, absent))
            }
            Kind::Flush(messages) => {
                messages.iter().find_map(|&message| self.misses(&*self.comm_of(key)?, message, absent))
            }
            Kind::Partitioned { partitioned, active: true } => {
                self.engine.p2p.misses_partitioned(partitioned.operation, absent)
            }
            _ => None,
        }
    }

    fn awaits(&self, key: RequestKey) -> Option<Awaits> {
        self.engine.awaits(self.run_of(key)?)
    }

    /// How many bytes the operation of a request moves at most; 0 if only calls of the program can move them.
    pub(crate) fn bytes_of(&self, key: RequestKey) -> u64 {
        let of_message = |op| self.engine.p2p.bytes_of(op);
        if let Some(op) = self.message_of(key) {
            return of_message(op);
        }
        if let Some(run) = self.run_of(key) {
            let binding = self.engine.binding(run).filter(|binding| !binding.calls_back());
            return binding.map_or(0, Binding::bytes);
        }
        match self.requests.all.get(key).map(|request| &request.kind) {
            Some(Kind::SendReceive(messages)) => {
                messages.under_way().into_iter().flatten().map(of_message).sum()
            }
            _ => 0,
        }
    }

    /// The run that a request stands for.
    fn run_of(&self, key: RequestKey) -> Option<RunKey> {
        match self.requests.what(key) {
            What::Collective(run) | What::Prepared(run) => Some(run),
            What::Kept => match &self.requests.all.get(key)?.kind {
                Kind::Duplication(duplication) => Some(duplication.run()),
                _ => None,
            },
            _ => None,
        }
    }

    fn awaits_message(&self, key: RequestKey) -> Option<(OpKey, PeerId)> {
        let op = self.message_of(key)?;
        Some((op, self.engine.p2p.awaits(op)?))
    }

    /// The one message that a request stands for which is active, if the engine knows it.
    pub(super) fn message_of(&self, key: RequestKey) -> Option<OpKey> {
        let standing = self.engine.p2p.board.standing(key)?;
        match self.requests.what(key) {
            What::Message(op) => Some(op),
            What::Planned(op) => (standing != Standing::Inactive).then_some(op),
            _ => None,
        }
    }

    /// As [`State::complete`], of a message that is over, as the board shows, and has not failed: what it tells, and
    /// whether the request is no more. Otherwise nothing has happened.
    #[inline(always)] // so that a completion is never in memory
    pub(super) fn complete_at_once(&mut self, key: RequestKey) -> Option<(Status, bool)> {
        if self.engine.p2p.board.standing(key) != Some(Standing::Over) {
            return None;
        }
        match self.requests.what(key) {
            What::Kept => None,
            What::Message(op) => {
                let status = self.engine.p2p.take_status(op)?;
                self.comms.end_use(self.requests.context(key));
                self.remove_number(key);
                self.end_leaving();
                Some((status, true))
            }
            What::Planned(op) => {
                let status = self.engine.p2p.take_status(op)?;
                self.engine.p2p.board.show(key, Standing::Inactive);
                Some((status, false))
            }
            What::Collective(run) => {
                if !self.engine.has_ended_well(run) {
                    return None;
                }
                self.engine.forget(run);
                self.comms.end_use(self.requests.context(key));
                self.remove_number(key);
                self.end_leaving();
                Some((Status::EMPTY, true))
            }
            What::Prepared(run) => {
                if !self.engine.has_ended_well(run) {
                    return None;
                }
                self.engine.p2p.board.show(key, Standing::Inactive);
                Some((Status::EMPTY, false))
            }
            What::Collected | What::Nothing => {
                self.remove_number(key);
                Some((Status::EMPTY, true))
            }
        }
    }

    /// What happens when a request is over, if it is under way and the board is told.
    pub(super) fn end_of(&self, key: RequestKey) -> Option<Event> {
        let standing = self.engine.p2p.board.standing(key);
        matches!(standing, Some(Standing::UnderWay(_))).then(|| Event::struck(key))
    }

    /// Completes the operation of a request if it is over.
    pub(crate) fn complete(&mut self, key: RequestKey) -> Option<Completion> {
        let mut completion = Completion::EMPTY;
        self.complete_into(key, &mut completion).then_some(completion)
    }

    /// The same; how it has ended is told in `completion`, where nothing has been told yet. There is mostly little to
    /// tell, and to give all of it on would take longer than the rest: processors are slow to copy as a whole what has
    /// just been written in parts.
    pub(super) fn complete_into(&mut self, key: RequestKey, completion: &mut Completion) -> bool {
        // Of none there is nothing to tell.
        let Some(standing) = self.engine.p2p.board.standing(key) else { return true };
        match self.requests.what(key) {
            What::Kept => match self.complete_kept(key) {
                Some(kept) => *completion = kept,
                None => return false,
            },
            What::Message(op) => return self.complete_message(key, op, standing, completion),
            What::Planned(op) => return self.complete_planned(key, op, standing, completion),
            What::Collective(run) => return self.complete_collective(key, run, completion),
            What::Prepared(run) => return self.complete_prepared(key, run, standing, completion),
            What::Collected | What::Nothing => {
                self.remove_number(key);
                (completion.was_active, completion.freed) = (true, true);
            }
        }
        true
    }

    /// The same of a persistent message.
    fn complete_planned(
        &mut self,
        key: RequestKey,
        op: OpKey,
        standing: Standing,
        completion: &mut Completion,
    ) -> bool {
        if standing == Standing::Inactive {
            return true;
        }
        let is_over = self.tell_message(key, op, standing, completion);
        if is_over {
            completion.was_active = true;
            self.engine.p2p.board.show(key, Standing::Inactive);
        }
        is_over
    }

    /// The same of a message, which the board is told of.
    fn complete_message(
        &mut self,
        key: RequestKey,
        op: OpKey,
        standing: Standing,
        completion: &mut Completion,
    ) -> bool {
        let is_over = self.tell_message(key, op, standing, completion);
        if is_over {
            self.end_use(key, completion);
        }
        is_over
    }

    /// Tells how an active message has ended, if it is over.
    #[inline(always)]
    fn tell_message(
        &mut self,
        key: RequestKey,
        op: OpKey,
        standing: Standing,
        completion: &mut Completion,
    ) -> bool {
        let p2p = &mut self.engine.p2p;
        if standing != Standing::Over {
            if let Some(status) = p2p.take_at_head(op) {
                completion.status = status;
                return true;
            }
            if !p2p.look_for(op) {
                return false;
            }
        }
        let Some(Outcome { status, error }) = p2p.take_outcome(op) else { return false };
        completion.status = status;
        if let Some(error) = error {
            self.tell_error(key, error, completion);
        }
        true
    }

    /// The same of a nonblocking collective.
    fn complete_collective(&mut self, key: RequestKey, run: RunKey, completion: &mut Completion) -> bool {
        if !self.engine.drive(run) {
            return false;
        }
        if let Err(error) = self.engine.outcome(run) {
            self.tell_error(key, error, completion);
        }
        self.engine.forget(run);
        self.end_use(key, completion);
        true
    }

    /// The same of a persistent one.
    fn complete_prepared(
        &mut self,
        key: RequestKey,
        run: RunKey,
        standing: Standing,
        completion: &mut Completion,
    ) -> bool {
        if standing == Standing::Inactive {
            return true;
        }
        if !self.engine.drive(run) {
            return false;
        }
        if let Err(error) = self.engine.outcome(run) {
            self.tell_error(key, error, completion);
        }
        completion.was_active = true;
        self.engine.p2p.board.show(key, Standing::Inactive);
        true
    }

    #[cold]
    fn tell_error(&self, key: RequestKey, error: Error, completion: &mut Completion) {
        completion.error = Some(error);
        completion.comm = self.comm_of(key);
    }

    /// Frees a request whose operation is over, and which used its communicator meanwhile.
    fn end_use(&mut self, key: RequestKey, completion: &mut Completion) {
        self.comms.end_use(self.requests.context(key));
        self.remove_number(key);
        self.end_leaving();
        (completion.was_active, completion.freed) = (true, true);
    }

    /// The same of others.
    #[inline(never)]
    fn complete_kept(&mut self, key: RequestKey) -> Option<Completion> {
        let request = self.requests.all.get_mut(key)?;
        match &mut request.kind {
            Kind::PersistentMessage { active: false, .. } => Some(Completion::EMPTY),
            Kind::PersistentMessage { active, message } => {
                *active = false;
                let status = message.status();
                self.engine.p2p.board.show(key, Standing::Inactive);
                Some(Completion::well(status, false))
            }
            Kind::Partitioned { active: false, .. } => Some(Completion::EMPTY),
            Kind::Partitioned { active, partitioned } => {
                let outcome = partitioned.advance(&mut self.engine.p2p)?;
                *active = false;
                self.engine.p2p.board.show(key, Standing::Inactive);
                Some(Completion::of(outcome, request.comm.as_ref(), false))
            }
            Kind::Complete(status) => {
                let status = *status;
                self.engine.p2p.board.forget(key);
                self.requests.all.discard(key);
                self.end_leaving(); // it may have stood for a duplicate that nobody wants
                Some(Completion::well(status, true))
            }
            _ => self.complete_rare(key),
        }
    }

    /// Completes what is rare, or takes long anyway.
    #[cold]
    fn complete_rare(&mut self, key: RequestKey) -> Option<Completion> {
        let request = self.requests.all.get_mut(key)?;
        match &mut request.kind {
            Kind::Duplication(duplication) => {
                if !self.engine.drive(duplication.run()) {
                    return None;
                }
                self.end_duplication(key);
                self.complete(key)
            }
            Kind::Failed(_) => {
                let comm = request.comm.clone();
                let Some(Kind::Failed(outcome)) = self.remove(key) else { return None };
                Some(Completion::of(*outcome, comm.as_ref(), true))
            }
            Kind::Flush(_) => self.complete_flush(key),
            Kind::Generalized(generalized) => {
                let completion = generalized.end();
                self.show(key);
                completion
            }
            Kind::SendReceive(messages) => {
                self.engine.p2p.poll();
                if messages.advance(&mut self.engine.p2p) { self.complete_send_receive(key) } else { None }
            }
            _ => None,
        }
    }

    fn complete_send_receive(&mut self, key: RequestKey) -> Option<Completion> {
        let comm = self.comm_of(key);
        let Some(Kind::SendReceive(messages)) = self.remove(key) else { return None };
        Some(Completion::of(messages.into_outcome(), comm.as_ref(), true))
    }

    fn complete_flush(&mut self, key: RequestKey) -> Option<Completion> {
        self.engine.p2p.poll();
        if !self.is_over(key) {
            return None;
        }
        self.remove(key);
        Some(Completion::well(Status::EMPTY, true))
    }

    /// Hands the new communicator over if the request is one of a duplication, which is over: the program may use
    /// it from when it knows that, whether the request is completed or not.
    pub(super) fn end_duplication(&mut self, key: RequestKey) {
        let Some(request) = self.requests.all.get_mut(key) else { return };
        if !matches!(request.kind, Kind::Duplication(_)) {
            return;
        }
        let comm = request.comm.clone().expect("a duplication keeps what is duplicated");
        let over = mem::replace(&mut request.kind, Kind::Complete(Status::EMPTY));
        let Kind::Duplication(duplication) = over else { unreachable!("just seen") };
        let run = duplication.run();
        let result = self.engine.outcome(run);
        self.engine.forget(run);
        if let Err(error) = duplication.finish(&mut self.engine, &mut self.comms, &comm, result)
            && let Some(request) = self.requests.all.get_mut(key)
        {
            let outcome = Outcome { status: Status::EMPTY, error: Some(error) };
            request.kind = Kind::Failed(Box::new(outcome));
        }
    }

    pub(super) fn remove(&mut self, key: RequestKey) -> Option<Kind> {
        let request = self.requests.all.remove(key)?;
        self.engine.p2p.board.forget(key);
        drop(request.comm);
        self.end_leaving();
        Some(request.kind)
    }

    /// The same of what is no [`Request`].
    #[inline(always)]
    fn remove_number(&mut self, key: RequestKey) {
        self.engine.p2p.board.forget(key);
        self.requests.all.give_up(key);
    }

    #[inline]
    fn end_leaving(&mut self) {
        if self.comms.is_any_leaving() {
            self.leave_communicators();
        }
    }

    /// The communicator of a request that there is.
    pub(super) fn comm_of(&self, key: RequestKey) -> Option<Arc<Communicator>> {
        match self.requests.all.get(key) {
            Some(Request { comm: Some(comm), .. }) => Some(Arc::clone(comm)),
            _ => self.comms.at_context(self.requests.context(key)),
        }
    }

    /// Whether [`State::complete`] would complete something.
    pub(super) fn is_over(&mut self, key: RequestKey) -> bool {
        if let Some(op) = self.message_of(key) {
            return self.engine.p2p.is_done(op);
        }
        if let Some(run) = self.run_of(key) {
            return self.engine.is_idle(run);
        }
        let Some(request) = self.requests.all.get(key) else { return true };
        match &request.kind {
            Kind::Partitioned { active, partitioned } => {
                !active || !partitioned.is_under_way(&self.engine.p2p)
            }
            Kind::Flush(messages) => messages.iter().all(|&message| self.engine.p2p.is_done(message)),
            Kind::Generalized(generalized) => generalized.is_over(),
            Kind::SendReceive(messages) => messages.is_over(&self.engine.p2p),
            _ => true,
        }
    }

    /// The status of an operation that is over.
    pub(super) fn status(&self, key: RequestKey) -> Status {
        if let Some(op) = self.message_of(key) {
            return self.engine.p2p.peek_status(op).unwrap_or(Status::EMPTY);
        }
        let Some(request) = self.requests.all.get(key) else { return Status::EMPTY };
        match &request.kind {
            Kind::Complete(status) => *status,
            Kind::Failed(outcome) => outcome.status,
            Kind::PersistentMessage { active: true, message } => message.status(),
            Kind::SendReceive(messages) => messages.status(&self.engine.p2p),
            Kind::Partitioned { active: true, partitioned } => {
                self.engine.p2p.status_of_partitioned(partitioned.operation)
            }
            _ => Status::EMPTY,
        }
    }

    /// Frees a request, or says what has to be called outside of the gate before it can be.
    pub(super) fn free(&mut self, key: RequestKey) -> Result<Option<Arc<dyn GeneralizedCallbacks>>> {
        let standing = self.engine.p2p.board.standing(key).ok_or_else(no_request)?;
        let is_collective = match self.requests.what(key) {
            What::Collective(_) | What::Collected => true,
            What::Prepared(_) => standing != Standing::Inactive,
            _ => false,
        };
        let kind = self.requests.all.get_mut(key).map(|request| &mut request.kind);
        if is_collective || matches!(kind, Some(Kind::Duplication(_))) {
            return Err(misuse("an active collective operation is freed"));
        }
        let Some(kind) = kind else {
            self.free_message(key);
            return Ok(None);
        };
        match kind {
            Kind::Partitioned { active: true, .. } => {
                return Err(misuse("an active partitioned operation is freed"));
            }
            Kind::Generalized(generalized) => return generalized.abandon(),
            _ => {}
        }
        match self.remove(key) {
            Some(Kind::SendReceive(messages)) => {
                messages.under_way().into_iter().flatten().for_each(|op| self.engine.p2p.detach(op));
            }
            Some(Kind::Partitioned { partitioned, .. }) => {
                self.engine.p2p.forget_partitioned(partitioned.operation);
            }
            Some(Kind::PersistentCollective { run, channel }) => {
                self.engine.forget(run);
                self.engine.leave_channel(channel);
            }
            _ => {}
        }
        Ok(None)
    }

    /// Frees a persistent collective that is inactive, and gives its channel back.
    pub(crate) fn take_back_prepared(&mut self, key: RequestKey) -> Option<ChannelKey> {
        let Some(Kind::PersistentCollective { run, channel }) = self.remove(key) else { return None };
        self.engine.forget(run);
        Some(channel)
    }

    /// The same of what is no [`Request`].
    fn free_message(&mut self, key: RequestKey) {
        if let What::Message(op) | What::Planned(op) = self.requests.what(key) {
            self.engine.p2p.detach(op);
            self.comms.end_use(self.requests.context(key));
        }
        self.remove_number(key);
        self.end_leaving();
    }
}
