//! MPI-5.0: Collective Communication, Gather-to-all.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_plan::Collective;

use super::{Operation, Side, block};
use crate::comm::Communicator;
use crate::process::Process;

/// What everybody has in `send`, everybody gets in `recv`, whole: block by block in the order of the ranks.
///
/// # Errors
/// None yet.
pub fn allgather(_: &Process, comm: &Arc<Communicator>, send: Side, recv: Buffer) -> Result<Operation> {
    let in_place = matches!(send, Side::InPlace);
    let send = match send {
        Side::Buffer(send) => send,
        Side::InPlace => block(&recv, comm.rank(), comm.size()),
    };
    let operation = Operation::moving(comm, Collective::Allgather, send.bytes());
    Ok(operation.bind(send, recv).in_place(in_place))
}
