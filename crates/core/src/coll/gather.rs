//! MPI-5.0: Collective Communication, Gather.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_plan::{self as plan, Collective};

use super::{Operation, Root, Side, block, check_own, inter, shape_of_moving};
use crate::comm::Communicator;
use crate::process::Process;

/// What everybody has in `send`, the root gets in `recv`, block by block in the order of the ranks; `recv`
/// counts there only, and is whole. The root may work in place.
///
/// # Errors
/// `Root` if `root` is not a rank of the communicator; `Truncate`, `Count` if the root's blocks to and from
/// itself differ in length.
#[inline]
pub fn gather(
    _: &Process,
    comm: &Arc<Communicator>,
    send: Side,
    recv: Buffer,
    root: Root,
) -> Result<Operation> {
    if comm.is_inter() {
        return between(comm, send, recv, root);
    }
    let root = comm.root(root)?;
    let in_place = matches!(send, Side::InPlace);
    let send = match send {
        Side::Buffer(send) => send,
        Side::InPlace => block(&recv, comm.rank(), comm.size()),
    };
    if comm.rank() == root {
        check_own(comm, send.bytes(), recv.bytes() / u64::from(comm.size()))?;
    }
    let shape = shape_of_moving(comm, Collective::Gather, send.bytes()).rooted(plan::Root::Rank(root));
    Operation::moving(shape, send, recv, in_place)
}

fn between(comm: &Communicator, send: Side, recv: Buffer, root: Root) -> Result<Operation> {
    let send = inter::not_in_place(send)?;
    let root = inter::root_of(comm, root)?;
    let bytes = if root == plan::Root::Here { inter::block(comm, &recv) } else { send.bytes() };
    inter::moving(inter::shape(comm, Collective::Gather, bytes).rooted(root), send, recv)
}
