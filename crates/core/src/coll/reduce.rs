//! MPI-5.0: Collective Communication, Reduce.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_op::Reducer;
use oxmpi_plan::Collective;

use super::image::Which;
use super::{Operation, Root, Side, inter, shape_of_reducing};
use crate::comm::Communicator;
use crate::process::Process;

/// What everybody has in `send`, combined in the order of the ranks, the root gets in `recv`, which counts
/// there only. The root may work in place.
///
/// # Errors
/// `Root` if `root` is not a rank of the communicator; `Type` if a single element is too long.
#[inline(always)] // as in allreduce
pub fn reduce(
    process: &Process,
    comm: &Arc<Communicator>,
    send: Side,
    recv: Buffer,
    reducer: Reducer,
    root: Root,
) -> Result<Operation> {
    if comm.is_inter() {
        return inter::reduce(process, comm, send, recv, reducer, root);
    }
    let root = comm.root(root)?;
    let bytes = if let Side::Buffer(send) = &send { send.bytes() } else { recv.bytes() };
    let shape = shape_of_reducing(comm, Collective::Reduce { root }, bytes, &reducer)?;
    let which = if comm.rank() == root { Which::BOTH } else { Which::SEND };
    Operation::reducing(process, shape, send, recv, reducer, which)
}
