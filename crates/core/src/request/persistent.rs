//! Persistent requests: made, and started any number of times.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests.

use std::sync::Arc;

use oxmpi_base::{Error, Result, Status};
use oxmpi_datatype::Buffer;
use oxmpi_engine::Outcome;

use super::activity::Activity;
use super::completion::no_request;
use super::message::PersistentMessage;
use super::{Kind, Request, RequestKey};
use crate::comm::Communicator;
use crate::envelope::{Dest, FROM_NOBODY, SendMode, Source, TagPattern, begin_send, checked_tag};
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
        let message = PersistentMessage::Send {
            to: comm.destination(dest)?,
            tag: checked_tag("tag", tag)?,
            buffer,
            mode,
        };
        Ok(self.persistent_message(comm, message))
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
        let message = PersistentMessage::Receive { pattern: comm.pattern(source, tag)?, buffer };
        Ok(self.persistent_message(comm, message))
    }

    pub(crate) fn persistent_message(
        &self,
        comm: &Arc<Communicator>,
        message: PersistentMessage,
    ) -> RequestKey {
        let kind = Kind::PersistentMessage { message: Box::new(message), active: None };
        self.enter().requests.add(kind, comm)
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
    pub fn start_all(&self, keys: &[Option<RequestKey>]) -> std::result::Result<(), (usize, Error)> {
        let mut state = self.enter();
        for (index, key) in keys.iter().enumerate() {
            let request = key.and_then(|key| state.requests.all.get(key)).ok_or_else(no_request);
            request.and_then(Request::may_start).map_err(|error| (index, error))?;
        }
        // Apart from such a send, only a request that is there twice is refused now.
        let mut started = keys.iter().flatten().map(|&key| state.start(key)).enumerate();
        started.try_for_each(|(index, outcome)| outcome.map_err(|error| (index, error)))
    }
}

impl State {
    #[inline]
    fn start(&mut self, key: RequestKey) -> Result<()> {
        let request = self.requests.all.get_mut(key).ok_or_else(no_request)?;
        match &mut request.kind {
            Kind::PersistentCollective { active: active @ false, run, .. } => {
                *active = true;
                self.engine.start(*run);
                Ok(())
            }
            Kind::PersistentMessage { active: None, .. } => self.start_message(key),
            _ => request.may_start(),
        }
    }

    fn start_message(&mut self, key: RequestKey) -> Result<()> {
        let request = self.requests.all.get_mut(key).ok_or_else(no_request)?;
        let comm = Arc::clone(&request.comm);
        let Kind::PersistentMessage { message, active } = &mut request.kind else { return Ok(()) };
        let over = |status| Activity::Over(Outcome { status, error: None });
        *active = Some(match &**message {
            PersistentMessage::BufferedSend { route: None, .. }
            | PersistentMessage::Send { to: None, .. } => over(Status::EMPTY),
            PersistentMessage::BufferedSend { route: Some(route), buffer } => {
                self.buffers.send(&mut self.engine.p2p, &comm, *route, buffer)?;
                over(Status::EMPTY)
            }
            PersistentMessage::Receive { pattern: None, .. } => over(FROM_NOBODY),
            PersistentMessage::Receive { pattern: Some(pattern), buffer } => {
                self.engine.p2p.receive(comm.context, *pattern, buffer.clone()).into()
            }
            PersistentMessage::Send { to: Some(to), tag, buffer, mode } => {
                let sent = begin_send(&mut self.engine.p2p, &comm, buffer, *to, *tag, *mode);
                sent.map_or_else(|| over(Status::EMPTY), Activity::UnderWay)
            }
        });
        Ok(())
    }
}
