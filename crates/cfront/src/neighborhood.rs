//! Collectives among neighbours, each described once for its three forms.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes, Neighborhood Collective Communication on Virtual Topologies.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, EdgeBlocks};
use oxmpi_core::{Communicator, Operation, Process};

use crate::blocks::{Blocks, Datatypes, RECV_AT_ROOT, RECV_BLOCKS, RECV_TYPED, SEND_BLOCKS, SEND_TYPED};
use crate::boundary::Integers;
use crate::buffer::{Arguments, RECV, SEND};
use crate::generated::types::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Request};
use crate::lifetime::collectives;

collectives! {
    neighbor_allgather ineighbor_allgather neighbor_allgather_init "Neighbor_allgather" (
        sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype
    ) |process: &Process, comm: &Arc<Communicator>| {
        let (sources, _) = comm.degrees()?;
        // SAFETY: the caller's promise.
        let from = unsafe { Arguments::new(&SEND, sendbuf, sendcount, sendtype).buffer() }?;
        let recv = Arguments::new(&RECV, recvbuf, recvcount, recvtype);
        // SAFETY: the caller's promise.
        let to = EdgeBlocks::equal(unsafe { recv.block_per_neighbor(sources) }?, sources);
        coll::neighbor_allgather(process, comm, from, to)
    };

    neighbor_allgatherv ineighbor_allgatherv neighbor_allgatherv_init "Neighbor_allgatherv" (
        sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: Integers, displs: Integers, recvtype: MPI_Datatype
    ) |process: &Process, comm: &Arc<Communicator>| {
        let (sources, _) = comm.degrees()?;
        // SAFETY: the caller's promise.
        let from = unsafe { Arguments::new(&SEND, sendbuf, sendcount, sendtype).buffer() }?;
        let recv = Blocks::new(&RECV_AT_ROOT, recvbuf, recvcounts, displs, Datatypes::Same(recvtype));
        // SAFETY: the caller's promise.
        let to = EdgeBlocks::listed(unsafe { recv.of_neighbors(comm, sources) }?);
        coll::neighbor_allgatherv(process, comm, from, to)
    };

    neighbor_alltoall ineighbor_alltoall neighbor_alltoall_init "Neighbor_alltoall" (
        sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype
    ) |process: &Process, comm: &Arc<Communicator>| {
        let (sources, destinations) = comm.degrees()?;
        let send = Arguments::new(&SEND, sendbuf, sendcount, sendtype);
        // SAFETY: the caller's promise.
        let from = EdgeBlocks::equal(unsafe { send.block_per_neighbor(destinations) }?, destinations);
        let recv = Arguments::new(&RECV, recvbuf, recvcount, recvtype);
        // SAFETY: the caller's promise.
        let to = EdgeBlocks::equal(unsafe { recv.block_per_neighbor(sources) }?, sources);
        coll::neighbor_alltoall(process, comm, from, to)
    };

    neighbor_alltoallv ineighbor_alltoallv neighbor_alltoallv_init "Neighbor_alltoallv" (
        sendbuf: *const c_void, sendcounts: Integers, sdispls: Integers, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: Integers, rdispls: Integers, recvtype: MPI_Datatype
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Blocks::new(&SEND_BLOCKS, sendbuf, sendcounts, sdispls, Datatypes::Same(sendtype));
        let recv = Blocks::new(&RECV_BLOCKS, recvbuf, recvcounts, rdispls, Datatypes::Same(recvtype));
        // SAFETY: the caller's promise.
        unsafe { exchange_blocks(process, comm, Function::NeighborAlltoallvInit, &send, &recv) }
    };

    neighbor_alltoallw ineighbor_alltoallw neighbor_alltoallw_init "Neighbor_alltoallw" (
        sendbuf: *const c_void, sendcounts: Integers, sdispls: *const MPI_Aint,
        sendtypes: *const MPI_Datatype, recvbuf: *mut c_void, recvcounts: Integers,
        rdispls: *const MPI_Aint, recvtypes: *const MPI_Datatype
    ) |process: &Process, comm: &Arc<Communicator>| {
        let (sdispls, rdispls) = (Integers::Large(sdispls.cast()), Integers::Large(rdispls.cast()));
        let send = Blocks::new(&SEND_TYPED, sendbuf, sendcounts, sdispls, Datatypes::Each(sendtypes));
        let recv = Blocks::new(&RECV_TYPED, recvbuf, recvcounts, rdispls, Datatypes::Each(recvtypes));
        // SAFETY: the caller's promise.
        unsafe { exchange_blocks(process, comm, Function::NeighborAlltoallwInit, &send, &recv) }
    };
}

/// # Safety
/// As [`Blocks::of_neighbors`].
unsafe fn exchange_blocks(
    process: &Process,
    comm: &Arc<Communicator>,
    function: Function,
    send: &Blocks,
    recv: &Blocks,
) -> Result<Operation> {
    let (sources, destinations) = comm.degrees()?;
    // SAFETY: the caller's promise.
    let from = EdgeBlocks::listed(unsafe { send.of_neighbors(comm, destinations) }?);
    // SAFETY: the caller's promise.
    let to = EdgeBlocks::listed(unsafe { recv.of_neighbors(comm, sources) }?);
    coll::neighbor_alltoallv(process, comm, function, from, to)
}
