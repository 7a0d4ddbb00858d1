//! Collectives between the two groups of an intercommunicator.
//!
//! What a rank contributes goes to the other group. Blocks are counted by the ranks of that group; a direction
//! may carry other lengths than the opposite one, or nothing. Nothing works in place.
//! MPI-5.0: Collective Communication, Applying Collective Operations to Inter-Communicators.

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_datatype::Buffer;
use oxmpi_engine::{Call, Program};
use oxmpi_op::Reducer;
use oxmpi_plan::inter::{self, Groups};
use oxmpi_plan::{self as plan, Collective, Shape};

use super::image::Which;
use super::operation::{Operation, Root, Side, unit_of};
use crate::comm::Communicator;
use crate::process::Process;

/// Everybody's block of equal length, to everybody of both groups: the local group's first.
pub(super) fn exchange(comm: &Communicator, call: Call, send: Buffer, recv: Buffer) -> Result<Operation> {
    let plan = inter::exchange(&comm.groups(), send.bytes());
    Operation::planned(Program::new(plan, call), send, recv)
}

impl Communicator {
    /// The two groups.
    pub(super) fn groups(&self) -> Groups {
        Groups { rank: self.rank(), local: self.size(), remote: self.peers() }
    }
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

/// # Errors
/// `Buffer` if it is in place.
pub(super) fn check_not_in_place(is_in_place: bool) -> Result<()> {
    if is_in_place { Err(in_place()) } else { Ok(()) }
}

#[cold]
fn in_place() -> Error {
    Error::new(ErrorClass::Buffer, "MPI_IN_PLACE is not allowed on an intercommunicator")
}

/// The length of a block of a buffer that holds one for each rank of the remote group.
pub(super) fn block(comm: &Communicator, whole: &Buffer) -> u64 {
    whole.bytes() / u64::from(comm.peers())
}

/// The shape of a collective that moves `bytes` bytes each way.
pub(super) fn shape(comm: &Communicator, collective: Collective, bytes: u64) -> Shape {
    let shape = Shape::of(collective, comm.size(), bytes);
    Shape { remote_ranks: comm.peers(), received: bytes, nodes: comm.nodes, ..shape }
}

pub(super) fn moving(shape: Shape, send: Buffer, recv: Buffer) -> Result<Operation> {
    Operation::moving(shape, send, recv, false)
}

/// # Errors
/// `Type` if a single element is too long to combine; as [`check_apart`](super::operation::check_apart).
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
