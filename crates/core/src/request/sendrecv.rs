//! Nonblocking send-receives: one request for two messages.
//!
//! MPI-5.0: Point-to-Point Communication, Send-Receive.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;

use super::send_receive::SendReceive;
use super::{Kind, RequestKey};
use crate::comm::Communicator;
use crate::envelope::{Dest, SendMode, Source, TagPattern, checked_tag};
use crate::process::Process;

impl Process {
    /// Begins to send one message and to receive another.
    ///
    /// # Errors
    /// `Rank`, `Tag` for bad arguments; `NoMem` if there is no memory for another request.
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
        state.check_memory_for_message()?;
        let receive = state.begin_receive(comm, pattern, recv);
        let sent = to.and_then(|to| state.begin_send(comm, send, to, send_tag, SendMode::Standard));
        let key = match sent {
            None => state.add_message(receive, comm),
            Some(op) => {
                let messages = Box::new(SendReceive::new(op, receive));
                state.add_request(Kind::SendReceive(messages), comm)
            }
        };
        self.leave_to_thread(state, [key]);
        Ok(key)
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
        state.check_memory_for_message()?;
        if let Some(to) = to {
            // The copy is sent at its own pace; nobody but the request needs the buffer.
            state.engine.p2p.send_copy(to, comm.rank().cast_signed(), send_tag, &buffer);
        }
        let receive = state.begin_receive(comm, pattern, buffer);
        let key = state.add_message(receive, comm);
        self.leave_to_thread(state, [key]);
        Ok(key)
    }
}
