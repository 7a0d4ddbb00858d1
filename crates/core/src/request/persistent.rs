//! Persistent requests: made, and started any number of times.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests.

use std::sync::Arc;

use oxmpi_base::{Error, Result, Status};
use oxmpi_datatype::Buffer;
use oxmpi_engine::{OpKey, RunKey, Standing};

use super::array::RequestArray;
use super::completion::{no_request, not_persistent, still_active};
use super::message::PersistentMessage;
use super::{Kind, Request, RequestKey, What};
use crate::comm::Communicator;
use crate::envelope::{Dest, FROM_NOBODY, Route, SendMode, Source, TagPattern, checked_tag};
use crate::process::{Process, State};

impl Process {
    /// The name of the algorithm that a persistent collective is carried out by, if there are several.
    pub fn algorithm(&self, key: RequestKey) -> Option<&'static str> {
        let state = self.enter();
        match state.requests.all.get(key)?.kind {
            Kind::PersistentCollective { run, .. } => state.engine.algorithm(run),
            _ => None,
        }
    }

    /// What the last operation of a persistent request that is inactive said about itself; empty if it said nothing,
    /// there was none, or it is no such request.
    pub fn last_status(&self, key: RequestKey) -> Status {
        let state = self.enter();
        let p2p = &state.engine.p2p;
        if p2p.board.standing(key) != Some(Standing::Inactive) {
            return Status::EMPTY;
        }
        let kind = state.requests.all.get(key).map(|request| &request.kind);
        let status = match (state.requests.what(key), kind) {
            (What::Planned(op), _) => p2p.peek_status(op),
            (_, Some(Kind::PersistentMessage { message, .. })) => Some(message.status()),
            (_, Some(Kind::Partitioned { partitioned, .. })) => {
                Some(p2p.status_of_partitioned(partitioned.operation))
            }
            _ => None,
        };
        status.unwrap_or(Status::EMPTY)
    }

    /// A persistent send, inactive.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments; `NoMem` if there is no memory for another request.
    pub fn send_init(
        &self,
        comm: &Arc<Communicator>,
        buffer: Buffer,
        dest: Dest,
        tag: i32,
        mode: SendMode,
    ) -> Result<RequestKey> {
        let bytes = buffer.bytes();
        let (to, tag) = (comm.destination(dest)?, checked_tag("tag", tag)?);
        let source = comm.rank().cast_signed();
        let mut state = self.enter();
        state.check_memory_for_message()?;
        let planned = to.map(|to| state.engine.p2p.plan_send(to, source, tag, buffer, mode.in_engine()));
        let key = state.add_persistent(planned, &Status::EMPTY, comm);
        state.note_route(key, || Route::Send { dest, tag, bytes });
        Ok(key)
    }

    /// A persistent receive, inactive.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments; `NoMem` if there is no memory for another request.
    pub fn recv_init(
        &self,
        comm: &Arc<Communicator>,
        buffer: Buffer,
        source: Source,
        tag: TagPattern,
    ) -> Result<RequestKey> {
        let bytes = buffer.bytes();
        let pattern = comm.pattern(source, tag)?;
        let mut state = self.enter();
        state.check_memory_for_message()?;
        let planned = pattern.map(|pattern| {
            state.engine.p2p.plan_receive(comm.context, pattern, comm.sender(&pattern), buffer)
        });
        let key = state.add_persistent(planned, &FROM_NOBODY, comm);
        state.note_route(key, || Route::Receive { source, tag, bytes });
        Ok(key)
    }

    /// Starts a persistent operation.
    ///
    /// # Errors
    /// `Request` if the request is active, not persistent, or none; of a buffered send, as [`Process::bsend`].
    #[inline]
    pub fn start(&self, key: RequestKey) -> Result<()> {
        let mut state = self.enter();
        state.start(key)?;
        self.leave_to_thread(state, [key]);
        Ok(())
    }

    /// Starts several, or none if one cannot be started; a buffered send that there is no room for is found out when
    /// those before it have been started.
    ///
    /// # Errors
    /// The index of that one, and what [`Process::start`] would say.
    pub fn start_all(&self, keys: &(impl RequestArray + ?Sized)) -> std::result::Result<(), (usize, Error)> {
        let mut state = self.enter();
        for index in 0..keys.len() {
            let may_start = keys.at(index).ok_or_else(no_request).and_then(|key| state.may_start(key));
            may_start.map_err(|error| (index, error))?;
        }
        // Apart from such a send, only a request that is there twice is refused now.
        (0..keys.len()).try_for_each(|index| {
            let started = keys.at(index).map_or(Ok(()), |key| state.start(key));
            started.map_err(|error| (index, error))
        })?;
        self.leave_to_thread(state, (0..keys.len()).filter_map(|index| keys.at(index)));
        Ok(())
    }
}

impl State {
    /// Takes in what the engine has planned, or a message to or from nobody, which ends so.
    fn add_persistent(
        &mut self,
        planned: Option<OpKey>,
        nobody: &'static Status,
        comm: &Arc<Communicator>,
    ) -> RequestKey {
        match planned {
            Some(op) => self.add_planned(op, comm),
            None => self.add_request(Kind::persistent(PersistentMessage::Nobody(nobody)), comm),
        }
    }

    #[inline(always)] // most are planned, or prepared
    fn start(&mut self, key: RequestKey) -> Result<()> {
        if self.engine.p2p.board.standing(key) != Some(Standing::Inactive) {
            return self.may_start(key);
        }
        let is_over = match self.requests.what(key) {
            What::Planned(op) => self.engine.p2p.start(op),
            What::Prepared(run) if self.absence.is_some() => self.start_beside_thread(run),
            What::Prepared(run) => self.engine.start(run),
            _ => return self.start_kept(key),
        };
        self.engine.p2p.board.show(key, if is_over { Standing::Over } else { Standing::UnderWay(1) });
        Ok(())
    }

    /// Begins a kept run, most of which is a thread's if it is long; whether it is complete.
    #[cold]
    fn start_beside_thread(&mut self, run: RunKey) -> bool {
        if !self.engine.binding(run).is_some_and(|binding| self.leaves_to_thread(binding)) {
            return self.engine.start(run);
        }
        self.engine.start_aside(run);
        false
    }

    #[inline(never)]
    fn start_kept(&mut self, key: RequestKey) -> Result<()> {
        let Some(request) = self.requests.all.get_mut(key) else { return self.may_start(key) };
        match &mut request.kind {
            Kind::PersistentMessage { active: false, .. } => self.start_unplanned(key),
            Kind::Partitioned { active: active @ false, partitioned } => {
                *active = true;
                self.engine.p2p.board.show(key, Standing::UnderWay(1));
                self.engine.p2p.start_partitioned(partitioned.operation);
                Ok(())
            }
            _ => request.may_start(),
        }
    }

    #[inline]
    fn may_start(&self, key: RequestKey) -> Result<()> {
        let standing = self.engine.p2p.board.standing(key).ok_or_else(no_request)?;
        match self.requests.what(key) {
            What::Kept => self.requests.all.get(key).map_or_else(|| Err(no_request()), Request::may_start),
            What::Planned(_) | What::Prepared(_) if standing == Standing::Inactive => Ok(()),
            What::Planned(_) | What::Prepared(_) => Err(still_active()),
            _ => Err(not_persistent()),
        }
    }

    /// Starts what is over at once.
    fn start_unplanned(&mut self, key: RequestKey) -> Result<()> {
        let Self { requests, engine, buffers, .. } = self;
        let request = requests.all.get_mut(key).ok_or_else(no_request)?;
        let comm = request.comm.as_ref().expect("requests of this kind keep theirs");
        let Kind::PersistentMessage { message, active } = &mut request.kind else { return Ok(()) };
        if let PersistentMessage::Buffered(message) = message {
            buffers.send(&mut engine.p2p, comm, message.route, &message.buffer)?;
        }
        *active = true;
        engine.p2p.board.show(key, Standing::Over);
        Ok(())
    }
}

impl Kind {
    /// A persistent message that is over when it is started, inactive.
    pub(crate) fn persistent(message: PersistentMessage) -> Self {
        Self::PersistentMessage { message, active: false }
    }
}
