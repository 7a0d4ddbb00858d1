//! Sending by attached buffers.
//!
//! MPI-5.0: Point-to-Point Communication, Communication Modes; Buffer Allocation and Usage.

use std::sync::Arc;

use oxmpi_base::{Result, Status};
use oxmpi_datatype::Buffer;
use oxmpi_engine::{Absent, Needs, OpKey, PeerId};
use oxmpi_mem::reserve::Growth;

use crate::comm::Communicator;
use crate::envelope::{Dest, Route, checked_tag};
use crate::process::{Process, State};
use crate::request::message::{BufferedMessage, PersistentMessage};
use crate::request::{Kind, RequestKey};
use crate::send_buffer::{AttachedBuffer, BufferOwner, BufferedRoute};
use crate::wait::Needing;

impl Process {
    /// Attaches a buffer for the messages of `owner`.
    ///
    /// # Errors
    /// `Buffer` if it has one already.
    pub fn attach_buffer(&self, owner: BufferOwner, buffer: AttachedBuffer) -> Result<()> {
        self.enter().buffers.attach(owner, buffer)
    }

    /// Takes a buffer back when all messages in it have been sent.
    ///
    /// # Errors
    /// `Buffer` if there is none.
    pub fn detach_buffer(&self, owner: BufferOwner) -> Result<AttachedBuffer> {
        let look = |state: &mut State| {
            state.engine.p2p.poll();
            state.buffers.detach(&state.engine.p2p, owner).transpose()
        };
        self.wait_at_leisure(Needing::new(look, |state: &State, absent: &mut Absent| {
            state.misses_receiver(&state.buffers.messages(owner), absent)
        }))
    }

    /// Waits until the messages that are in a buffer have been sent. Where none is attached there are none.
    pub fn flush_buffer(&self, owner: BufferOwner) {
        let messages = self.enter().buffers.messages(owner);
        self.wait_at_leisure(Needing::new(
            |state: &mut State| state.are_sent(&messages).then_some(()),
            |state: &State, absent: &mut Absent| state.misses_receiver(&messages, absent),
        ));
    }

    /// As [`Process::flush_buffer`], by a request. Errors of requests with it go to `comm`.
    ///
    /// # Errors
    /// `NoMem` if there is no memory for another request.
    pub fn iflush_buffer(&self, comm: &Arc<Communicator>, owner: BufferOwner) -> Result<RequestKey> {
        let mut state = self.enter();
        state.check_memory(Growth::None)?;
        let messages = state.buffers.messages(owner);
        Ok(state.add_request(Kind::Flush(messages), comm))
    }

    /// Forgets a buffer whose owner ends, when all messages in it have been sent. Those for this rank itself, or for
    /// one that has left, are not waited for.
    pub fn drop_buffer(&self, owner: BufferOwner) {
        let messages = self.enter().buffers.messages(owner);
        self.wait_at_leisure(|state: &mut State| {
            state.engine.p2p.poll();
            messages.iter().all(|&message| state.engine.p2p.is_settled(message)).then_some(())
        });
        self.enter().buffers.forget(owner);
    }

    /// Sends by a buffer; `session` is the one that the communicator comes from.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments; `Buffer` if none is attached, or there is no room in it.
    pub fn bsend(
        &self,
        comm: &Communicator,
        session: Option<u64>,
        buffer: &Buffer,
        dest: Dest,
        tag: i32,
    ) -> Result<()> {
        let (to, tag) = (comm.destination(dest)?, checked_tag("tag", tag)?);
        let Some(to) = to else { return Ok(()) };
        let mut state = self.enter();
        let State { buffers, engine, .. } = &mut *state;
        buffers.send(&mut engine.p2p, comm, BufferedRoute { to, tag, session }, buffer)?;
        self.leave_complete(state);
        Ok(())
    }

    /// As [`Process::bsend`], with a request that is complete already.
    ///
    /// # Errors
    /// As [`Process::bsend`]; `NoMem` if there is no memory for another request.
    pub fn ibsend(
        &self,
        comm: &Arc<Communicator>,
        session: Option<u64>,
        buffer: &Buffer,
        dest: Dest,
        tag: i32,
    ) -> Result<RequestKey> {
        self.enter().check_memory(Growth::None)?;
        self.bsend(comm, session, buffer, dest, tag)?;
        let mut state = self.enter();
        let key = state.add_complete(comm);
        state.note_route(key, || Route::Send { dest, tag, bytes: buffer.bytes() });
        Ok(key)
    }

    /// A persistent send by a buffer, inactive. Whether there is room is found out by each start.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments; `NoMem` if there is no memory for another request.
    pub fn bsend_init(
        &self,
        comm: &Arc<Communicator>,
        session: Option<u64>,
        buffer: Buffer,
        dest: Dest,
        tag: i32,
    ) -> Result<RequestKey> {
        let (to, tag) = (comm.destination(dest)?, checked_tag("tag", tag)?);
        let bytes = buffer.bytes();
        let message = to.map_or(PersistentMessage::Nobody(&Status::EMPTY), |to| {
            let route = BufferedRoute { to, tag, session };
            PersistentMessage::Buffered(Box::new(BufferedMessage { route, buffer }))
        });
        let mut state = self.enter();
        state.check_memory(Growth::None)?;
        let key = state.add_request(Kind::persistent(message), comm);
        state.note_route(key, || Route::Send { dest, tag, bytes });
        Ok(key)
    }
}

impl State {
    fn are_sent(&mut self, messages: &[OpKey]) -> bool {
        self.engine.p2p.poll();
        messages.iter().all(|&message| self.engine.p2p.is_done(message))
    }

    /// The peer without which not all of these messages will be sent.
    fn misses_receiver(&self, messages: &[OpKey], absent: &mut Absent) -> Option<PeerId> {
        messages.iter().find_map(|&message| match self.engine.p2p.needs(message) {
            Needs::Answer(peer) if absent.is_gone(peer) => Some(peer),
            // One that is refused is over.
            _ => None,
        })
    }
}
