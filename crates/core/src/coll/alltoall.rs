//! MPI-5.0: Collective Communication, All-to-All Scatter/Gather.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_datatype::Buffer;
use oxmpi_plan::{Collective, Shape, pattern};

use super::inter;
use super::irregular::{Form, Lengths, lengths};
use super::operation::{Operation, Side, check_own, shape_of_moving};
use crate::comm::Communicator;
use crate::process::Process;

/// The block of rank `i` in `send` goes to rank `i`, which gets it as the block of this rank in its `recv`.
/// Both buffers are whole.
///
/// # Errors
/// `Truncate`, `Count` if a rank's blocks to and from itself differ in length.
#[inline]
pub fn alltoall(_: &Process, comm: &Arc<Communicator>, send: Side, recv: Buffer) -> Result<Operation> {
    if comm.is_inter() {
        return between(comm, send, recv);
    }
    let in_place = matches!(send, Side::InPlace);
    let send = if let Side::Buffer(send) = send { send } else { recv.clone() };
    check_own(comm, send.bytes() / u64::from(comm.size()), recv.bytes() / u64::from(comm.size()))?;
    let shape = shape_of_moving(comm, Collective::Alltoall, send.bytes() / u64::from(comm.size()));
    Operation::moving(shape, send, recv, in_place)
}

fn between(comm: &Communicator, send: Side, recv: Buffer) -> Result<Operation> {
    let send = inter::not_in_place(send)?;
    let sent = inter::block(comm, &send);
    let shape =
        Shape { received: inter::block(comm, &recv), ..inter::shape(comm, Collective::Alltoall, sent) };
    inter::moving(shape, send, recv)
}

/// `send[i]` goes to rank `i`, which gets it in its block of this rank. `None` is in place. Serves the w form
/// too, which `function`, the persistent form, then says.
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
    const WITHIN: Form = Form::of(Collective::Alltoall, |known, comm| {
        pattern::alltoallv(&known.sent, &known.received, comm.rank(), known.in_place)
    });
    const BETWEEN: Form =
        Form::new(|known, comm| pattern::inter::alltoallv(&comm.groups(), &known.sent, &known.received));
    let received = lengths(&recv);
    let sent = send.as_ref().map_or_else(|| received.clone(), |send| lengths(send));
    let in_place = send.is_none();
    let form = if comm.is_inter() {
        inter::check_not_in_place(in_place)?;
        &BETWEEN
    } else {
        let rank = comm.rank() as usize;
        check_own(comm, sent[rank], received[rank])?;
        &WITHIN
    };
    let recv = Buffer::joined(recv);
    let send = send.map_or_else(|| recv.clone(), Buffer::joined);
    Operation::irregular(function, form, Lengths::rootless(in_place, sent, received), send, recv)
}
