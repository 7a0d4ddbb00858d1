//! MPI-5.0: Collective Communication, Scatter.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_datatype::Buffer;
use oxmpi_plan::{self as plan, Collective, pattern};

use super::inter;
use super::irregular::{Form, Lengths, lengths};
use super::operation::{Operation, Root, Side, block, check_own, own_block, shape_of_moving};
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

/// Rank `i` gets what the root has in `send[i]`. `send` counts at the root only.
///
/// # Errors
/// `Root` if `root` is not a rank of the communicator; `Truncate`, `Count` if the root's blocks to and from
/// itself differ in length.
pub fn scatterv(
    _: &Process,
    comm: &Arc<Communicator>,
    send: Vec<Buffer>,
    recv: Side,
    root: Root,
) -> Result<Operation> {
    const WITHIN: Form = Form::of(Collective::Scatter, |known, comm| {
        pattern::scatterv(known.blocks(), comm.rank(), known.root.rank(), known.in_place)
    });
    const BETWEEN: Form =
        Form::new(|known, comm| pattern::inter::scatterv(&comm.groups(), known.root, known.blocks()));
    let sent = lengths(&send);
    let (form, root, in_place, is_root, recv) = if comm.is_inter() {
        let (recv, root) = (inter::not_in_place(recv)?, inter::root_of(comm, root)?);
        (&BETWEEN, root, false, root == plan::Root::Here, recv)
    } else {
        let root = comm.root(root)?;
        let (in_place, recv) = own_block(comm, recv, &send);
        (&WITHIN, plan::Root::Rank(root), in_place, comm.rank() == root, recv)
    };
    if is_root && !comm.is_inter() {
        check_own(comm, sent[comm.rank() as usize], recv.bytes())?;
    }
    let (sent, received) =
        if is_root { (sent, Box::default()) } else { (Box::default(), Box::from([recv.bytes()])) };
    let known = Lengths { root, in_place, sent, received };
    Operation::irregular(Function::ScattervInit, form, known, Buffer::joined(send), recv)
}
