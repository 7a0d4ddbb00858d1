//! MPI-5.0: Collective Communication, All-Reduce.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_op::Reducer;
use oxmpi_plan::Collective;

use super::image::Which;
use super::inter;
use super::operation::{Operation, Side, shape_of_reducing};
use crate::comm::Communicator;
use crate::process::Process;

/// What everybody has in `send`, combined in the order of the ranks, everybody gets in `recv`.
///
/// # Errors
/// `Type` if a single element is too long to combine.
#[inline(always)] // a move of the result costs as much as making it
pub fn allreduce(
    process: &Process,
    comm: &Arc<Communicator>,
    send: Side,
    recv: Buffer,
    reducer: Reducer,
) -> Result<Operation> {
    if comm.is_inter() {
        return between(process, comm, send, recv, reducer);
    }
    let shape = shape_of_reducing(comm, Collective::Allreduce, recv.bytes(), &reducer)?;
    Operation::reducing(process, shape, send, recv, reducer, Which::BOTH)
}

fn between(
    process: &Process,
    comm: &Communicator,
    send: Side,
    recv: Buffer,
    reducer: Reducer,
) -> Result<Operation> {
    let send = inter::not_in_place(send)?;
    let shape = inter::shape(comm, Collective::Allreduce, recv.bytes());
    inter::reducing(process, shape, send, recv, reducer)
}
