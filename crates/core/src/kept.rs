//! Messages that matched probes have taken, and that are received by their numbers.
//!
//! MPI-5.0: Point-to-Point Communication, Matching Probe.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result, Status};
use oxmpi_datatype::Buffer;
use oxmpi_engine::{Key, Message, P2p, Pattern, Received, Slab};

use crate::comm::Communicator;

/// The number of a message that a matched probe has taken.
pub type MessageKey = Key<KeptMessage>;

/// A message that a matched probe has taken, and the communicator it came by.
#[derive(Debug)]
pub struct KeptMessage {
    message: Message,
    comm: Arc<Communicator>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct KeptMessages(Slab<KeptMessage>);

impl KeptMessages {
    pub(crate) fn new() -> Self {
        Self(Slab::new())
    }

    /// Takes a message of `comm` that matches, if one is there.
    pub(crate) fn take(
        &mut self,
        p2p: &mut P2p,
        comm: &Arc<Communicator>,
        pattern: &Pattern,
    ) -> Option<(Status, MessageKey)> {
        let message = p2p.take_message(comm.context, pattern)?;
        let (source, tag, bytes) = message.envelope();
        let key = self.0.insert(KeptMessage { message, comm: Arc::clone(comm) });
        Some((Status { source, tag, bytes, ..Status::EMPTY }, key))
    }

    /// Receives a message, which is kept no longer.
    ///
    /// # Errors
    /// `Request` if there is no such message.
    pub(crate) fn receive(
        &mut self,
        p2p: &mut P2p,
        message: MessageKey,
        buffer: Buffer,
    ) -> Result<(Received, Arc<Communicator>)> {
        let Some(kept) = self.0.remove(message) else {
            return Err(Error::new(ErrorClass::Request, "the message handle names no message"));
        };
        Ok((p2p.receive_message(kept.message, buffer), kept.comm))
    }

    /// The communicator by which a message came.
    pub(crate) fn comm(&self, message: MessageKey) -> Option<Arc<Communicator>> {
        self.0.get(message).map(|kept| Arc::clone(&kept.comm))
    }

    /// Refuses all: nobody is going to receive them.
    pub(crate) fn refuse_all(&mut self, p2p: &mut P2p) {
        let taken: Vec<_> = self.0.entries().map(|(key, _)| key).collect();
        for kept in taken.into_iter().filter_map(|key| self.0.remove(key)) {
            p2p.refuse(kept.message);
        }
    }
}
