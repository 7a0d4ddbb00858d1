//! Messages as most are: of a predefined datatype without gaps, from or for a rank, and begun without waiting.
//!
//! To find out that a call is for such a message takes some comparisons, less than to check the arguments one by one
//! and say what is wrong with them. Where it is not, nothing has been done, and the call goes the general way.

use std::sync::Arc;

use oxmpi_base::Function;
use oxmpi_core::{Communicator, Process};
use oxmpi_mem::Region;

use crate::buffer::Message;
use crate::generated::types::MPI_Comm;
use crate::handle::Held;
use crate::object::comm::{Entry, hold};
use crate::process::{self, Call};

/// What such a call needs, until it returns.
pub struct Plain<'a> {
    /// The process.
    pub process: &'static Process,
    /// The communicator.
    pub comm: &'a Arc<Communicator>,
    /// The message buffer.
    pub region: Region,
    _call: Call,
}

impl<'a> Plain<'a> {
    /// What a call of `function` needs, unless it is to go the general way.
    #[inline(always)]
    pub fn new(
        function: Function,
        message: Message,
        comm: MPI_Comm,
        held: &'a mut Held<Arc<Entry>>,
    ) -> Option<Self> {
        let process = process::running()?;
        let region = message.plain()?;
        let comm = &hold(comm, held)?.core;
        Some(Self { process, comm, region, _call: Call::begin(process, function) })
    }
}
