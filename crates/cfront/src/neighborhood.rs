//! Collectives among neighbours, each described once for its three forms.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes, Neighborhood Collective Communication on Virtual Topologies.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, EdgeBlocks};
use oxmpi_core::{Communicator, Operation, Process};

use crate::blocks::{BlockNames, Blocks, RECV_AT_ROOT, RECV_BLOCKS, RECV_TYPED, SEND_BLOCKS, SEND_TYPED};
use crate::buffer::{Message, RECV, SEND};
use crate::generated::types::{MPI_Comm, MPI_Info, MPI_Request};
use crate::lifetime::collectives;

collectives! {
    neighbor_allgather ineighbor_allgather neighbor_allgather_init "Neighbor_allgather" (
        send: Message, recv: Message
    ) |process: &Process, comm: &Arc<Communicator>| {
        let (sources, destinations) = comm.degrees()?;
        // SAFETY: the standard: a block for all neighbours, if there are any.
        let from = unsafe { send.named(&SEND).block_per_neighbor(destinations.min(1)) }?;
        // SAFETY: the standard: a block from each neighbour.
        let to = EdgeBlocks::equal(unsafe { recv.named(&RECV).block_per_neighbor(sources) }?, sources);
        coll::neighbor_allgather(process, comm, from, to)
    };

    neighbor_allgatherv ineighbor_allgatherv neighbor_allgatherv_init "Neighbor_allgatherv" (
        send: Message, recv: Blocks
    ) |process: &Process, comm: &Arc<Communicator>| {
        let (sources, destinations) = comm.degrees()?;
        // SAFETY: the standard: a block for all neighbours, if there are any.
        let from = unsafe { send.named(&SEND).block_per_neighbor(destinations.min(1)) }?;
        // SAFETY: the standard: a block from each neighbour.
        let to = EdgeBlocks::listed(unsafe { recv.of_neighbors(&RECV_AT_ROOT, comm, sources) }?);
        coll::neighbor_allgatherv(process, comm, from, to)
    };

    neighbor_alltoall ineighbor_alltoall neighbor_alltoall_init "Neighbor_alltoall" (
        send: Message, recv: Message
    ) |process: &Process, comm: &Arc<Communicator>| {
        let (sources, destinations) = comm.degrees()?;
        // SAFETY: the standard: a block for each neighbour.
        let from = unsafe { send.named(&SEND).block_per_neighbor(destinations) }?;
        // SAFETY: the standard: a block from each neighbour.
        let to = unsafe { recv.named(&RECV).block_per_neighbor(sources) }?;
        let (from, to) = (EdgeBlocks::equal(from, destinations), EdgeBlocks::equal(to, sources));
        coll::neighbor_alltoall(process, comm, from, to)
    };

    neighbor_alltoallv ineighbor_alltoallv neighbor_alltoallv_init "Neighbor_alltoallv" (
        send: Blocks, recv: Blocks
    ) |process: &Process, comm: &Arc<Communicator>| {
        let function = Function::NeighborAlltoallvInit;
        // SAFETY: the standard: a block for each neighbour, and from each.
        unsafe { exchange_blocks(process, comm, function, (&SEND_BLOCKS, &send), (&RECV_BLOCKS, &recv)) }
    };

    neighbor_alltoallw ineighbor_alltoallw neighbor_alltoallw_init "Neighbor_alltoallw" (
        send: Blocks, recv: Blocks
    ) |process: &Process, comm: &Arc<Communicator>| {
        let function = Function::NeighborAlltoallwInit;
        // SAFETY: the standard: a block for each neighbour, and from each.
        unsafe { exchange_blocks(process, comm, function, (&SEND_TYPED, &send), (&RECV_TYPED, &recv)) }
    };
}

/// # Safety
/// The standard says that the function has a block for each neighbour, and one from each.
unsafe fn exchange_blocks(
    process: &Process,
    comm: &Arc<Communicator>,
    function: Function,
    (send_names, send): (&'static BlockNames, &Blocks),
    (recv_names, recv): (&'static BlockNames, &Blocks),
) -> Result<Operation> {
    let (sources, destinations) = comm.degrees()?;
    // SAFETY: the same promise.
    let from = EdgeBlocks::listed(unsafe { send.of_neighbors(send_names, comm, destinations) }?);
    // SAFETY: the same promise.
    let to = EdgeBlocks::listed(unsafe { recv.of_neighbors(recv_names, comm, sources) }?);
    coll::neighbor_alltoallv(process, comm, function, from, to)
}
