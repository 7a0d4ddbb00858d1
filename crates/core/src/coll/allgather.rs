//! MPI-5.0: Collective Communication, Gather-to-all.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_datatype::Buffer;
use oxmpi_plan::{Collective, Shape, pattern};

use super::inter;
use super::irregular::{Form, Lengths, Streams, lengths};
use super::operation::{Operation, Side, block, check_own, own_block, shape_of_moving};
use crate::comm::Communicator;
use crate::process::Process;

/// What everybody has in `send`, everybody gets in `recv`, whole: block by block in the order of the ranks.
///
/// # Errors
/// `Truncate`, `Count` if a rank's blocks to and from itself differ in length.
#[inline]
pub fn allgather(_: &Process, comm: &Arc<Communicator>, send: Side, recv: Buffer) -> Result<Operation> {
    if comm.is_inter() {
        return between(comm, send, recv);
    }
    let in_place = matches!(send, Side::InPlace);
    let send = match send {
        Side::Buffer(send) => send,
        Side::InPlace => block(&recv, comm.rank(), comm.size()),
    };
    check_own(comm, send.bytes(), recv.bytes() / u64::from(comm.size()))?;
    let shape = shape_of_moving(comm, Collective::Allgather, send.bytes());
    Operation::moving(shape, send, recv, in_place)
}

fn between(comm: &Communicator, send: Side, recv: Buffer) -> Result<Operation> {
    let send = inter::not_in_place(send)?;
    let shape = Shape {
        received: inter::block(comm, &recv),
        ..inter::shape(comm, Collective::Allgather, send.bytes())
    };
    inter::moving(shape, send, recv)
}

/// What everybody has in `send`, everybody gets: the block of rank `i` in `recv[i]`.
///
/// # Errors
/// `Truncate`, `Count` if a rank's blocks to and from itself differ in length.
pub fn allgatherv(_: &Process, comm: &Arc<Communicator>, send: Side, recv: Vec<Buffer>) -> Result<Operation> {
    const WITHIN: Form = Form {
        pattern: |known, comm| pattern::allgatherv(&known.received, comm.rank(), known.in_place),
        regular: Some(Collective::Allgather),
        streams: Some(|known, _, pattern| Streams {
            places: vec![0; pattern.received().len()],
            longest: known.received.iter().copied().max().unwrap_or(0),
        }),
        over_levels: Some(|known, comm| {
            pattern::allgatherv_over_levels(&known.received, comm.nodes, comm.rank(), known.in_place)
        }),
    };
    const BETWEEN: Form =
        Form::new(|known, comm| pattern::inter::allgatherv(&comm.groups(), known.sent[0], &known.received));
    let received = lengths(&recv);
    if comm.is_inter() {
        let send = inter::not_in_place(send)?;
        let known = Lengths::rootless(false, Box::from([send.bytes()]), received);
        return Operation::irregular(Function::AllgathervInit, &BETWEEN, known, send, Buffer::joined(recv));
    }
    let (in_place, send) = own_block(comm, send, &recv);
    check_own(comm, send.bytes(), received[comm.rank() as usize])?;
    let known = Lengths::rootless(in_place, Box::default(), received);
    let recv = Buffer::joined(recv);
    match WITHIN.equal(&known).and_then(|bytes| WITHIN.regular(&known, comm, bytes)) {
        Some(case) => Operation::moving(case.shape, send, recv, in_place),
        None => Operation::irregular(Function::AllgathervInit, &WITHIN, known, send, recv),
    }
}
