//! Collectives: each described once, for its blocking, nonblocking and persistent form.
//!
//! MPI-5.0: Collective Communication.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, Root, Side};
use oxmpi_core::{Communicator, Operation, Process};
use oxmpi_datatype::Buffer;

use crate::blocks::{
    Blocks, Datatypes, RECV_AT_ROOT, RECV_BLOCKS, RECV_TYPED, ResultCounts, SEND_AT_ROOT, SEND_BLOCKS,
    SEND_TYPED,
};
use crate::boundary::Integers;
use crate::buffer::{
    Arguments, OPERAND, OPERAND_BLOCK, OPERAND_BLOCKS, RECV, RESULT, RESULT_BLOCK, RESULT_OF_BLOCKS, ROOTED,
    SEND,
};
use crate::generated::constants::{MPI_INT, MPI_SUM};
use crate::generated::types::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};
use crate::lifetime::collectives;
use crate::object::datatype;
use crate::op;
use crate::root::Part;

collectives! {
    allgather iallgather allgather_init "Allgather" (
        sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Arguments::new(&SEND, sendbuf, sendcount, sendtype);
        let recv = Arguments::new(&RECV, recvbuf, recvcount, recvtype);
        // SAFETY: the caller's promise.
        let from = unsafe { send.side() }?;
        // SAFETY: the caller's promise.
        let to = unsafe { recv.block_per_rank(comm) }?;
        coll::allgather(process, comm, from, to)
    };

    allgatherv iallgatherv allgatherv_init "Allgatherv" (
        sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: Integers, displs: Integers, recvtype: MPI_Datatype
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Arguments::new(&SEND, sendbuf, sendcount, sendtype);
        // SAFETY: the caller's promise.
        let from = unsafe { send.side() }?;
        let recv = Blocks::new(&RECV_AT_ROOT, recvbuf, recvcounts, displs, Datatypes::Same(recvtype));
        // SAFETY: the caller's promise.
        let to = unsafe { recv.buffers(comm) }?;
        coll::allgatherv(process, comm, from, to)
    };

    allreduce iallreduce allreduce_init "Allreduce" (
        sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, op: MPI_Op
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Arguments::new(&OPERAND, sendbuf, count, datatype);
        let recv = Arguments::new(&RESULT, recvbuf, count, datatype);
        let elements = datatype::find("datatype", datatype)?;
        // SAFETY: the caller's promise.
        let from = unsafe { send.side_of(&elements) }?;
        // SAFETY: the caller's promise.
        let to = unsafe { recv.buffer_of(&elements) }?;
        let reducer = op::reducer(op, datatype, &elements)?;
        coll::allreduce(process, comm, from, to, reducer)
    };

    alltoall ialltoall alltoall_init "Alltoall" (
        sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Arguments::new(&SEND, sendbuf, sendcount, sendtype);
        let recv = Arguments::new(&RECV, recvbuf, recvcount, recvtype);
        // SAFETY: the caller's promise.
        let from = unsafe { send.side_per_rank(comm) }?;
        // SAFETY: the caller's promise.
        let to = unsafe { recv.block_per_rank(comm) }?;
        coll::alltoall(process, comm, from, to)
    };

    alltoallv ialltoallv alltoallv_init "Alltoallv" (
        sendbuf: *const c_void, sendcounts: Integers, sdispls: Integers, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: Integers, rdispls: Integers, recvtype: MPI_Datatype
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Blocks::new(&SEND_BLOCKS, sendbuf, sendcounts, sdispls, Datatypes::Same(sendtype));
        let recv = Blocks::new(&RECV_BLOCKS, recvbuf, recvcounts, rdispls, Datatypes::Same(recvtype));
        // SAFETY: the caller's promise.
        unsafe { exchange_blocks(process, comm, Function::AlltoallvInit, &send, &recv) }
    };

    alltoallw ialltoallw alltoallw_init "Alltoallw" (
        sendbuf: *const c_void, sendcounts: Integers, sdispls: Integers, sendtypes: *const MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: Integers, rdispls: Integers, recvtypes: *const MPI_Datatype
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Blocks::new(&SEND_TYPED, sendbuf, sendcounts, sdispls, Datatypes::Each(sendtypes));
        let recv = Blocks::new(&RECV_TYPED, recvbuf, recvcounts, rdispls, Datatypes::Each(recvtypes));
        // SAFETY: the caller's promise.
        unsafe { exchange_blocks(process, comm, Function::AlltoallwInit, &send, &recv) }
    };

    barrier ibarrier barrier_init "Barrier" () coll::barrier;

    bcast ibcast bcast_init "Bcast" (
        buffer: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, root: c_int
    ) |process: &Process, comm: &Arc<Communicator>| {
        let part = Part::of(comm, root);
        let buffer = if part.root == Root::Beside {
            Buffer::EMPTY
        } else {
            // SAFETY: the caller's promise.
            unsafe { Arguments::new(&ROOTED, buffer, count, datatype).buffer() }?
        };
        coll::bcast(process, comm, buffer, part.root)
    };

    exscan iexscan exscan_init "Exscan" (
        sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, op: MPI_Op
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Arguments::new(&OPERAND, sendbuf, count, datatype);
        let recv = Arguments::new(&RESULT, recvbuf, count, datatype);
        let elements = datatype::find("datatype", datatype)?;
        // SAFETY: the caller's promise.
        let from = unsafe { send.side_of(&elements) }?;
        let to = if comm.rank() == 0 && matches!(from, Side::Buffer(_)) {
            Buffer::EMPTY
        } else {
            // SAFETY: the caller's promise.
            unsafe { recv.buffer_of(&elements) }?
        };
        let reducer = op::reducer(op, datatype, &elements)?;
        coll::exscan(process, comm, from, to, reducer)
    };

    gather igather gather_init "Gather" (
        sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Arguments::new(&SEND, sendbuf, sendcount, sendtype);
        let recv = Arguments::new(&RECV, recvbuf, recvcount, recvtype);
        let part = Part::of(comm, root);
        // SAFETY: the caller's promise.
        let from = unsafe { part.contribution(&send) }?;
        let to = if part.is_root() {
            // SAFETY: the caller's promise.
            unsafe { recv.block_per_rank(comm) }?
        } else {
            Buffer::EMPTY
        };
        coll::gather(process, comm, from, to, part.root)
    };

    gatherv igatherv gatherv_init "Gatherv" (
        sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: Integers, displs: Integers, recvtype: MPI_Datatype, root: c_int
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Arguments::new(&SEND, sendbuf, sendcount, sendtype);
        let recv = Blocks::new(&RECV_AT_ROOT, recvbuf, recvcounts, displs, Datatypes::Same(recvtype));
        let part = Part::of(comm, root);
        // SAFETY: the caller's promise.
        let from = unsafe { part.contribution(&send) }?;
        let to = if part.is_root() {
            // SAFETY: the caller's promise.
            unsafe { recv.buffers(comm) }?
        } else {
            Vec::new()
        };
        coll::gatherv(process, comm, from, to, part.root)
    };

    reduce ireduce reduce_init "Reduce" (
        sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, op: MPI_Op,
        root: c_int
    ) |process: &Process, comm: &Arc<Communicator>| {
        let part = Part::of(comm, root);
        // What stands in for arguments that do not count.
        let (datatype, op) = if part.root == Root::Beside { (MPI_INT, MPI_SUM) } else { (datatype, op) };
        let send = Arguments::new(&OPERAND, sendbuf, count, datatype);
        let recv = Arguments::new(&RESULT, recvbuf, count, datatype);
        let elements = datatype::find("datatype", datatype)?;
        // SAFETY: the caller's promise.
        let from = unsafe { part.operand(&send, &elements) }?;
        let to = if part.is_root() {
            // SAFETY: the caller's promise.
            unsafe { recv.buffer_of(&elements) }?
        } else {
            Buffer::EMPTY
        };
        let reducer = op::reducer(op, datatype, &elements)?;
        coll::reduce(process, comm, from, to, reducer, part.root)
    };

    reduce_scatter ireduce_scatter reduce_scatter_init "Reduce_scatter" (
        sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: Integers, datatype: MPI_Datatype, op: MPI_Op
    ) |process: &Process, comm: &Arc<Communicator>| {
        // SAFETY: the caller's promise.
        let counts = unsafe { ResultCounts::new(recvcounts, comm) }?;
        let elements = datatype::find("datatype", datatype)?;
        let send = Arguments::new(&OPERAND_BLOCKS, sendbuf, counts.total(), datatype);
        // SAFETY: the caller's promise.
        let from = unsafe { send.side_of(&elements) }?;
        let own = if matches!(from, Side::InPlace) { counts.total() } else { counts.of(comm.rank()) };
        let recv = Arguments::new(&RESULT_OF_BLOCKS, recvbuf, own, datatype);
        // SAFETY: the caller's promise.
        let to = unsafe { recv.buffer_of(&elements) }?;
        let reducer = op::reducer(op, datatype, &elements)?;
        coll::reduce_scatter(process, comm, from, to, reducer, counts.lengths(&elements))
    };

    reduce_scatter_block ireduce_scatter_block reduce_scatter_block_init "Reduce_scatter_block" (
        sendbuf: *const c_void, recvbuf: *mut c_void, recvcount: MPI_Count, datatype: MPI_Datatype, op: MPI_Op
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Arguments::new(&OPERAND_BLOCK, sendbuf, recvcount, datatype);
        let recv = Arguments::new(&RESULT_BLOCK, recvbuf, recvcount, datatype);
        let elements = datatype::find("datatype", datatype)?;
        // SAFETY: the caller's promise.
        let from = unsafe { send.side_of_blocks(comm.size(), &elements) }?;
        let blocks = if matches!(from, Side::InPlace) { comm.size() } else { 1 };
        // SAFETY: the caller's promise.
        let to = unsafe { recv.blocks_of(blocks, &elements) }?;
        let reducer = op::reducer(op, datatype, &elements)?;
        coll::reduce_scatter_block(process, comm, from, to, reducer)
    };

    scan iscan scan_init "Scan" (
        sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, op: MPI_Op
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Arguments::new(&OPERAND, sendbuf, count, datatype);
        let recv = Arguments::new(&RESULT, recvbuf, count, datatype);
        let elements = datatype::find("datatype", datatype)?;
        // SAFETY: the caller's promise.
        let from = unsafe { send.side_of(&elements) }?;
        // SAFETY: the caller's promise.
        let to = unsafe { recv.buffer_of(&elements) }?;
        let reducer = op::reducer(op, datatype, &elements)?;
        coll::scan(process, comm, from, to, reducer)
    };

    scatter iscatter scatter_init "Scatter" (
        sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Arguments::new(&SEND, sendbuf, sendcount, sendtype);
        let recv = Arguments::new(&RECV, recvbuf, recvcount, recvtype);
        let part = Part::of(comm, root);
        let from = if part.is_root() {
            // SAFETY: the caller's promise.
            unsafe { send.block_per_rank(comm) }?
        } else {
            Buffer::EMPTY
        };
        // SAFETY: the caller's promise.
        let to = unsafe { part.contribution(&recv) }?;
        coll::scatter(process, comm, from, to, part.root)
    };

    scatterv iscatterv scatterv_init "Scatterv" (
        sendbuf: *const c_void, sendcounts: Integers, displs: Integers, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int
    ) |process: &Process, comm: &Arc<Communicator>| {
        let send = Blocks::new(&SEND_AT_ROOT, sendbuf, sendcounts, displs, Datatypes::Same(sendtype));
        let recv = Arguments::new(&RECV, recvbuf, recvcount, recvtype);
        let part = Part::of(comm, root);
        let from = if part.is_root() {
            // SAFETY: the caller's promise.
            unsafe { send.buffers(comm) }?
        } else {
            Vec::new()
        };
        // SAFETY: the caller's promise.
        let to = unsafe { part.contribution(&recv) }?;
        coll::scatterv(process, comm, from, to, part.root)
    };
}

/// # Safety
/// As [`Blocks::buffers`].
unsafe fn exchange_blocks(
    process: &Process,
    comm: &Arc<Communicator>,
    function: Function,
    send: &Blocks,
    recv: &Blocks,
) -> Result<Operation> {
    // SAFETY: the caller's promise.
    let from = if send.is_in_place() { None } else { Some(unsafe { send.buffers(comm) }?) };
    // SAFETY: the caller's promise.
    let to = unsafe { recv.buffers(comm) }?;
    coll::alltoallv(process, comm, function, from, to)
}
