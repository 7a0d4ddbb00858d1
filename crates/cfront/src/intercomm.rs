//! Intercommunicators.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Inter-Communication.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Group, Party, RemoteLeader};

use crate::argument::{Out, TextIn};
use crate::generated::constants::{MPI_COMM_NULL, MPI_GROUP_EMPTY, MPI_MAX_STRINGTAG_LEN};
use crate::generated::types::{MPI_Comm, MPI_Errhandler, MPI_Group, MPI_Info};
use crate::object::comm;
use crate::object::comm::reserved::{Reserved, adopt};
use crate::object::comm::{by_argument, on_comm, on_comm_called};
use crate::object::{group, info};

/// `MPI_Comm_test_inter`.
pub fn comm_test_inter(function: Function, comm: MPI_Comm, flag: Out<c_int>) -> c_int {
    on_comm(function, comm, |_, comm| {
        flag.named("flag")?.set(comm.core.is_inter().into());
        Ok(())
    })
}

/// `MPI_Comm_remote_size`.
pub fn comm_remote_size(function: Function, comm: MPI_Comm, size: Out<c_int>) -> c_int {
    on_comm(function, comm, |_, comm| {
        let group = remote_group(comm)?;
        size.named("size")?.set(group.size().cast_signed());
        Ok(())
    })
}

/// `MPI_Comm_remote_group`.
pub fn comm_remote_group(function: Function, comm: MPI_Comm, group: Out<MPI_Group>) -> c_int {
    on_comm(function, comm, |_, comm| {
        let remote = remote_group(comm)?;
        group.named("group")?.set(group::adopt(remote, comm.origin));
        Ok(())
    })
}

fn remote_group(comm: &comm::Entry) -> Result<Group> {
    let intra = || Error::new(ErrorClass::Comm, "comm is an intra-communicator, which has no remote group");
    comm.core.remote_group().ok_or_else(intra)
}

/// `MPI_Intercomm_create`: `peer_comm`, `remote_leader` and `tag` count at the local leader only.
pub fn intercomm_create(
    function: Function,
    local_comm: MPI_Comm,
    local_leader: c_int,
    peer_comm: MPI_Comm,
    remote_leader: c_int,
    tag: c_int,
    newintercomm: Out<MPI_Comm>,
) -> c_int {
    on_comm_called("local_comm", function, local_comm, |process, local| {
        let out = newintercomm.named("newintercomm")?;
        let remote = comm::find("peer_comm", peer_comm).map(|peer| RemoteLeader {
            peer_comm: Arc::clone(&peer.core),
            rank: remote_leader,
            tag,
        });
        if local.core.is_inter() {
            return Err(Error::new(ErrorClass::Comm, "local_comm is an intercommunicator"));
        }
        let made = process.intercomm_create(&local.core, local_leader, remote)?;
        out.set(adopt(made, local));
        Ok(())
    })
}

/// `MPI_Intercomm_create_from_groups`: `remote_group` and `remote_leader` count at the local leader only. But the empty
/// group, wherever it is passed, makes the call a local one that makes nothing.
#[expect(clippy::too_many_arguments, reason = "the arguments of the standard")]
pub fn intercomm_create_from_groups(
    function: Function,
    local_group: MPI_Group,
    local_leader: c_int,
    remote_group: MPI_Group,
    remote_leader: c_int,
    stringtag: TextIn,
    hints: MPI_Info,
    errhandler: MPI_Errhandler,
    newintercomm: Out<MPI_Comm>,
) -> c_int {
    by_argument(function, errhandler, |process| {
        let group::Entry { group: local, origin } = group::find_entry("local_group", local_group)?;
        let remote = group::find("remote_group", remote_group);
        let tag = stringtag.short_bytes("stringtag", MPI_MAX_STRINGTAG_LEN)?;
        let hints = info::hints("info", hints)?;
        let out = newintercomm.named("newintercomm")?;
        if local_group == MPI_GROUP_EMPTY || remote_group == MPI_GROUP_EMPTY {
            out.set(MPI_COMM_NULL);
            return Ok(());
        }
        let reserved = Reserved::orphan(errhandler, origin, &hints);
        let local = Party { group: local, leader: local_leader };
        let remote = remote.map(|group| Party { group, leader: remote_leader });
        out.set(reserved.name(process.intercomm_create_from_groups(&local, remote, &tag)?));
        Ok(())
    })
}

/// `MPI_Intercomm_merge`.
pub fn intercomm_merge(
    function: Function,
    intercomm: MPI_Comm,
    high: c_int,
    newintracomm: Out<MPI_Comm>,
) -> c_int {
    on_comm_called("intercomm", function, intercomm, |process, comm| {
        let out = newintracomm.named("newintracomm")?;
        let made = process.intercomm_merge(&comm.core, high != 0)?;
        out.set(adopt(made, comm));
        Ok(())
    })
}
