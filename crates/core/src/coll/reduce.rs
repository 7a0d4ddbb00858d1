//! MPI-5.0: Collective Communication, Reduce.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_op::Reducer;
use oxmpi_plan::{self as plan, Collective};

use super::image::Which;
use super::inter;
use super::operation::{Operation, Root, Side, shape_of_reducing};
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
        return between(process, comm, send, recv, reducer, root);
    }
    let root = comm.root(root)?;
    let bytes = if let Side::Buffer(send) = &send { send.bytes() } else { recv.bytes() };
    let shape = shape_of_reducing(comm, Collective::Reduce, bytes, &reducer)?.rooted(plan::Root::Rank(root));
    let which = if comm.rank() == root { Which::BOTH } else { Which::SEND };
    Operation::reducing(process, shape, send, recv, reducer, which)
}

fn between(
    process: &Process,
    comm: &Communicator,
    send: Side,
    recv: Buffer,
    reducer: Reducer,
    root: Root,
) -> Result<Operation> {
    let send = inter::not_in_place(send)?;
    let root = inter::root_of(comm, root)?;
    let bytes = send.bytes().max(recv.bytes());
    inter::reducing(process, inter::shape(comm, Collective::Reduce, bytes).rooted(root), send, recv, reducer)
}
