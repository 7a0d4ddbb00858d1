//! Nonblocking send-receives: one request for two messages.
//!
//! The request tells about the message that is received; it is complete when the other is sent, too.
//! MPI-5.0: Point-to-Point Communication, Send-Receive.

use std::sync::Arc;

use oxmpi_base::{Result, Status};
use oxmpi_datatype::Buffer;
use oxmpi_engine::{OpKey, Outcome, P2p};

use super::{Activity, Kind, Request, RequestKey};
use crate::comm::Communicator;
use crate::p2p::{Dest, SendMode, Source, TagPattern, checked_tag};
use crate::process::Process;

/// The messages of a request, while the send is not known to be over.
#[derive(Debug)]
pub(crate) struct SendReceive {
    send: Activity,
    receive: Activity,
}

impl Process {
    /// Begins to send one message and to receive another.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments.
    #[expect(clippy::too_many_arguments, reason = "the arguments of MPI_Isendrecv")]
    pub fn isendrecv(
        &self,
        comm: &Arc<Communicator>,
        send: &Buffer,
        dest: Dest,
        send_tag: i32,
        recv: Buffer,
        source: Source,
        recv_tag: TagPattern,
    ) -> Result<RequestKey> {
        let (to, send_tag) = (comm.destination(dest)?, checked_tag("sendtag", send_tag)?);
        let pattern = comm.recv_pattern(source, recv_tag)?;
        let mut state = self.enter();
        let receive = state.begin_receive(comm, pattern, recv);
        let sent = to.and_then(|to| state.begin_send(comm, send, to, send_tag, SendMode::Standard));
        let kind = match sent {
            None => Kind::message(receive),
            Some(op) => Kind::SendReceive(Box::new(SendReceive { send: Activity::UnderWay(op), receive })),
        };
        Ok(state.requests.insert(Request::new(kind, comm)))
    }

    /// Begins to send what `buffer` holds and to receive another message into it.
    ///
    /// # Errors
    /// As [`Process::isendrecv`].
    pub fn isendrecv_replace(
        &self,
        comm: &Arc<Communicator>,
        buffer: Buffer,
        dest: Dest,
        send_tag: i32,
        source: Source,
        recv_tag: TagPattern,
    ) -> Result<RequestKey> {
        let (to, send_tag) = (comm.destination(dest)?, checked_tag("sendtag", send_tag)?);
        let pattern = comm.recv_pattern(source, recv_tag)?;
        let mut state = self.enter();
        if let Some(to) = to {
            // The copy is sent at its own pace; nobody but the request needs the buffer.
            state.engine.p2p.send_copy(to, comm.rank().cast_signed(), send_tag, &buffer);
        }
        let kind = Kind::message(state.begin_receive(comm, pattern, buffer));
        Ok(state.requests.insert(Request::new(kind, comm)))
    }
}

impl SendReceive {
    /// Notes what is over; true if both messages are.
    pub(super) fn advance(&mut self, p2p: &mut P2p) -> bool {
        let sent = self.send.advance(p2p);
        self.receive.advance(p2p) && sent
    }

    pub(super) fn is_over(&self, p2p: &P2p) -> bool {
        self.send.is_over(p2p) && self.receive.is_over(p2p)
    }

    /// What the message that is received says, if it is over.
    pub(super) fn status(&self, p2p: &P2p) -> Status {
        match &self.receive {
            Activity::Over(outcome) => outcome.status,
            Activity::UnderWay(op) => p2p.peek_status(*op).unwrap_or(Status::EMPTY),
        }
    }

    /// How the receive ended; what went wrong may be an error of the send.
    ///
    /// # Panics
    /// If one of the messages is still under way.
    pub(super) fn into_outcome(self) -> Outcome {
        let (Activity::Over(sent), Activity::Over(received)) = (self.send, self.receive) else {
            panic!("completed before both messages are over");
        };
        Outcome { status: received.status, error: received.error.or(sent.error) }
    }

    /// The messages that are under way: the send, and the receive.
    pub(super) fn under_way(&self) -> [Option<OpKey>; 2] {
        [&self.send, &self.receive].map(|activity| match activity {
            Activity::Over(_) => None,
            Activity::UnderWay(op) => Some(*op),
        })
    }
}

impl Activity {
    fn advance(&mut self, p2p: &mut P2p) -> bool {
        if let Self::UnderWay(op) = self
            && let Some(outcome) = p2p.take_outcome(*op)
        {
            *self = Self::Over(outcome);
        }
        matches!(self, Self::Over(_))
    }

    fn is_over(&self, p2p: &P2p) -> bool {
        match self {
            Self::Over(_) => true,
            Self::UnderWay(op) => p2p.is_done(*op),
        }
    }
}
