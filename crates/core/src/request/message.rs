//! Persistent messages that the engine does not plan: what is sent or received each time that one is started.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests.

use oxmpi_base::Status;
use oxmpi_datatype::Buffer;

use crate::send_buffer::BufferedRoute;

/// What such a persistent send or receive stands for. It is over when it is started.
#[derive(Debug)]
pub(crate) enum PersistentMessage {
    /// A send by an attached buffer.
    Buffered(Box<BufferedMessage>),
    /// To nobody or from nobody, which ends so.
    Nobody(&'static Status),
}

/// The arguments of a persistent send by an attached buffer.
#[derive(Debug)]
pub(crate) struct BufferedMessage {
    pub(crate) route: BufferedRoute,
    pub(crate) buffer: Buffer,
}

impl PersistentMessage {
    /// How it ends.
    pub(super) fn status(&self) -> Status {
        match self {
            Self::Buffered(_) => Status::EMPTY,
            Self::Nobody(status) => **status,
        }
    }
}
