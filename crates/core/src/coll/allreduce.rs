//! MPI-5.0: Collective Communication, All-Reduce.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_op::Reducer;
use oxmpi_plan::Collective;

use super::image::Images;
use super::{Elements, Operation, Side};
use crate::comm::Communicator;
use crate::process::Process;

/// What everybody has in `send`, combined in the order of the ranks, everybody gets in `recv`.
///
/// # Errors
/// `Count`, `Type` if the elements do not fit memory.
pub fn allreduce(
    process: &Process,
    comm: &Arc<Communicator>,
    send: Side,
    recv: Buffer,
    elements: &Elements,
    reducer: Reducer,
) -> Result<Operation> {
    let operation = Operation::reducing(comm, Collective::Allreduce, elements, reducer)?;
    let in_place = matches!(send, Side::InPlace);
    let send = if let Side::Buffer(send) = send { send } else { recv.clone() };
    Ok(operation.bind(send, recv).in_place(in_place).with_images(process, Images::BOTH))
}
