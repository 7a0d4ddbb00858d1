//! MPI-5.0: Collective Communication, Scan.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_datatype::Buffer;
use oxmpi_op::Reducer;
use oxmpi_plan::Collective;

use super::image::Which;
use super::operation::{Operation, Side, shape_of_reducing};
use crate::comm::Communicator;
use crate::process::Process;

/// What all ranks up to itself have in `send`, combined in the order of the ranks, each gets in `recv`.
///
/// # Errors
/// `Comm` on an intercommunicator; `Type` if a single element is too long to combine.
#[inline(always)] // as in allreduce
pub fn scan(
    process: &Process,
    comm: &Arc<Communicator>,
    send: Side,
    recv: Buffer,
    reducer: Reducer,
) -> Result<Operation> {
    if comm.is_inter() {
        return Err(not_between_groups());
    }
    let shape = shape_of_reducing(comm, Collective::Scan, recv.bytes(), &reducer)?;
    Operation::reducing(process, shape, send, recv, reducer, Which::BOTH)
}

/// What all ranks before itself have in `send`, combined in the order of the ranks, each gets in `recv`. Rank 0
/// gets nothing: there, `recv` counts in place only, and is left alone.
///
/// # Errors
/// As [`scan`].
#[inline(always)] // as in allreduce
pub fn exscan(
    process: &Process,
    comm: &Arc<Communicator>,
    send: Side,
    recv: Buffer,
    reducer: Reducer,
) -> Result<Operation> {
    if comm.is_inter() {
        return Err(not_between_groups());
    }
    let bytes = if let Side::Buffer(send) = &send { send.bytes() } else { recv.bytes() };
    let shape = shape_of_reducing(comm, Collective::Exscan, bytes, &reducer)?;
    let which = if comm.rank() == 0 { Which::SEND } else { Which::BOTH };
    Operation::reducing(process, shape, send, recv, reducer, which)
}

#[cold]
fn not_between_groups() -> Error {
    Error::new(ErrorClass::Comm, "comm is an intercommunicator: a scan runs along the ranks of one group")
}
