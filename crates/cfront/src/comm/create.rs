//! Communicators made and freed.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Constructors; Communicator Destructors.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::{Communicator, Process};

use crate::generated::constants::{
    MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD, MPI_INFO_NULL, MPI_MAX_STRINGTAG_LEN, MPI_UNDEFINED,
};
use crate::generated::types::{MPI_Comm, MPI_Errhandler, MPI_Group, MPI_Info, MPI_Request};
use crate::handle::encode;
use crate::object::comm::freed::keep_errhandler;
use crate::object::comm::indirect::{Failure, on_object};
use crate::object::comm::reserved::Reserved;
use crate::object::comm::{COMMUNICATORS, Entry, by_argument, find, on_comm};
use crate::object::info::{self, Info};
use crate::object::{attributes, group};
use crate::pointer::{InOut, Out, short_bytes};

/// `MPI_Comm_dup`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_dup(function: Function, comm: MPI_Comm, newcomm: *mut MPI_Comm) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { comm_dup_with_info(function, comm, MPI_INFO_NULL, newcomm) }
}

/// `MPI_Comm_dup_with_info`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_dup_with_info(
    function: Function,
    comm: MPI_Comm,
    hints: MPI_Info,
    newcomm: *mut MPI_Comm,
) -> c_int {
    on_comm(function, comm, |process, entry| {
        let hints = info::hints("info", hints)?;
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("newcomm", newcomm) }?;
        let new = Reserved::child(entry, &hints).name(process.comm_dup(&entry.core)?);
        if let Err(error) = attributes::copy_all(comm, new) {
            // Everybody frees it here or by `MPI_Comm_free`.
            let core = COMMUNICATORS.remove(new).map(|entry| Arc::clone(&entry.core));
            core.map_or(Ok(()), |core| process.comm_free(core))?;
            return Err(error);
        }
        out.set(new);
        Ok(())
    })
}

/// `MPI_Comm_idup`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_idup(
    function: Function,
    comm: MPI_Comm,
    newcomm: *mut MPI_Comm,
    request: *mut MPI_Request,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { comm_idup_with_info(function, comm, MPI_INFO_NULL, newcomm, request) }
}

/// `MPI_Comm_idup_with_info`: attributes are copied now, and the handle names nothing but an error handler before
/// the communicator is made.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_idup_with_info(
    function: Function,
    comm: MPI_Comm,
    hints: MPI_Info,
    newcomm: *mut MPI_Comm,
    request: *mut MPI_Request,
) -> c_int {
    on_comm(function, comm, |process, entry| {
        let hints = info::hints("info", hints)?;
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("newcomm", newcomm) }?;
        // SAFETY: the caller's promise.
        let request = unsafe { Out::new("request", request) }?;
        let reserved = Reserved::child(entry, &hints);
        let handle = reserved.announce();
        if let Err(error) = attributes::copy_all(comm, handle) {
            process.comm_idup_for_others(&entry.core)?;
            return Err(error);
        }
        let key = process.comm_idup(&entry.core, move |core| {
            reserved.name(core);
        })?;
        out.set(handle);
        request.set(encode(key));
        Ok(())
    })
}

/// A constructor whose communicator not everybody becomes a member of.
///
/// # Safety
/// `newcomm` is null or valid for writes.
pub(super) unsafe fn make(
    function: Function,
    comm: MPI_Comm,
    newcomm: *mut MPI_Comm,
    construct: impl FnOnce(&Process, &Arc<Entry>) -> Result<(Option<Arc<Communicator>>, Info)>,
) -> c_int {
    on_comm(function, comm, |process, parent| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("newcomm", newcomm) }?;
        let (made, hints) = construct(process, parent)?;
        out.set(match made {
            None => MPI_COMM_NULL,
            Some(core) => Reserved::child(parent, &hints).name(core),
        });
        Ok(())
    })
}

/// `MPI_Comm_create`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_create(
    function: Function,
    comm: MPI_Comm,
    group: MPI_Group,
    newcomm: *mut MPI_Comm,
) -> c_int {
    let construct = |process: &Process, parent: &Arc<Entry>| {
        let group = group::find("group", group)?;
        Ok((process.comm_create(&parent.core, &group)?, Info::default()))
    };
    // SAFETY: the caller's promise.
    unsafe { make(function, comm, newcomm, construct) }
}

/// `MPI_Comm_create_group`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_create_group(
    function: Function,
    comm: MPI_Comm,
    group: MPI_Group,
    tag: c_int,
    newcomm: *mut MPI_Comm,
) -> c_int {
    let construct = |process: &Process, parent: &Arc<Entry>| {
        let group = group::find("group", group)?;
        Ok((process.comm_create_group(&parent.core, &group, tag)?, Info::default()))
    };
    // SAFETY: the caller's promise.
    unsafe { make(function, comm, newcomm, construct) }
}

/// `MPI_Comm_split`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_split(
    function: Function,
    comm: MPI_Comm,
    color: c_int,
    key: c_int,
    newcomm: *mut MPI_Comm,
) -> c_int {
    let construct = |process: &Process, parent: &Arc<Entry>| {
        let color = (color != MPI_UNDEFINED).then_some(color);
        Ok((process.comm_split(&parent.core, color, key)?, Info::default()))
    };
    // SAFETY: the caller's promise.
    unsafe { make(function, comm, newcomm, construct) }
}

/// `MPI_Comm_create_from_group`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_create_from_group(
    function: Function,
    group: MPI_Group,
    stringtag: *const c_char,
    hints: MPI_Info,
    errhandler: MPI_Errhandler,
    newcomm: *mut MPI_Comm,
) -> c_int {
    by_argument(function, errhandler, |process| {
        let group::Entry { group, origin } = group::find_entry("group", group)?;
        // SAFETY: the caller's promise.
        let tag = unsafe { short_bytes("stringtag", stringtag, MPI_MAX_STRINGTAG_LEN) }?;
        let hints = info::hints("info", hints)?;
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("newcomm", newcomm) }?;
        if group.size() == 0 {
            out.set(MPI_COMM_NULL);
            return Ok(());
        }
        let reserved = Reserved::orphan(errhandler, origin, &hints);
        out.set(reserved.name(process.comm_create_from_group(&group, &tag)?));
        Ok(())
    })
}

/// `MPI_Comm_free`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_free(function: Function, comm: *mut MPI_Comm) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { free_after(function, comm, |_, _| {}) }
}

/// `MPI_Comm_disconnect`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_disconnect(function: Function, comm: *mut MPI_Comm) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { free_after(function, comm, Process::comm_complete) }
}

/// Frees a communicator that may be freed, when it is `settled`.
///
/// # Safety
/// `comm` is null or valid for reads and writes.
unsafe fn free_after(
    function: Function,
    comm: *mut MPI_Comm,
    settled: impl FnOnce(&Process, &Arc<Communicator>),
) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let comm = unsafe { InOut::new("comm", comm) }?;
        let handle = comm.get();
        let core = Arc::clone(&find("comm", handle)?.core);
        if handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF {
            let refused = process.comm_free(Arc::clone(&core));
            return refused.map_err(|error| Failure { error, comm: Some(core) });
        }
        settled(process, &core);
        attributes::delete_all(handle).map_err(|error| Failure { error, comm: Some(Arc::clone(&core)) })?;
        comm.set(MPI_COMM_NULL);
        let errhandler = COMMUNICATORS.remove(handle).map(|entry| Arc::clone(&entry.errhandler));
        let freed = Arc::downgrade(&core);
        process.comm_free(core)?;
        if let Some(errhandler) = errhandler {
            keep_errhandler(freed, errhandler);
        }
        Ok(())
    })
}
