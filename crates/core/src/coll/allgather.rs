//! MPI-5.0: Collective Communication, Gather-to-all.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_plan::Collective;

use super::{Operation, Side, block, shape_of_moving};
use crate::comm::Communicator;
use crate::process::Process;

/// What everybody has in `send`, everybody gets in `recv`, whole: block by block in the order of the ranks.
///
/// # Errors
/// None yet.
#[inline]
pub fn allgather(_: &Process, comm: &Arc<Communicator>, send: Side, recv: Buffer) -> Result<Operation> {
    let in_place = matches!(send, Side::InPlace);
    let send = match send {
        Side::Buffer(send) => send,
        Side::InPlace => block(&recv, comm.rank(), comm.size()),
    };
    let shape = shape_of_moving(comm, Collective::Allgather, send.bytes());
    Ok(Operation::moving(shape, send, recv, in_place))
}
