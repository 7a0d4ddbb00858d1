//! Whom a message is for or from, as C says it, and what functions that make requests for messages have in common.
//!
//! MPI-5.0: Point-to-Point Communication, Message Envelope.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::Function;
use oxmpi_base::Result;
use oxmpi_core::{Dest, Process, RequestKey, Source, TagPattern};
use oxmpi_datatype::Buffer;

use crate::buffer::Arguments;
use crate::generated::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL};
use crate::generated::types::{MPI_Comm, MPI_Request};
use crate::handle::encode;
use crate::object::comm::{Entry, on_comm};
use crate::pointer::Out;

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
///
/// # Safety
/// The buffer is as [`Arguments::buffer`] says; `request` is null or valid for writes.
#[inline]
pub unsafe fn make_request(
    function: Function,
    arguments: Arguments,
    comm: MPI_Comm,
    request: *mut MPI_Request,
    begin: impl FnOnce(&Process, &Arc<Entry>, Buffer) -> Result<RequestKey>,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        // SAFETY: the caller's promise.
        let buffer = unsafe { arguments.buffer() }?;
        // SAFETY: the caller's promise.
        let request = unsafe { Out::new("request", request) }?;
        request.set(encode(begin(process, comm, buffer)?));
        Ok(())
    })
}
