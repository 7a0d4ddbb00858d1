//! Persistent messages: what is sent or received each time that one is started.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests.

use oxmpi_datatype::Buffer;
use oxmpi_engine::{Address, Pattern};

use crate::envelope::SendMode;
use crate::send_buffer::BufferedRoute;

/// The arguments of a persistent send or receive.
#[derive(Debug)]
pub(crate) enum PersistentMessage {
    BufferedSend { route: Option<BufferedRoute>, buffer: Buffer },
    Receive { pattern: Option<Pattern>, buffer: Buffer },
    Send { to: Option<Address>, tag: i32, buffer: Buffer, mode: SendMode },
}
