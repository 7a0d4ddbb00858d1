//! MPI-5.0: Collective Communication, Gather.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_datatype::Buffer;
use oxmpi_plan::{self as plan, Collective, pattern};

use super::inter;
use super::irregular::{Form, Lengths, lengths};
use super::operation::{Operation, Root, Side, block, check_own, own_block, shape_of_moving};
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

/// What everybody has in `send`, the root gets: the block of rank `i` in `recv[i]`. `recv` counts there only.
///
/// # Errors
/// `Root` if `root` is not a rank of the communicator; `Truncate`, `Count` if the root's blocks to and from
/// itself differ in length.
pub fn gatherv(
    _: &Process,
    comm: &Arc<Communicator>,
    send: Side,
    recv: Vec<Buffer>,
    root: Root,
) -> Result<Operation> {
    const WITHIN: Form = Form::of(Collective::Gather, |known, comm| {
        pattern::gatherv(known.blocks(), comm.rank(), known.root.rank(), known.in_place)
    });
    const BETWEEN: Form =
        Form::new(|known, comm| pattern::inter::gatherv(&comm.groups(), known.root, known.blocks()));
    let received = lengths(&recv);
    let (form, root, in_place, is_root, send) = if comm.is_inter() {
        let (send, root) = (inter::not_in_place(send)?, inter::root_of(comm, root)?);
        (&BETWEEN, root, false, root == plan::Root::Here, send)
    } else {
        let root = comm.root(root)?;
        let (in_place, send) = own_block(comm, send, &recv);
        (&WITHIN, plan::Root::Rank(root), in_place, comm.rank() == root, send)
    };
    if is_root && !comm.is_inter() {
        check_own(comm, send.bytes(), received[comm.rank() as usize])?;
    }
    let (sent, received) =
        if is_root { (Box::default(), received) } else { (Box::from([send.bytes()]), Box::default()) };
    let known = Lengths { root, in_place, sent, received };
    Operation::irregular(Function::GathervInit, form, known, send, Buffer::joined(recv))
}
