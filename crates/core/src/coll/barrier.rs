//! MPI-5.0: Collective Communication, Barrier Synchronization.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_plan::{Collective, Nodes, Shape};

use super::inter;
use super::operation::{Operation, shape_of_moving};
use crate::comm::Communicator;
use crate::process::Process;

/// Nobody leaves before everybody has come.
///
/// # Errors
/// None yet.
#[inline(always)] // as in allreduce
pub fn barrier(_: &Process, comm: &Arc<Communicator>) -> Result<Operation> {
    if comm.is_inter() {
        return between(comm);
    }
    let shape = shape_of_moving(comm, Collective::Barrier, 0);
    Operation::moving(shape, Buffer::EMPTY, Buffer::EMPTY, false)
}

/// The same on a communicator that has no lines.
pub(crate) fn barrier_by_messages(comm: &Communicator) -> Result<Operation> {
    let shape = Shape { nodes: Nodes::APART, ..shape_of_moving(comm, Collective::Barrier, 0) };
    Operation::moving(shape, Buffer::EMPTY, Buffer::EMPTY, false)
}

fn between(comm: &Communicator) -> Result<Operation> {
    inter::moving(inter::shape(comm, Collective::Barrier, 0), Buffer::EMPTY, Buffer::EMPTY)
}
