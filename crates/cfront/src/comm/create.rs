//! Communicators made and freed.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Constructors; Communicator Destructors.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::info::Info;
use oxmpi_core::{Communicator, Process};

use crate::argument::{InOut, Out, TextIn};
use crate::generated::constants::{
    MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD, MPI_INFO_NULL, MPI_MAX_STRINGTAG_LEN, MPI_UNDEFINED,
};
use crate::generated::types::{MPI_Comm, MPI_Errhandler, MPI_Group, MPI_Info, MPI_Request};
use crate::handle::encode;
use crate::object::comm::freed::keep_errhandler;
use crate::object::comm::indirect::{Failure, on_object};
use crate::object::comm::reserved::{Reserved, clear_failed};
use crate::object::comm::{COMMUNICATORS, Entry, by_argument, find, on_comm};
use crate::object::info;
use crate::object::{attributes, group};

/// `MPI_Comm_dup`.
pub fn comm_dup(function: Function, comm: MPI_Comm, newcomm: Out<MPI_Comm>) -> c_int {
    comm_dup_with_info(function, comm, MPI_INFO_NULL, newcomm)
}

/// `MPI_Comm_dup_with_info`.
pub fn comm_dup_with_info(
    function: Function,
    comm: MPI_Comm,
    hints: MPI_Info,
    newcomm: Out<MPI_Comm>,
) -> c_int {
    on_comm(function, comm, |process, entry| {
        let hints = info::hints("info", hints)?;
        let out = newcomm.named("newcomm")?;
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
pub fn comm_idup(
    function: Function,
    comm: MPI_Comm,
    newcomm: Out<MPI_Comm>,
    request: Out<MPI_Request>,
) -> c_int {
    comm_idup_with_info(function, comm, MPI_INFO_NULL, newcomm, request)
}

/// `MPI_Comm_idup_with_info`: attributes are copied now, and the handle names nothing but an error handler before
/// the communicator is made.
pub fn comm_idup_with_info(
    function: Function,
    comm: MPI_Comm,
    hints: MPI_Info,
    newcomm: Out<MPI_Comm>,
    request: Out<MPI_Request>,
) -> c_int {
    on_comm(function, comm, |process, entry| {
        let hints = info::hints("info", hints)?;
        let out = newcomm.named("newcomm")?;
        let request = request.named("request")?;
        let reserved = Reserved::child(entry, &hints);
        let handle = reserved.announce();
        // The delete callbacks ask about the duplicate, which would have been like its parent.
        if let Err(error) = attributes::copy_all_to_nameless(comm, handle, || reserved.stand_for(&entry.core))
        {
            COMMUNICATORS.remove(handle);
            process.comm_idup_for_others(&entry.core)?;
            return Err(error);
        }
        let begun = process.comm_idup(&entry.core, move |core| {
            reserved.name(core);
        });
        let key = begun.inspect_err(|_| clear_failed())?;
        out.set(handle);
        request.set(encode(key));
        Ok(())
    })
}

/// A constructor whose communicator not everybody becomes a member of.
pub(super) fn make(
    function: Function,
    comm: MPI_Comm,
    newcomm: Out<MPI_Comm>,
    construct: impl FnOnce(&Process, &Arc<Entry>) -> Result<(Option<Arc<Communicator>>, Info)>,
) -> c_int {
    on_comm(function, comm, |process, parent| {
        let out = newcomm.named("newcomm")?;
        let (made, hints) = construct(process, parent)?;
        out.set(match made {
            None => MPI_COMM_NULL,
            Some(core) => Reserved::child(parent, &hints).name(core),
        });
        Ok(())
    })
}

/// `MPI_Comm_create`.
pub fn comm_create(function: Function, comm: MPI_Comm, group: MPI_Group, newcomm: Out<MPI_Comm>) -> c_int {
    let construct = |process: &Process, parent: &Arc<Entry>| {
        let group = group::find("group", group)?;
        Ok((process.comm_create(&parent.core, &group)?, Info::default()))
    };
    make(function, comm, newcomm, construct)
}

/// `MPI_Comm_create_group`.
pub fn comm_create_group(
    function: Function,
    comm: MPI_Comm,
    group: MPI_Group,
    tag: c_int,
    newcomm: Out<MPI_Comm>,
) -> c_int {
    let construct = |process: &Process, parent: &Arc<Entry>| {
        let group = group::find("group", group)?;
        Ok((process.comm_create_group(&parent.core, &group, tag)?, Info::default()))
    };
    make(function, comm, newcomm, construct)
}

/// `MPI_Comm_split`.
pub fn comm_split(
    function: Function,
    comm: MPI_Comm,
    color: c_int,
    key: c_int,
    newcomm: Out<MPI_Comm>,
) -> c_int {
    let construct = |process: &Process, parent: &Arc<Entry>| {
        let color = (color != MPI_UNDEFINED).then_some(color);
        Ok((process.comm_split(&parent.core, color, key)?, Info::default()))
    };
    make(function, comm, newcomm, construct)
}

/// `MPI_Comm_create_from_group`.
pub fn comm_create_from_group(
    function: Function,
    group: MPI_Group,
    stringtag: TextIn,
    hints: MPI_Info,
    errhandler: MPI_Errhandler,
    newcomm: Out<MPI_Comm>,
) -> c_int {
    by_argument(function, errhandler, |process| {
        let group::Entry { group, origin } = group::find_entry("group", group)?;
        let tag = stringtag.short_bytes("stringtag", MPI_MAX_STRINGTAG_LEN)?;
        let hints = info::hints("info", hints)?;
        let out = newcomm.named("newcomm")?;
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
pub fn comm_free(function: Function, comm: InOut<MPI_Comm>) -> c_int {
    free_as(function, comm, End::Free)
}

/// `MPI_Comm_disconnect`.
pub fn comm_disconnect(function: Function, comm: InOut<MPI_Comm>) -> c_int {
    free_as(function, comm, End::Disconnect)
}

/// How a communicator ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Disconnect,
    Free,
}

/// Ends a communicator that may be freed.
fn free_as(function: Function, comm: InOut<MPI_Comm>, end: End) -> c_int {
    on_object(function, |process| {
        let comm = comm.named("comm")?;
        let handle = comm.get();
        let core = Arc::clone(&find("comm", handle)?.core);
        if handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF {
            let refused = process.comm_free(Arc::clone(&core));
            return refused.map_err(|error| Failure::on(Some(core), error));
        }
        if end == End::Disconnect {
            process.comm_complete(&core);
        }
        attributes::delete_all(handle).map_err(|error| Failure::on(Some(Arc::clone(&core)), error))?;
        if end == End::Disconnect {
            process.comm_part(&core);
        }
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
