//! Collectives between the two groups of an intercommunicator.
//!
//! What a rank contributes goes to the other group. Blocks are counted by the ranks of that group; a direction
//! may carry other lengths than the opposite one, or nothing. Nothing works in place.
//! MPI-5.0: Collective Communication, Applying Collective Operations to Inter-Communicators.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_datatype::Buffer;
use oxmpi_engine::{Binding, Program};
use oxmpi_op::Reducer;
use oxmpi_plan::inter::{self, Groups};
use oxmpi_plan::{Collective, Plan};

use super::image::{self, Buffers, Which};
use super::{Irregular, Operation, Root, Side, shape_of_moving, shape_of_reducing};
use crate::comm::Communicator;
use crate::process::Process;

pub(super) fn allgather(comm: &Communicator, send: Side, recv: Buffer) -> Result<Operation> {
    let send = not_in_place(send)?;
    let plan = inter::allgatherv(&groups(comm), send.bytes(), &equal_blocks(comm, &recv));
    Ok(moving(comm, "Allgather", plan, send, recv))
}

pub(super) fn allgatherv(comm: &Communicator, send: Side, recv: Vec<Buffer>) -> Result<Operation> {
    let send = not_in_place(send)?;
    let plan = inter::allgatherv(&groups(comm), send.bytes(), &lengths(&recv));
    Ok(moving(comm, "Allgatherv", plan, send, Buffer::joined(recv)))
}

pub(super) fn allreduce(
    process: &Process,
    comm: &Communicator,
    send: Side,
    recv: Buffer,
    reducer: Reducer,
) -> Result<Operation> {
    let send = not_in_place(send)?;
    let shape = shape_of_reducing(comm, Collective::Allreduce, recv.bytes(), &reducer)?;
    let plan = inter::allreduce(&groups(comm), shape.bytes);
    Ok(reducing(process, comm, "Allreduce", plan, Buffers { send, recv, in_place: false }, reducer))
}

pub(super) fn alltoall(comm: &Communicator, send: Side, recv: Buffer) -> Result<Operation> {
    let send = not_in_place(send)?;
    let (sent, received) = (equal_blocks(comm, &send), equal_blocks(comm, &recv));
    let plan = inter::alltoallv(&groups(comm), &sent, &received);
    Ok(moving(comm, "Alltoall", plan, send, recv))
}

pub(super) fn alltoallv(
    comm: &Communicator,
    name: &'static str,
    send: Option<Vec<Buffer>>,
    recv: Vec<Buffer>,
) -> Result<Operation> {
    let send = send.ok_or_else(in_place)?;
    let plan = inter::alltoallv(&groups(comm), &lengths(&send), &lengths(&recv));
    Ok(moving(comm, name, plan, Buffer::joined(send), Buffer::joined(recv)))
}

pub(super) fn barrier(comm: &Communicator) -> Operation {
    moving(comm, "Barrier", inter::barrier(&groups(comm)), Buffer::EMPTY, Buffer::EMPTY)
}

pub(super) fn bcast(comm: &Communicator, buffer: Buffer, root: Root) -> Result<Operation> {
    let plan = inter::bcast(&groups(comm), root_of(comm, root)?, buffer.bytes());
    Ok(moving(comm, "Bcast", plan, Buffer::EMPTY, buffer))
}

/// Everybody's block of equal length, to everybody of both groups: the local group's first.
pub(super) fn exchange(comm: &Communicator, send: Buffer, recv: Buffer) -> Operation {
    let plan = inter::exchange(&groups(comm), send.bytes());
    moving(comm, "Allgather", plan, send, recv)
}

pub(super) fn gather(comm: &Communicator, send: Side, recv: Buffer, root: Root) -> Result<Operation> {
    let send = not_in_place(send)?;
    let root = root_of(comm, root)?;
    let bytes = if root == inter::Root::Here { equal_blocks(comm, &recv) } else { vec![send.bytes()] };
    let plan = inter::gatherv(&groups(comm), root, &bytes);
    Ok(moving(comm, "Gather", plan, send, recv))
}

pub(super) fn gatherv(comm: &Communicator, send: Side, recv: Vec<Buffer>, root: Root) -> Result<Operation> {
    let send = not_in_place(send)?;
    let root = root_of(comm, root)?;
    let bytes = if root == inter::Root::Here { lengths(&recv) } else { vec![send.bytes()] };
    let plan = inter::gatherv(&groups(comm), root, &bytes);
    Ok(moving(comm, "Gatherv", plan, send, Buffer::joined(recv)))
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
    let shape = shape_of_reducing(comm, Collective::Allreduce, bytes, &reducer)?;
    let plan = inter::reduce(&groups(comm), root, shape.bytes);
    Ok(reducing(process, comm, "Reduce", plan, Buffers { send, recv, in_place: false }, reducer))
}

pub(super) fn scatter(comm: &Communicator, send: Buffer, recv: Side, root: Root) -> Result<Operation> {
    let recv = not_in_place(recv)?;
    let root = root_of(comm, root)?;
    let bytes = if root == inter::Root::Here { equal_blocks(comm, &send) } else { vec![recv.bytes()] };
    let plan = inter::scatterv(&groups(comm), root, &bytes);
    Ok(moving(comm, "Scatter", plan, send, recv))
}

pub(super) fn scatterv(comm: &Communicator, send: Vec<Buffer>, recv: Side, root: Root) -> Result<Operation> {
    let recv = not_in_place(recv)?;
    let root = root_of(comm, root)?;
    let bytes = if root == inter::Root::Here { lengths(&send) } else { vec![recv.bytes()] };
    let plan = inter::scatterv(&groups(comm), root, &bytes);
    Ok(moving(comm, "Scatterv", plan, Buffer::joined(send), recv))
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

/// The length of each block of a buffer that holds one for each rank of the remote group.
fn equal_blocks(comm: &Communicator, whole: &Buffer) -> Vec<u64> {
    let peers = comm.peers();
    vec![whole.bytes() / u64::from(peers); peers as usize]
}

fn lengths(blocks: &[Buffer]) -> Vec<u64> {
    blocks.iter().map(Buffer::bytes).collect()
}

fn moving(comm: &Communicator, name: &'static str, plan: Plan, send: Buffer, recv: Buffer) -> Operation {
    let binding = Binding { send, recv, reducer: None, images: None };
    operation(comm, name, plan, binding)
}

fn reducing(
    process: &Process,
    comm: &Communicator,
    name: &'static str,
    plan: Plan,
    buffers: Buffers,
    reducer: Reducer,
) -> Operation {
    operation(comm, name, plan, image::bind(process, Which::BOTH, buffers, reducer))
}

/// Roots are told differently by the two groups, so the operation names none.
fn operation(comm: &Communicator, name: &'static str, plan: Plan, binding: Binding) -> Operation {
    let irregular = Irregular { plan: Arc::new(Program::new(plan)), name, root: None };
    let shape = shape_of_moving(comm, Collective::Barrier, 0);
    Operation { shape, in_place: false, irregular: Some(Box::new(irregular)), binding }
}
