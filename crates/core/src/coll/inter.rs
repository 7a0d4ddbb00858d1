//! Collectives between the two groups of an intercommunicator.
//!
//! What a rank contributes goes to the other group. Blocks are counted by the ranks of that group; a direction
//! may carry other lengths than the opposite one, or nothing. Nothing works in place.
//! MPI-5.0: Collective Communication, Applying Collective Operations to Inter-Communicators.

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_datatype::Buffer;
use oxmpi_op::Reducer;
use oxmpi_plan::inter::{self, Groups};
use oxmpi_plan::{self as plan, Collective, Plan, Shape};

use super::image::Which;
use super::{Irregular, Operation, Root, Side, unit_of};
use crate::comm::Communicator;
use crate::process::Process;

pub(super) fn allgatherv(comm: &Communicator, send: Side, recv: Vec<Buffer>) -> Result<Operation> {
    let send = not_in_place(send)?;
    let plan = inter::allgatherv(&groups(comm), send.bytes(), &lengths(&recv));
    planned(Function::AllgathervInit, plan, send, Buffer::joined(recv))
}

pub(super) fn alltoallv(
    comm: &Communicator,
    function: Function,
    send: Option<Vec<Buffer>>,
    recv: Vec<Buffer>,
) -> Result<Operation> {
    let send = send.ok_or_else(in_place)?;
    let plan = inter::alltoallv(&groups(comm), &lengths(&send), &lengths(&recv));
    planned(function, plan, Buffer::joined(send), Buffer::joined(recv))
}

/// Everybody's block of equal length, to everybody of both groups: the local group's first.
pub(super) fn exchange(comm: &Communicator, send: Buffer, recv: Buffer) -> Result<Operation> {
    let plan = inter::exchange(&groups(comm), send.bytes());
    planned(Function::AllgatherInit, plan, send, recv)
}

pub(super) fn gatherv(comm: &Communicator, send: Side, recv: Vec<Buffer>, root: Root) -> Result<Operation> {
    let send = not_in_place(send)?;
    let root = root_of(comm, root)?;
    let bytes = if root == plan::Root::Here { lengths(&recv) } else { vec![send.bytes()] };
    let plan = inter::gatherv(&groups(comm), root, &bytes);
    planned(Function::GathervInit, plan, send, Buffer::joined(recv))
}

pub(super) fn scatterv(comm: &Communicator, send: Vec<Buffer>, recv: Side, root: Root) -> Result<Operation> {
    let recv = not_in_place(recv)?;
    let root = root_of(comm, root)?;
    let bytes = if root == plan::Root::Here { lengths(&send) } else { vec![recv.bytes()] };
    let plan = inter::scatterv(&groups(comm), root, &bytes);
    planned(Function::ScattervInit, plan, Buffer::joined(send), recv)
}

fn groups(comm: &Communicator) -> Groups {
    Groups { rank: comm.rank(), local: comm.size(), remote: comm.peers() }
}

/// # Errors
/// `Root` for what is neither a rank of the remote group nor one of the two that stand for this one.
pub(super) fn root_of(comm: &Communicator, root: Root) -> Result<plan::Root> {
    match root {
        Root::Here => Ok(plan::Root::Here),
        Root::Beside => Ok(plan::Root::Beside),
        Root::Rank(root) => {
            let rank = u32::try_from(root).ok().filter(|&root| root < comm.peers());
            rank.map(plan::Root::Rank).ok_or_else(|| {
                let size = comm.peers();
                let text = format!("root {root} is not a rank of the remote group, whose size is {size}");
                Error::new(ErrorClass::Root, text)
            })
        }
    }
}

pub(super) fn not_in_place(side: Side) -> Result<Buffer> {
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
pub(super) fn block(comm: &Communicator, whole: &Buffer) -> u64 {
    whole.bytes() / u64::from(comm.peers())
}

fn lengths(blocks: &[Buffer]) -> Vec<u64> {
    blocks.iter().map(Buffer::bytes).collect()
}

/// The shape of a collective that moves `bytes` bytes each way.
pub(super) fn shape(comm: &Communicator, collective: Collective, bytes: u64) -> Shape {
    Shape { remote_ranks: comm.peers(), received: bytes, ..Shape::of(collective, comm.size(), bytes) }
}

pub(super) fn moving(shape: Shape, send: Buffer, recv: Buffer) -> Result<Operation> {
    Operation::moving(shape, send, recv, false)
}

/// # Errors
/// `Type` if a single element is too long to combine; as [`check_apart`].
pub(super) fn reducing(
    process: &Process,
    shape: Shape,
    send: Buffer,
    recv: Buffer,
    reducer: Reducer,
) -> Result<Operation> {
    let shape = Shape { unit: unit_of(&reducer)?, ..shape };
    Operation::reducing(process, shape, Side::Buffer(send), recv, reducer, Which::BOTH)
}

/// Roots are told differently by the two groups, so the operation names none.
fn planned(function: Function, plan: Plan, send: Buffer, recv: Buffer) -> Result<Operation> {
    Operation::planned(Irregular::new(function, None, plan), send, recv, false)
}
