//! A small record from everybody to everybody: what setting something up together needs.

use std::sync::Arc;

use oxmpi_base::Result;

use super::allgather::allgather;
use super::inter;
use super::operation::{Operation, Side};
use crate::comm::Communicator;
use crate::process::Process;
use crate::record::{Exchange, Record, Records};

/// Everybody's record. Collective.
pub(crate) fn exchange<T: Record>(
    process: &Process,
    comm: &Arc<Communicator>,
    mine: &T,
) -> Result<Records<T>> {
    let (exchange, operation) = describe_exchange(process, comm, mine)?;
    let result = process.blocking(comm, &operation);
    exchange.finish(process.enter().pool(), result)
}

/// An exchange and the collective that it is.
///
/// # Errors
/// None: the buffers fit each other.
pub(crate) fn describe_exchange<T: Record>(
    process: &Process,
    comm: &Arc<Communicator>,
    mine: &T,
) -> Result<(Exchange<T>, Operation)> {
    let remote = if comm.is_inter() { comm.peers() } else { 0 };
    let exchange = Exchange::new(process.enter().pool(), comm.size() as usize, remote as usize, mine);
    let (from, into) = exchange.buffers();
    let operation = if comm.is_inter() {
        inter::exchange(comm, T::CALL, from, into)?
    } else {
        allgather(process, comm, Side::Buffer(from), into)?.called(process, comm, T::CALL)
    };
    Ok((exchange, operation))
}
