//! Persistent requests: made, and started any number of times.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests.

use std::sync::Arc;

use oxmpi_base::{Error, Result, Status};
use oxmpi_datatype::Buffer;
use oxmpi_engine::{Outcome, Standing};

use super::activity::Activity;
use super::array::RequestArray;
use super::completion::{no_request, not_persistent};
use super::message::PersistentMessage;
use super::{Kind, RequestKey};
use crate::comm::Communicator;
use crate::envelope::{Dest, FROM_NOBODY, Route, SendMode, Source, TagPattern, checked_tag};
use crate::process::{Process, State};

impl Process {
    /// A persistent send, inactive.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments.
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
        let planned = to.map(|to| state.engine.p2p.plan_send(to, source, tag, buffer, mode.in_engine()));
        let message = planned.map_or(PersistentMessage::Nobody(&Status::EMPTY), PersistentMessage::Planned);
        let key = state.add_request(Kind::persistent(message), comm);
        state.note_route(key, || Route::Send { dest, tag, bytes });
        Ok(key)
    }

    /// A persistent receive, inactive.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments.
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
        let planned = pattern.map(|pattern| {
            state.engine.p2p.plan_receive(comm.context, pattern, comm.sender(&pattern), buffer)
        });
        let message = planned.map_or(PersistentMessage::Nobody(&FROM_NOBODY), PersistentMessage::Planned);
        let key = state.add_request(Kind::persistent(message), comm);
        state.note_route(key, || Route::Receive { source, tag, bytes });
        Ok(key)
    }

    /// Starts a persistent operation.
    ///
    /// # Errors
    /// `Request` if the request is active, not persistent, or none; of a buffered send, as [`Process::bsend`].
    #[inline]
    pub fn start(&self, key: RequestKey) -> Result<()> {
        self.enter().start(key)
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
        })
    }
}

impl State {
    #[inline]
    fn start(&mut self, key: RequestKey) -> Result<()> {
        let Some(request) = self.requests.all.get_mut(key) else { return self.may_start(key) };
        match &mut request.kind {
            Kind::PersistentCollective { active: active @ false, run, .. } => {
                *active = true;
                // Its run strikes it out each time: that was said when it was made.
                self.engine.p2p.board.show(key, Standing::UnderWay(1));
                self.engine.start(*run);
                Ok(())
            }
            Kind::PersistentMessage { message: PersistentMessage::Planned(op), active: active @ None } => {
                let p2p = &mut self.engine.p2p;
                let over = if p2p.start(*op) { p2p.take_outcome(*op) } else { None };
                p2p.board.show(key, if over.is_some() { Standing::Over } else { Standing::UnderWay(1) });
                *active = Some(over.map_or(Activity::UnderWay(*op), Activity::Over));
                Ok(())
            }
            Kind::PersistentMessage { active: None, .. } => self.start_unplanned(key),
            Kind::Partitioned { active: active @ false, partitioned } => {
                *active = true;
                self.engine.p2p.board.show(key, Standing::UnderWay(1));
                self.engine.p2p.start_partitioned(partitioned.operation);
                Ok(())
            }
            _ => request.may_start(),
        }
    }

    fn may_start(&self, key: RequestKey) -> Result<()> {
        match self.requests.all.get(key) {
            Some(request) => request.may_start(),
            None if self.engine.p2p.board.standing(key).is_some() => Err(not_persistent()),
            None => Err(no_request()),
        }
    }

    /// Starts what is over at once.
    fn start_unplanned(&mut self, key: RequestKey) -> Result<()> {
        let Self { requests, engine, buffers, .. } = self;
        let request = requests.all.get_mut(key).ok_or_else(no_request)?;
        let comm = request.comm.as_ref().expect("persistent requests keep theirs");
        let Kind::PersistentMessage { message, active } = &mut request.kind else { return Ok(()) };
        let status = match message {
            PersistentMessage::Buffered(message) => {
                buffers.send(&mut engine.p2p, comm, message.route, &message.buffer)?;
                Status::EMPTY
            }
            PersistentMessage::Nobody(status) => **status,
            PersistentMessage::Planned(_) => return Ok(()),
        };
        *active = Some(Activity::Over(Outcome { status, error: None }));
        engine.p2p.board.show(key, Standing::Over);
        Ok(())
    }
}

impl Kind {
    /// A persistent message, inactive.
    pub(crate) fn persistent(message: PersistentMessage) -> Self {
        Self::PersistentMessage { message, active: None }
    }
}
