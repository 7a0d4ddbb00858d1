//! MPI-5.0: Collective Communication, Reduce.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_op::Reducer;
use oxmpi_plan::Collective;

use super::image::Images;
use super::{Elements, Operation, Side};
use crate::comm::Communicator;
use crate::process::Process;

/// What everybody has in `send`, combined in the order of the ranks, the root gets in `recv`, which counts
/// there only. The root may work in place.
///
/// # Errors
/// `Root` if `root` is not a rank of the communicator; `Count`, `Type` if the elements do not fit memory.
pub fn reduce(
    process: &Process,
    comm: &Arc<Communicator>,
    send: Side,
    recv: Buffer,
    elements: &Elements,
    reducer: Reducer,
    root: i32,
) -> Result<Operation> {
    let root = comm.root(root)?;
    let operation = Operation::reducing(comm, Collective::Reduce { root }, elements, reducer)?;
    let in_place = matches!(send, Side::InPlace);
    let send = if let Side::Buffer(send) = send { send } else { recv.clone() };
    let images = if comm.rank() == root { Images::BOTH } else { Images::SEND };
    Ok(operation.bind(send, recv).in_place(in_place).with_images(process, images))
}
