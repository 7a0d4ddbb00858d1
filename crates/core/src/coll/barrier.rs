//! MPI-5.0: Collective Communication, Barrier Synchronization.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_engine::Program;
use oxmpi_plan::{Collective, Nodes, Overrides, Shape, compile};

use super::case::Case;
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

/// The same on a communicator that has no lines, by what all ranks know of the machine from the start: some may have
/// met other jobs, and so the prices of a network, and others not.
pub(crate) fn barrier_by_messages(comm: &Communicator) -> Result<Operation> {
    let shape = Shape { nodes: Nodes::APART, ..shape_of_moving(comm, Collective::Barrier, 0) };
    let plan = compile(&shape, comm.rank(), false, &Overrides::default());
    let call = Case { shape, in_place: false }.call(comm.rank());
    Operation::planned(Program::new(plan, call), Buffer::EMPTY, Buffer::EMPTY)
}

fn between(comm: &Communicator) -> Result<Operation> {
    inter::moving(inter::shape(comm, Collective::Barrier, 0), Buffer::EMPTY, Buffer::EMPTY)
}
