//! MPI-5.0: Collective Communication, All-to-All Scatter/Gather.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_plan::{Collective, Shape};

use super::{Operation, Side, check_own, inter, shape_of_moving};
use crate::comm::Communicator;
use crate::process::Process;

/// The block of rank `i` in `send` goes to rank `i`, which gets it as the block of this rank in its `recv`.
/// Both buffers are whole.
///
/// # Errors
/// `Truncate`, `Count` if a rank's blocks to and from itself differ in length.
#[inline]
pub fn alltoall(_: &Process, comm: &Arc<Communicator>, send: Side, recv: Buffer) -> Result<Operation> {
    if comm.is_inter() {
        return between(comm, send, recv);
    }
    let in_place = matches!(send, Side::InPlace);
    let send = if let Side::Buffer(send) = send { send } else { recv.clone() };
    check_own(comm, send.bytes() / u64::from(comm.size()), recv.bytes() / u64::from(comm.size()))?;
    let shape = shape_of_moving(comm, Collective::Alltoall, send.bytes() / u64::from(comm.size()));
    Operation::moving(shape, send, recv, in_place)
}

fn between(comm: &Communicator, send: Side, recv: Buffer) -> Result<Operation> {
    let send = inter::not_in_place(send)?;
    let sent = inter::block(comm, &send);
    let shape =
        Shape { received: inter::block(comm, &recv), ..inter::shape(comm, Collective::Alltoall, sent) };
    inter::moving(shape, send, recv)
}
