//! MPI-5.0: Collective Communication, Broadcast.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_plan::{self as plan, Collective};

use super::inter;
use super::operation::{Operation, Root, shape_of_moving};
use crate::comm::Communicator;
use crate::process::Process;

/// What the root has in `buffer`, everybody gets.
///
/// # Errors
/// `Root` if `root` is not a rank of the communicator.
#[inline(always)] // as in allreduce
pub fn bcast(_: &Process, comm: &Arc<Communicator>, buffer: Buffer, root: Root) -> Result<Operation> {
    if comm.is_inter() {
        return between(comm, buffer, root);
    }
    let root = comm.root(root)?;
    let shape = shape_of_moving(comm, Collective::Bcast, buffer.bytes()).rooted(plan::Root::Rank(root));
    Operation::moving(shape, Buffer::EMPTY, buffer, false)
}

fn between(comm: &Communicator, buffer: Buffer, root: Root) -> Result<Operation> {
    let root = inter::root_of(comm, root)?;
    let shape = inter::shape(comm, Collective::Bcast, buffer.bytes()).rooted(root);
    inter::moving(shape, Buffer::EMPTY, buffer)
}
