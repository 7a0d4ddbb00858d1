//! Messages: sending, receiving, probing.
//!
//! MPI-5.0: Point-to-Point Communication.

use std::sync::Arc;

use oxmpi_base::{Error, Result, Status};
use oxmpi_datatype::Buffer;
use oxmpi_engine::machine::Posts;
use oxmpi_engine::{
    Absent, Address, AtOnce, Event, Names, Needs, OpKey, Outcome, P2p, Pattern, PeerId, Received,
};
use oxmpi_mem::Entered;

use crate::comm::Communicator;
use crate::envelope::{Dest, FROM_NOBODY, Route, SendMode, Source, TagPattern, begin_send, checked_tag};
use crate::kept::MessageKey;
use crate::process::{Process, State};
use crate::request::RequestKey;
use crate::request::activity::Activity;
use crate::wait::{Awaited, Needing};

impl Process {
    /// Sends, and waits until the buffer can be used again (see [`SendMode`]).
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments.
    #[inline]
    pub fn send(
        &self,
        comm: &Arc<Communicator>,
        buffer: &Buffer,
        dest: Dest,
        tag: i32,
        mode: SendMode,
    ) -> Result<()> {
        let to = comm.destination(dest)?;
        let tag = checked_tag("tag", tag)?;
        let Some(to) = to else { return Ok(()) };
        let mut state = self.enter();
        let pending = state.begin_send(comm, buffer, to, tag, mode);
        match pending {
            None => {
                self.leave_complete(state);
                Ok(())
            }
            Some(key) => self.finish_inside(state, comm, key).into_result().map(drop),
        }
    }

    /// Begins to send.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments; `NoMem` if there is no memory for another request.
    pub fn isend(
        &self,
        comm: &Arc<Communicator>,
        buffer: Buffer,
        dest: Dest,
        tag: i32,
        mode: SendMode,
    ) -> Result<RequestKey> {
        let to = comm.destination(dest)?;
        let tag = checked_tag("tag", tag)?;
        let mut state = self.enter();
        state.check_memory_for_message()?;
        let pending = to.and_then(|to| state.begin_send(comm, &buffer, to, tag, mode));
        let key = match pending {
            None => state.add_complete(comm),
            Some(op) => state.add_under_way(op, comm),
        };
        state.note_route(key, || Route::Send { dest, tag, bytes: buffer.bytes() });
        self.leave_to_thread(state, [key]);
        Ok(key)
    }

    /// Receives, and waits until the message is there. If it is longer than the buffer, which then holds its beginning,
    /// the outcome is a `Truncate`, and says of which message.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments.
    #[inline]
    pub fn recv(
        &self,
        comm: &Arc<Communicator>,
        buffer: Buffer,
        source: Source,
        tag: TagPattern,
    ) -> Result<Outcome> {
        let Some(pattern) = comm.pattern(source, tag)? else { return Ok(FROM_NOBODY.into()) };
        let Some(from) = comm.sender(&pattern) else {
            let mut state = self.enter();
            let received = state.engine.p2p.receive(comm.context, pattern, None, buffer);
            return Ok(self.finish_receive(state, comm, received));
        };
        Ok(self.wait_for(Receive::new(comm.context, from, pattern, buffer)))
    }

    fn finish_receive(&self, state: Entered<'_, State>, comm: &Communicator, received: Received) -> Outcome {
        match received {
            Received::Done(outcome) => {
                self.leave_complete(state);
                outcome
            }
            Received::Pending(key) => self.finish_inside(state, comm, key),
        }
    }

    /// Waits for an operation on `comm`.
    #[inline]
    fn finish(&self, comm: &Communicator, key: OpKey) -> Outcome {
        self.finish_inside(self.enter(), comm, key)
    }

    /// The same, of a caller who is inside already.
    #[inline]
    fn finish_inside(&self, state: Entered<'_, State>, comm: &Communicator, key: OpKey) -> Outcome {
        let needing = Needing::new(
            |state: &mut State| state.outcome_of(key),
            |state: &State, absent: &mut Absent| state.misses(comm, key, absent),
        );
        self.wait_inside(state, needing.end_of(key))
    }

    /// Begins to receive.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments; `NoMem` if there is no memory for another request.
    pub fn irecv(
        &self,
        comm: &Arc<Communicator>,
        buffer: Buffer,
        source: Source,
        tag: TagPattern,
    ) -> Result<RequestKey> {
        let pattern = comm.pattern(source, tag)?;
        let mut state = self.enter();
        state.check_memory_for_message()?;
        let bytes = buffer.bytes();
        let key = match state.begin_receive(comm, pattern, buffer) {
            Activity::UnderWay(op) => state.add_under_way(op, comm),
            over @ Activity::Over(_) => state.add_message(over, comm),
        };
        state.note_route(key, || Route::Receive { source, tag, bytes });
        self.leave_to_thread(state, [key]);
        Ok(key)
    }

    /// Sends one message and receives another; neither waits for the other.
    ///
    /// # Errors
    /// As [`Process::send`] and [`Process::recv`].
    #[expect(clippy::too_many_arguments, reason = "the arguments of MPI_Sendrecv")]
    pub fn sendrecv(
        &self,
        comm: &Arc<Communicator>,
        send: &Buffer,
        dest: Dest,
        send_tag: i32,
        recv: Buffer,
        source: Source,
        recv_tag: TagPattern,
    ) -> Result<Outcome> {
        let to = comm.destination(dest)?;
        let send_tag = checked_tag("sendtag", send_tag)?;
        let pattern = comm.recv_pattern(source, recv_tag)?;
        let mut state = self.enter();
        let received = pattern.map(|pattern| state.receive(comm, pattern, recv));
        let sent = to.and_then(|to| state.begin_send(comm, send, to, send_tag, SendMode::Standard));
        let received = match received {
            Some(received) => self.finish_receive(state, comm, received),
            None => {
                self.leave_complete(state);
                FROM_NOBODY.into()
            }
        };
        let sent = sent.and_then(|key| self.finish(comm, key).error);
        Ok(Outcome { error: sent.or(received.error), ..received })
    }

    /// Sends what `buffer` holds and receives another message into it.
    ///
    /// # Errors
    /// As [`Process::sendrecv`].
    pub fn sendrecv_replace(
        &self,
        comm: &Arc<Communicator>,
        buffer: Buffer,
        dest: Dest,
        send_tag: i32,
        source: Source,
        recv_tag: TagPattern,
    ) -> Result<Outcome> {
        let copy = self.enter().pool().take(buffer.bytes() as usize);
        buffer.read(0, &copy);
        let result = self.sendrecv(comm, &Buffer::dense(*copy), dest, send_tag, buffer, source, recv_tag);
        self.enter().pool().give(copy);
        result
    }

    /// Waits for a message that matches, and tells about it.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments.
    pub fn probe(&self, comm: &Arc<Communicator>, source: Source, tag: TagPattern) -> Result<Status> {
        let Some(pattern) = comm.pattern(source, tag)? else { return Ok(FROM_NOBODY) };
        let look = |state: &mut State| state.probe(comm, &pattern);
        self.wait_for(Probe { comm, pattern, look, lost: None })
    }

    /// Tells about a message that matches, if one has arrived.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments.
    pub fn iprobe(
        &self,
        comm: &Arc<Communicator>,
        source: Source,
        tag: TagPattern,
    ) -> Result<Option<Status>> {
        let Some(pattern) = comm.pattern(source, tag)? else { return Ok(Some(FROM_NOBODY)) };
        self.look_for(comm, pattern.source, |state| state.probe(comm, &pattern))
    }

    /// Waits for a message that matches, and takes it: only [`Process::mrecv`] receives it. There is no
    /// message from [`Source::Null`].
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments.
    pub fn mprobe(
        &self,
        comm: &Arc<Communicator>,
        source: Source,
        tag: TagPattern,
    ) -> Result<(Status, Option<MessageKey>)> {
        let Some(pattern) = comm.pattern(source, tag)? else { return Ok((FROM_NOBODY, None)) };
        let look = |state: &mut State| state.take_message(comm, &pattern);
        self.wait_for(Probe { comm, pattern, look, lost: None })
    }

    /// As [`Process::mprobe`], if a message has arrived.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments.
    pub fn improbe(
        &self,
        comm: &Arc<Communicator>,
        source: Source,
        tag: TagPattern,
    ) -> Result<Option<(Status, Option<MessageKey>)>> {
        let Some(pattern) = comm.pattern(source, tag)? else { return Ok(Some((FROM_NOBODY, None))) };
        self.look_for(comm, pattern.source, |state| state.take_message(comm, &pattern))
    }

    /// Receives a message that a matched probe has taken, as [`Process::recv`].
    ///
    /// # Errors
    /// `Request` if there is no such message.
    pub fn mrecv(&self, message: Option<MessageKey>, buffer: Buffer) -> Result<Outcome> {
        let Some(message) = message else { return Ok(FROM_NOBODY.into()) };
        let mut state = self.enter();
        let (received, comm) = state.receive_kept(message, buffer)?;
        Ok(self.finish_receive(state, &comm, received))
    }

    /// Begins to receive a message that a matched probe has taken.
    ///
    /// # Errors
    /// `Request` if there is no such message; `NoMem` if there is no memory for another request: then it is kept.
    pub fn imrecv(&self, message: Option<MessageKey>, buffer: Buffer) -> Result<RequestKey> {
        let mut state = self.enter();
        state.check_memory_for_message()?;
        let (message, comm) = match message {
            None => (FROM_NOBODY_AT_ONCE, Arc::clone(self.world())),
            Some(message) => {
                let (received, comm) = state.receive_kept(message, buffer)?;
                (received.into(), comm)
            }
        };
        let key = state.add_message(message, &comm);
        self.leave_to_thread(state, [key]);
        Ok(key)
    }

    /// The communicator by which a taken message came.
    pub fn message_comm(&self, message: MessageKey) -> Option<Arc<Communicator>> {
        self.enter().kept.comm(message)
    }

    /// What `look` finds of a message from `source`, or from anybody, now.
    fn look_for<T>(
        &self,
        comm: &Communicator,
        source: Option<i32>,
        mut look: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut state = self.enter();
        state.engine.poll();
        let mut found = look(&mut state);
        if found.is_none()
            && let Err(lost) = state.check_source(comm, source)
        {
            while state.engine.poll() {}
            found = Some(look(&mut state).ok_or(lost)?);
        }
        self.end_look_for(state, found.is_none().into(), |state, absent| {
            state.misses_source(comm, source, absent)
        });
        Ok(found)
    }
}

/// How a receive from nobody ends.
const FROM_NOBODY_AT_ONCE: Activity = Activity::Over(Outcome { status: FROM_NOBODY, error: None });

/// A message that is waited for without receiving it: what `look` finds of it.
struct Probe<'a, L> {
    comm: &'a Communicator,
    pattern: Pattern,
    look: L,
    /// Why none comes any more.
    lost: Option<Error>,
}

impl<T, L: FnMut(&mut State) -> Option<T>> Awaited for Probe<'_, L> {
    type Outcome = Result<T>;

    #[inline]
    fn look(&mut self, state: &mut State) -> Option<Result<T>> {
        (self.look)(state).map(Ok).or_else(|| self.lost.take().map(Err))
    }

    fn suspect(&mut self, state: &mut State) {
        self.lost = state.check_source(self.comm, self.pattern.source).err();
        // What was told before is here, and dealt with now.
        while self.lost.is_some() && state.engine.poll() {}
    }

    fn events(&self, _: &State) -> Vec<Event> {
        vec![Event::Arrival(self.comm.context)]
    }

    fn posts(&self, _: &State) -> Posts {
        Posts::OfNobody
    }

    fn describe(&self, state: &State) -> Option<String> {
        let from = self.pattern.source.map_or("anybody".to_owned(), |source| format!("rank {source}"));
        Some(format!("probe for a message from {from} of {}", state.comm(self.comm.context)))
    }

    fn misses(&self, state: &State, absent: &mut Absent) -> Option<PeerId> {
        if state.engine.p2p.is_probing(self.comm.context, &self.pattern) {
            return None;
        }
        state.misses_source(self.comm, self.pattern.source, absent)
    }
}

/// A blocking receive from a known rank. Short messages are taken where they lie; only when something else
/// comes does the receive become an operation that others can see.
struct Receive {
    context: u32,
    from: PeerId,
    pattern: Pattern,
    buffer: Buffer,
    /// What [`P2p::kept`] was at the last look.
    kept: Option<u64>,
    op: Option<OpKey>,
    /// Nothing comes any more.
    is_in_vain: bool,
}

impl Receive {
    #[inline]
    fn new(context: u32, from: PeerId, pattern: Pattern, buffer: Buffer) -> Self {
        Self { context, from, pattern, buffer, kept: None, op: None, is_in_vain: false }
    }

    fn look_closely(&mut self, p2p: &mut P2p) -> Option<Outcome> {
        if self.op.is_none() && !self.is_in_vain {
            self.kept = Some(p2p.kept());
            match p2p.receive_at_once(self.context, self.from, &self.pattern, &self.buffer) {
                AtOnce::Done(outcome) => return Some(outcome),
                AtOnce::NotYet => return None,
                AtOnce::NeedsOperation => {}
            }
        }
        self.look_posted(p2p)
    }

    fn look_posted(&mut self, p2p: &mut P2p) -> Option<Outcome> {
        let Some(op) = self.op else {
            return match p2p.receive(self.context, self.pattern, Some(self.from), self.buffer.clone()) {
                Received::Done(outcome) => Some(outcome),
                Received::Pending(op) => {
                    self.op = Some(op);
                    None
                }
            };
        };
        p2p.poll();
        p2p.take_outcome(op)
    }
}

impl Awaited for Receive {
    type Outcome = Outcome;

    #[inline]
    fn look(&mut self, state: &mut State) -> Option<Outcome> {
        let p2p = &mut state.engine.p2p;
        if self.op.is_none() && self.kept == Some(p2p.kept()) && !p2p.has_arrival(self.from) {
            return None;
        }
        self.look_closely(p2p)
    }

    fn suspect(&mut self, state: &mut State) {
        if self.op.is_none() && state.engine.lost(self.from).is_some() {
            // What it told before is here, and matched now; an operation that finds nothing fails.
            while state.engine.poll() {}
            (self.kept, self.is_in_vain) = (None, true);
        }
    }

    fn posts(&self, _: &State) -> Posts {
        Posts::OfNobody
    }

    fn post(&mut self, state: &mut State) -> Option<Outcome> {
        let is_none_yet = self.op.is_none() && !self.is_in_vain;
        is_none_yet.then(|| self.look_posted(&mut state.engine.p2p)).flatten()
    }

    fn events(&self, _: &State) -> Vec<Event> {
        self.op.map(Event::Over).into_iter().collect()
    }

    fn describe(&self, state: &State) -> Option<String> {
        let comm = || state.comm(self.context);
        self.op.is_none().then(|| format!("receive from {}", self.pattern.describe(&comm())))
    }

    fn misses(&self, state: &State, absent: &mut Absent) -> Option<PeerId> {
        let needs = self.op.map_or(Needs::Message(None), |op| state.engine.p2p.needs(op));
        let is_missed = match needs {
            Needs::Message(_) => absent.is_leaving(self.from),
            Needs::Answer(_) => absent.is_gone(self.from),
            Needs::Nothing | Needs::Receive(_) => false,
        };
        is_missed.then_some(self.from)
    }
}

impl State {
    /// Begins to receive, if there is somebody to receive from.
    #[inline]
    pub(crate) fn begin_receive(
        &mut self,
        comm: &Communicator,
        pattern: Option<Pattern>,
        buffer: Buffer,
    ) -> Activity {
        match pattern {
            None => FROM_NOBODY_AT_ONCE,
            Some(pattern) => self.receive(comm, pattern, buffer).into(),
        }
    }

    #[inline]
    fn receive(&mut self, comm: &Communicator, pattern: Pattern, buffer: Buffer) -> Received {
        self.engine.p2p.receive(comm.context, pattern, comm.sender(&pattern), buffer)
    }

    #[inline]
    pub(crate) fn begin_send(
        &mut self,
        comm: &Communicator,
        buffer: &Buffer,
        to: Address,
        tag: i32,
        mode: SendMode,
    ) -> Option<OpKey> {
        begin_send(&mut self.engine.p2p, comm, buffer, to, tag, mode)
    }

    /// The outcome of an operation, after another look at what has arrived.
    #[inline]
    pub(crate) fn outcome_of(&mut self, key: OpKey) -> Option<Outcome> {
        self.engine.p2p.poll_for(key)
    }

    fn probe(&mut self, comm: &Communicator, pattern: &Pattern) -> Option<Status> {
        self.engine.p2p.poll();
        self.engine.p2p.probe(comm.context, pattern)
    }

    fn take_message(
        &mut self,
        comm: &Arc<Communicator>,
        pattern: &Pattern,
    ) -> Option<(Status, Option<MessageKey>)> {
        self.engine.p2p.poll();
        let (status, key) = self.kept.take(&mut self.engine.p2p, comm, pattern)?;
        Some((status, Some(key)))
    }

    fn receive_kept(&mut self, message: MessageKey, buffer: Buffer) -> Result<(Received, Arc<Communicator>)> {
        self.kept.receive(&mut self.engine.p2p, message, buffer)
    }
}
