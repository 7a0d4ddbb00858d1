//! MPI-5.0: Collective Communication, Scatter.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_plan::{self as plan, Collective};

use super::{Operation, Root, Side, block, check_own, inter, shape_of_moving};
use crate::comm::Communicator;
use crate::process::Process;

/// Of what the root has in `send`, whole, everybody gets the block of its rank in `recv`; `send` counts at the
/// root only. The root may work in place.
///
/// # Errors
/// `Root` if `root` is not a rank of the communicator; `Truncate`, `Count` if the root's blocks to and from
/// itself differ in length.
#[inline]
pub fn scatter(
    _: &Process,
    comm: &Arc<Communicator>,
    send: Buffer,
    recv: Side,
    root: Root,
) -> Result<Operation> {
    if comm.is_inter() {
        return between(comm, send, recv, root);
    }
    let root = comm.root(root)?;
    let in_place = matches!(recv, Side::InPlace);
    let recv = match recv {
        Side::Buffer(recv) => recv,
        Side::InPlace => block(&send, comm.rank(), comm.size()),
    };
    if comm.rank() == root {
        check_own(comm, send.bytes() / u64::from(comm.size()), recv.bytes())?;
    }
    let shape = shape_of_moving(comm, Collective::Scatter, recv.bytes()).rooted(plan::Root::Rank(root));
    Operation::moving(shape, send, recv, in_place)
}

fn between(comm: &Communicator, send: Buffer, recv: Side, root: Root) -> Result<Operation> {
    let recv = inter::not_in_place(recv)?;
    let root = inter::root_of(comm, root)?;
    let bytes = if root == plan::Root::Here { inter::block(comm, &send) } else { recv.bytes() };
    inter::moving(inter::shape(comm, Collective::Scatter, bytes).rooted(root), send, recv)
}
