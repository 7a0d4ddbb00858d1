//! Collectives between the two groups of an intercommunicator.
//!
//! What a rank contributes goes to the other group. Blocks are counted by the ranks of that group; a direction
//! may carry other lengths than the opposite one, or nothing. Nothing works in place.
//! MPI-5.0: Collective Communication, Applying Collective Operations to Inter-Communicators.

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_datatype::Buffer;
use oxmpi_engine::Binding;
use oxmpi_op::Reducer;
use oxmpi_plan::Plan;
use oxmpi_plan::inter::{self, Collective, Groups, Shape};

use super::image::{self, Buffers, Which};
use super::{Case, Irregular, Operation, Root, Side, check_apart, unit_of};
use crate::comm::Communicator;
use crate::process::Process;

pub(super) fn allgather(comm: &Communicator, send: Side, recv: Buffer) -> Result<Operation> {
    let send = not_in_place(send)?;
    let shape = Shape { received: block(comm, &recv), ..shape(comm, Collective::Allgather, send.bytes()) };
    moving(shape, send, recv)
}

pub(super) fn allgatherv(comm: &Communicator, send: Side, recv: Vec<Buffer>) -> Result<Operation> {
    let send = not_in_place(send)?;
    let plan = inter::allgatherv(&groups(comm), send.bytes(), &lengths(&recv));
    planned("Allgatherv", plan, send, Buffer::joined(recv))
}

pub(super) fn allreduce(
    process: &Process,
    comm: &Communicator,
    send: Side,
    recv: Buffer,
    reducer: Reducer,
) -> Result<Operation> {
    let send = not_in_place(send)?;
    let shape = shape(comm, Collective::Allreduce, recv.bytes());
    reducing(process, shape, send, recv, reducer)
}

pub(super) fn alltoall(comm: &Communicator, send: Side, recv: Buffer) -> Result<Operation> {
    let send = not_in_place(send)?;
    let sent = block(comm, &send);
    let shape = Shape { received: block(comm, &recv), ..shape(comm, Collective::Alltoall, sent) };
    moving(shape, send, recv)
}

pub(super) fn alltoallv(
    comm: &Communicator,
    name: &'static str,
    send: Option<Vec<Buffer>>,
    recv: Vec<Buffer>,
) -> Result<Operation> {
    let send = send.ok_or_else(in_place)?;
    let plan = inter::alltoallv(&groups(comm), &lengths(&send), &lengths(&recv));
    planned(name, plan, Buffer::joined(send), Buffer::joined(recv))
}

pub(super) fn barrier(comm: &Communicator) -> Result<Operation> {
    moving(shape(comm, Collective::Barrier, 0), Buffer::EMPTY, Buffer::EMPTY)
}

pub(super) fn bcast(comm: &Communicator, buffer: Buffer, root: Root) -> Result<Operation> {
    let root = root_of(comm, root)?;
    let shape = shape(comm, Collective::Bcast { root }, buffer.bytes());
    moving(shape, Buffer::EMPTY, buffer)
}

/// Everybody's block of equal length, to everybody of both groups: the local group's first.
pub(super) fn exchange(comm: &Communicator, send: Buffer, recv: Buffer) -> Result<Operation> {
    let plan = inter::exchange(&groups(comm), send.bytes());
    planned("Allgather", plan, send, recv)
}

pub(super) fn gather(comm: &Communicator, send: Side, recv: Buffer, root: Root) -> Result<Operation> {
    let send = not_in_place(send)?;
    let root = root_of(comm, root)?;
    let bytes = if root == inter::Root::Here { block(comm, &recv) } else { send.bytes() };
    moving(shape(comm, Collective::Gather { root }, bytes), send, recv)
}

pub(super) fn gatherv(comm: &Communicator, send: Side, recv: Vec<Buffer>, root: Root) -> Result<Operation> {
    let send = not_in_place(send)?;
    let root = root_of(comm, root)?;
    let bytes = if root == inter::Root::Here { lengths(&recv) } else { vec![send.bytes()] };
    let plan = inter::gatherv(&groups(comm), root, &bytes);
    planned("Gatherv", plan, send, Buffer::joined(recv))
}

pub(super) fn reduce(
    process: &Process,
    comm: &Communicator,
    send: Side,
    recv: Buffer,
    reducer: Reducer,
    root: Root,
) -> Result<Operation> {
    let send = not_in_place(send)?;
    let root = root_of(comm, root)?;
    let bytes = send.bytes().max(recv.bytes());
    reducing(process, shape(comm, Collective::Reduce { root }, bytes), send, recv, reducer)
}

pub(super) fn scatter(comm: &Communicator, send: Buffer, recv: Side, root: Root) -> Result<Operation> {
    let recv = not_in_place(recv)?;
    let root = root_of(comm, root)?;
    let bytes = if root == inter::Root::Here { block(comm, &send) } else { recv.bytes() };
    moving(shape(comm, Collective::Scatter { root }, bytes), send, recv)
}

pub(super) fn scatterv(comm: &Communicator, send: Vec<Buffer>, recv: Side, root: Root) -> Result<Operation> {
    let recv = not_in_place(recv)?;
    let root = root_of(comm, root)?;
    let bytes = if root == inter::Root::Here { lengths(&send) } else { vec![recv.bytes()] };
    let plan = inter::scatterv(&groups(comm), root, &bytes);
    planned("Scatterv", plan, Buffer::joined(send), recv)
}

fn groups(comm: &Communicator) -> Groups {
    Groups { rank: comm.rank(), local: comm.size(), remote: comm.peers() }
}

/// # Errors
/// `Root` for what is neither a rank of the remote group nor one of the two that stand for this one.
fn root_of(comm: &Communicator, root: Root) -> Result<inter::Root> {
    match root {
        Root::Here => Ok(inter::Root::Here),
        Root::Beside => Ok(inter::Root::Beside),
        Root::Rank(root) => {
            let rank = u32::try_from(root).ok().filter(|&root| root < comm.peers());
            rank.map(inter::Root::Remote).ok_or_else(|| {
                let size = comm.peers();
                let text = format!("root {root} is not a rank of the remote group, whose size is {size}");
                Error::new(ErrorClass::Root, text)
            })
        }
    }
}

fn not_in_place(side: Side) -> Result<Buffer> {
    match side {
        Side::Buffer(buffer) => Ok(buffer),
        Side::InPlace => Err(in_place()),
    }
}

#[cold]
fn in_place() -> Error {
    Error::new(ErrorClass::Buffer, "MPI_IN_PLACE is not allowed on an intercommunicator")
}

/// The length of a block of a buffer that holds one for each rank of the remote group.
fn block(comm: &Communicator, whole: &Buffer) -> u64 {
    whole.bytes() / u64::from(comm.peers())
}

fn lengths(blocks: &[Buffer]) -> Vec<u64> {
    blocks.iter().map(Buffer::bytes).collect()
}

/// The shape of a collective that moves `bytes` bytes; beside the root, lengths say nothing.
fn shape(comm: &Communicator, collective: Collective, bytes: u64) -> Shape {
    let bytes = if collective.root() == Some(inter::Root::Beside) { 0 } else { bytes };
    Shape { collective, groups: groups(comm), bytes, received: bytes, unit: 1, node: true }
}

fn moving(shape: Shape, send: Buffer, recv: Buffer) -> Result<Operation> {
    check_apart(&send, &recv, false)?;
    let binding = Binding { send, recv, reducer: None, images: None };
    Ok(Operation { case: Case::Between(shape), irregular: None, binding })
}

/// # Errors
/// `Type` if a single element is too long to combine; as [`check_apart`].
fn reducing(
    process: &Process,
    shape: Shape,
    send: Buffer,
    recv: Buffer,
    reducer: Reducer,
) -> Result<Operation> {
    let shape = Shape { unit: unit_of(&reducer)?, ..shape };
    check_apart(&send, &recv, false)?;
    let binding = image::bind(process, Which::BOTH, Buffers { send, recv, in_place: false }, reducer);
    Ok(Operation { case: Case::Between(shape), irregular: None, binding })
}

/// Roots are told differently by the two groups, so the operation names none.
fn planned(name: &'static str, plan: Plan, send: Buffer, recv: Buffer) -> Result<Operation> {
    Operation::planned(Irregular::new(name, None, plan), send, recv, false)
}
