//! Communicators: what they are asked, and their constructors.
//!
//! Those made of other communicators are in `create` and `split_type`.
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Management.

mod create;
mod split_type;

use std::ffi::{OsStr, c_int};
use std::os::unix::ffi::OsStrExt;

use oxmpi_base::Function;

use crate::argument::{Out, TextIn, TextOut};
use crate::failure::at_any_time;
use crate::generated::constants::{MPI_COMM_NULL, MPI_INFO_NULL};
use crate::generated::types::{MPI_Comm, MPI_Group, MPI_Info};
use crate::group::comparison;
use crate::handle::bad_handle;
use crate::object::comm::{find, on_comm, on_comm_called};
use crate::object::{group, info};

pub use self::create::{
    comm_create, comm_create_from_group, comm_create_group, comm_disconnect, comm_dup, comm_dup_with_info,
    comm_free, comm_idup, comm_idup_with_info, comm_split,
};
pub use self::split_type::{comm_split_type, get_hw_resource_info};

/// `MPI_Comm_size`.
pub fn comm_size(function: Function, comm: MPI_Comm, size: Out<c_int>) -> c_int {
    on_comm(function, comm, |_, comm| {
        size.named("size")?.set(comm.core.size().cast_signed());
        Ok(())
    })
}

/// `MPI_Comm_rank`.
pub fn comm_rank(function: Function, comm: MPI_Comm, rank: Out<c_int>) -> c_int {
    on_comm(function, comm, |_, comm| {
        rank.named("rank")?.set(comm.core.rank().cast_signed());
        Ok(())
    })
}

/// `MPI_Comm_group`.
pub fn comm_group(function: Function, comm: MPI_Comm, group: Out<MPI_Group>) -> c_int {
    on_comm(function, comm, |_, comm| {
        group.named("group")?.set(group::adopt(comm.core.group(), comm.origin));
        Ok(())
    })
}

/// `MPI_Comm_compare`.
pub fn comm_compare(function: Function, comm1: MPI_Comm, comm2: MPI_Comm, result: Out<c_int>) -> c_int {
    on_comm_called("comm1", function, comm1, |_, first| {
        let second = find("comm2", comm2)?;
        result.named("result")?.set(comparison(first.core.compare(&second.core)));
        Ok(())
    })
}

/// `MPI_Comm_get_name`.
pub fn comm_get_name(function: Function, comm: MPI_Comm, comm_name: TextOut, resultlen: Out<c_int>) -> c_int {
    let write = |name: &OsStr| {
        comm_name.with_length("comm_name", resultlen)?.set_bytes(name.as_bytes());
        Ok(())
    };
    if comm == MPI_COMM_NULL {
        return at_any_time(function, || write(OsStr::new("MPI_COMM_NULL")));
    }
    on_comm(function, comm, |_, comm| write(&comm.core.name()))
}

/// `MPI_Comm_set_name`.
pub fn comm_set_name(function: Function, comm: MPI_Comm, comm_name: TextIn) -> c_int {
    on_comm(function, comm, |_, comm| {
        comm.core.set_name(OsStr::from_bytes(&comm_name.bytes("comm_name")?));
        Ok(())
    })
}

/// `MPI_Comm_set_info`: hints that are not known are ignored.
pub fn comm_set_info(function: Function, comm: MPI_Comm, hints: MPI_Info) -> c_int {
    on_comm(function, comm, |_, comm| {
        if hints == MPI_INFO_NULL {
            return Err(bad_handle("info", hints));
        }
        comm.core.hints().update(&info::hints("info", hints)?);
        Ok(())
    })
}

/// `MPI_Comm_get_info`: all hints that are known, those of the program's and the defaults.
pub fn comm_get_info(function: Function, comm: MPI_Comm, info_used: Out<MPI_Info>) -> c_int {
    on_comm(function, comm, |_, comm| {
        info_used.named("info_used")?.set(info::insert(comm.core.hints().to_info()));
        Ok(())
    })
}
