//! MPI-5.0: Collective Communication, Gather-to-all.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_plan::{Collective, Shape};

use super::{Operation, Side, block, check_own, inter, shape_of_moving};
use crate::comm::Communicator;
use crate::process::Process;

/// What everybody has in `send`, everybody gets in `recv`, whole: block by block in the order of the ranks.
///
/// # Errors
/// `Truncate`, `Count` if a rank's blocks to and from itself differ in length.
#[inline]
pub fn allgather(_: &Process, comm: &Arc<Communicator>, send: Side, recv: Buffer) -> Result<Operation> {
    if comm.is_inter() {
        return between(comm, send, recv);
    }
    let in_place = matches!(send, Side::InPlace);
    let send = match send {
        Side::Buffer(send) => send,
        Side::InPlace => block(&recv, comm.rank(), comm.size()),
    };
    check_own(comm, send.bytes(), recv.bytes() / u64::from(comm.size()))?;
    let shape = shape_of_moving(comm, Collective::Allgather, send.bytes());
    Operation::moving(shape, send, recv, in_place)
}

fn between(comm: &Communicator, send: Side, recv: Buffer) -> Result<Operation> {
    let send = inter::not_in_place(send)?;
    let shape = Shape {
        received: inter::block(comm, &recv),
        ..inter::shape(comm, Collective::Allgather, send.bytes())
    };
    inter::moving(shape, send, recv)
}
