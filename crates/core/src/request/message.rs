//! Persistent messages: what is sent or received each time that one is started.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests.

use oxmpi_base::Status;
use oxmpi_datatype::Buffer;
use oxmpi_engine::OpKey;

use crate::send_buffer::BufferedRoute;

/// What a persistent send or receive stands for.
#[derive(Debug)]
pub(crate) enum PersistentMessage {
    /// A send by an attached buffer.
    Buffered(Box<BufferedMessage>),
    /// To nobody or from nobody, which ends so at once.
    Nobody(&'static Status),
    /// What the engine has planned.
    Planned(OpKey),
}

/// The arguments of a persistent send by an attached buffer.
#[derive(Debug)]
pub(crate) struct BufferedMessage {
    pub(crate) route: BufferedRoute,
    pub(crate) buffer: Buffer,
}
