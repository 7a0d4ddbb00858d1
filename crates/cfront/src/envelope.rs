//! Whom a message is for or from, as C says it, and what functions that make requests for messages have in common.
//!
//! MPI-5.0: Point-to-Point Communication, Message Envelope.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::Function;
use oxmpi_base::Result;
use oxmpi_core::{Dest, Process, RequestKey, Source, TagPattern};
use oxmpi_datatype::Buffer;

use crate::argument::Out;
use crate::buffer::{Message, PLAIN};
use crate::generated::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL};
use crate::generated::types::{MPI_Comm, MPI_Request};
use crate::handle::encode;
use crate::object::comm::{Entry, on_comm};

/// The destination that an argument names.
#[inline]
pub fn destination(dest: c_int) -> Dest {
    if dest == MPI_PROC_NULL { Dest::Null } else { Dest::Rank(dest) }
}

/// The source that an argument names.
#[inline]
pub fn origin(source: c_int) -> Source {
    match source {
        MPI_ANY_SOURCE => Source::Any,
        MPI_PROC_NULL => Source::Null,
        rank => Source::Rank(rank),
    }
}

/// The tags that an argument stands for.
#[inline]
pub fn pattern(tag: c_int) -> TagPattern {
    if tag == MPI_ANY_TAG { TagPattern::Any } else { TagPattern::Tag(tag) }
}

/// A function that makes a request.
#[inline]
pub fn make_request(
    function: Function,
    message: Message,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
    begin: impl FnOnce(&Process, &Arc<Entry>, Buffer) -> Result<RequestKey>,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let buffer = message.named(&PLAIN).buffer()?;
        let request = request.named("request")?;
        request.set(encode(begin(process, comm, buffer)?));
        Ok(())
    })
}
