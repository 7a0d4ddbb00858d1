//! Collectives whose blocks have lengths, and datatypes, of their own.
//!
//! A buffer argument is a list of blocks, one per rank, wherever each lies: that covers the v forms (counts and
//! displacements) and the w forms (datatypes too) alike.
//! MPI-5.0: Collective Communication, the vector variants.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_datatype::Buffer;
use oxmpi_plan::irregular;

use super::{Irregular, Operation, Root, Side, check_own, inter};
use crate::comm::Communicator;
use crate::process::Process;

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
    if comm.is_inter() {
        return inter::gatherv(comm, send, recv, root);
    }
    let root = comm.root(root)?;
    let (in_place, send) = own_block(comm, send, &recv);
    let bytes = if comm.rank() == root { lengths(&recv) } else { vec![send.bytes()] };
    if comm.rank() == root {
        check_own(comm, send.bytes(), bytes[root as usize])?;
    }
    let plan = irregular::gatherv(&bytes, comm.rank(), root, in_place);
    let made = Irregular::new(Function::GathervInit, Some(root), plan);
    Operation::planned(made, send, Buffer::joined(recv), in_place)
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
    if comm.is_inter() {
        return inter::scatterv(comm, send, recv, root);
    }
    let root = comm.root(root)?;
    let (in_place, recv) = own_block(comm, recv, &send);
    let bytes = if comm.rank() == root { lengths(&send) } else { vec![recv.bytes()] };
    if comm.rank() == root {
        check_own(comm, bytes[root as usize], recv.bytes())?;
    }
    let plan = irregular::scatterv(&bytes, comm.rank(), root, in_place);
    let made = Irregular::new(Function::ScattervInit, Some(root), plan);
    Operation::planned(made, Buffer::joined(send), recv, in_place)
}

/// What everybody has in `send`, everybody gets: the block of rank `i` in `recv[i]`.
///
/// # Errors
/// `Truncate`, `Count` if a rank's blocks to and from itself differ in length.
pub fn allgatherv(_: &Process, comm: &Arc<Communicator>, send: Side, recv: Vec<Buffer>) -> Result<Operation> {
    if comm.is_inter() {
        return inter::allgatherv(comm, send, recv);
    }
    let (in_place, send) = own_block(comm, send, &recv);
    let bytes = lengths(&recv);
    check_own(comm, send.bytes(), bytes[comm.rank() as usize])?;
    let plan = irregular::allgatherv(&bytes, comm.rank(), in_place);
    Operation::planned(
        Irregular::new(Function::AllgathervInit, None, plan),
        send,
        Buffer::joined(recv),
        in_place,
    )
}

/// `send[i]` goes to rank `i`, which gets it in its block of this rank. `None` is in place. Serves the w form
/// too: `function` is the persistent one of the form.
///
/// # Errors
/// `Truncate`, `Count` if a rank's blocks to and from itself differ in length.
pub fn alltoallv(
    _: &Process,
    comm: &Arc<Communicator>,
    function: Function,
    send: Option<Vec<Buffer>>,
    recv: Vec<Buffer>,
) -> Result<Operation> {
    if comm.is_inter() {
        return inter::alltoallv(comm, function, send, recv);
    }
    let received = lengths(&recv);
    let sent = send.as_ref().map_or_else(|| received.clone(), |send| lengths(send));
    let rank = comm.rank() as usize;
    check_own(comm, sent[rank], received[rank])?;
    let in_place = send.is_none();
    let plan = irregular::alltoallv(&sent, &received, comm.rank(), in_place);
    let recv = Buffer::joined(recv);
    let send = send.map_or_else(|| recv.clone(), Buffer::joined);
    Operation::planned(Irregular::new(function, None, plan), send, recv, in_place)
}

/// This rank's own block, which in place is the one among `blocks`.
fn own_block(comm: &Communicator, side: Side, blocks: &[Buffer]) -> (bool, Buffer) {
    match side {
        Side::Buffer(buffer) => (false, buffer),
        Side::InPlace => (true, blocks.get(comm.rank() as usize).cloned().unwrap_or(Buffer::EMPTY)),
    }
}

fn lengths(blocks: &[Buffer]) -> Vec<u64> {
    blocks.iter().map(Buffer::bytes).collect()
}
