//! Collectives: each described once, for its blocking, nonblocking and persistent form.
//!
//! MPI-5.0: Collective Communication.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, Root, Side};
use oxmpi_core::{Communicator, Operation, Process};
use oxmpi_datatype::Buffer;
use oxmpi_op::Reducer;

use crate::blocks::{
    BlockNames, Blocks, OperandBlocks, RECV_AT_ROOT, RECV_BLOCKS, RECV_TYPED, SEND_AT_ROOT, SEND_BLOCKS,
    SEND_TYPED,
};
use crate::buffer::{
    Message, OPERAND, OPERAND_BLOCK, Operands, RECV, RESULT, RESULT_BLOCK, ROOTED, SEND, TypedOperands,
};
use crate::generated::constants::MPI_SUM;
use crate::generated::types::{MPI_Comm, MPI_Info, MPI_Op, MPI_Request};
use crate::lifetime::collectives;
use crate::op;
use crate::root::Part;

collectives! {
    allgather iallgather allgather_init "Allgather" (
        send: Message, recv: Message
    ) |process: &Process, comm: &Arc<Communicator>| {
        let from = send.named(&SEND).side()?;
        // SAFETY: the standard: a block from each rank.
        let to = unsafe { recv.named(&RECV).block_per_rank(comm) }?;
        coll::allgather(process, comm, from, to)
    };

    allgatherv iallgatherv allgatherv_init "Allgatherv" (
        send: Message, recv: Blocks
    ) |process: &Process, comm: &Arc<Communicator>| {
        let from = send.named(&SEND).side()?;
        // SAFETY: the standard: a block from each rank.
        let to = unsafe { recv.buffers(&RECV_AT_ROOT, comm) }?;
        coll::allgatherv(process, comm, from, to)
    };

    allreduce iallreduce allreduce_init "Allreduce" (
        operands: Operands, op: MPI_Op
    ) |process: &Process, comm: &Arc<Communicator>| {
        let operands = operands.typed(&OPERAND, &RESULT)?;
        let (from, to) = (operands.side()?, operands.result()?);
        coll::allreduce(process, comm, from, to, reducer(op, &operands)?)
    };

    alltoall ialltoall alltoall_init "Alltoall" (
        send: Message, recv: Message
    ) |process: &Process, comm: &Arc<Communicator>| {
        // SAFETY: the standard: a block for each rank.
        let from = unsafe { send.named(&SEND).side_per_rank(comm) }?;
        // SAFETY: the standard: a block from each rank.
        let to = unsafe { recv.named(&RECV).block_per_rank(comm) }?;
        coll::alltoall(process, comm, from, to)
    };

    alltoallv ialltoallv alltoallv_init "Alltoallv" (
        send: Blocks, recv: Blocks
    ) |process: &Process, comm: &Arc<Communicator>| {
        let function = Function::AlltoallvInit;
        // SAFETY: the standard: a block for each rank, and from each.
        unsafe { exchange_blocks(process, comm, function, (&SEND_BLOCKS, &send), (&RECV_BLOCKS, &recv)) }
    };

    alltoallw ialltoallw alltoallw_init "Alltoallw" (
        send: Blocks, recv: Blocks
    ) |process: &Process, comm: &Arc<Communicator>| {
        let function = Function::AlltoallwInit;
        // SAFETY: the standard: a block for each rank, and from each.
        unsafe { exchange_blocks(process, comm, function, (&SEND_TYPED, &send), (&RECV_TYPED, &recv)) }
    };

    barrier ibarrier barrier_init "Barrier" () coll::barrier;

    bcast ibcast bcast_init "Bcast" (
        buffer: Message, root: c_int
    ) |process: &Process, comm: &Arc<Communicator>| {
        let part = Part::of(comm, root);
        let buffer =
            if part.root == Root::Beside { Buffer::EMPTY } else { buffer.named(&ROOTED).buffer()? };
        coll::bcast(process, comm, buffer, part.root)
    };

    exscan iexscan exscan_init "Exscan" (
        operands: Operands, op: MPI_Op
    ) |process: &Process, comm: &Arc<Communicator>| {
        let operands = operands.typed(&OPERAND, &RESULT)?;
        let from = operands.side()?;
        let gets_none = comm.rank() == 0 && matches!(from, Side::Buffer(_));
        let to = if gets_none { Buffer::EMPTY } else { operands.result()? };
        coll::exscan(process, comm, from, to, reducer(op, &operands)?)
    };

    gather igather gather_init "Gather" (
        send: Message, recv: Message, root: c_int
    ) |process: &Process, comm: &Arc<Communicator>| {
        let part = Part::of(comm, root);
        let from = part.contribution(&send.named(&SEND))?;
        let to = if part.is_root() {
            // SAFETY: the standard: the root has a block from each rank.
            unsafe { recv.named(&RECV).block_per_rank(comm) }?
        } else {
            Buffer::EMPTY
        };
        coll::gather(process, comm, from, to, part.root)
    };

    gatherv igatherv gatherv_init "Gatherv" (
        send: Message, recv: Blocks, root: c_int
    ) |process: &Process, comm: &Arc<Communicator>| {
        let part = Part::of(comm, root);
        let from = part.contribution(&send.named(&SEND))?;
        let to = if part.is_root() {
            // SAFETY: the standard: the root has a block from each rank.
            unsafe { recv.buffers(&RECV_AT_ROOT, comm) }?
        } else {
            Vec::new()
        };
        coll::gatherv(process, comm, from, to, part.root)
    };

    reduce ireduce reduce_init "Reduce" (
        operands: Operands, op: MPI_Op, root: c_int
    ) |process: &Process, comm: &Arc<Communicator>| {
        let part = Part::of(comm, root);
        // What stands in for arguments that do not count.
        let counts = part.root != Root::Beside;
        let (operands, op) = if counts { (operands, op) } else { (Operands::NONE, MPI_SUM) };
        let operands = operands.typed(&OPERAND, &RESULT)?;
        let from = part.operand(&operands)?;
        let to = if part.is_root() { operands.result()? } else { Buffer::EMPTY };
        coll::reduce(process, comm, from, to, reducer(op, &operands)?, part.root)
    };

    reduce_scatter ireduce_scatter reduce_scatter_init "Reduce_scatter" (
        blocks: OperandBlocks, op: MPI_Op
    ) |process: &Process, comm: &Arc<Communicator>| {
        // SAFETY: it was called on this communicator.
        let blocks = unsafe { blocks.of(comm) }?;
        let operands = &blocks.operands;
        let (from, to) = (operands.side()?, operands.result()?);
        coll::reduce_scatter(process, comm, from, to, reducer(op, operands)?, blocks.lengths())
    };

    reduce_scatter_block ireduce_scatter_block reduce_scatter_block_init "Reduce_scatter_block" (
        operands: Operands, op: MPI_Op
    ) |process: &Process, comm: &Arc<Communicator>| {
        let operands = operands.typed(&OPERAND_BLOCK, &RESULT_BLOCK)?;
        // SAFETY: the standard: a block for each rank.
        let from = unsafe { operands.side_of_blocks(comm.size()) }?;
        let blocks = if matches!(from, Side::InPlace) { comm.size() } else { 1 };
        // SAFETY: the standard: in place, the result's buffer holds the contribution before.
        let to = unsafe { operands.result_of_blocks(blocks) }?;
        coll::reduce_scatter_block(process, comm, from, to, reducer(op, &operands)?)
    };

    scan iscan scan_init "Scan" (
        operands: Operands, op: MPI_Op
    ) |process: &Process, comm: &Arc<Communicator>| {
        let operands = operands.typed(&OPERAND, &RESULT)?;
        let (from, to) = (operands.side()?, operands.result()?);
        coll::scan(process, comm, from, to, reducer(op, &operands)?)
    };

    scatter iscatter scatter_init "Scatter" (
        send: Message, recv: Message, root: c_int
    ) |process: &Process, comm: &Arc<Communicator>| {
        let part = Part::of(comm, root);
        let from = if part.is_root() {
            // SAFETY: the standard: the root has a block for each rank.
            unsafe { send.named(&SEND).block_per_rank(comm) }?
        } else {
            Buffer::EMPTY
        };
        let to = part.contribution(&recv.named(&RECV))?;
        coll::scatter(process, comm, from, to, part.root)
    };

    scatterv iscatterv scatterv_init "Scatterv" (
        send: Blocks, recv: Message, root: c_int
    ) |process: &Process, comm: &Arc<Communicator>| {
        let part = Part::of(comm, root);
        let from = if part.is_root() {
            // SAFETY: the standard: the root has a block for each rank.
            unsafe { send.buffers(&SEND_AT_ROOT, comm) }?
        } else {
            Vec::new()
        };
        let to = part.contribution(&recv.named(&RECV))?;
        coll::scatterv(process, comm, from, to, part.root)
    };
}

#[inline(always)]
fn reducer(op: MPI_Op, operands: &TypedOperands) -> Result<Reducer> {
    op::reducer(op, operands.handle(), operands.datatype())
}

/// # Safety
/// As [`Blocks::buffers`].
unsafe fn exchange_blocks(
    process: &Process,
    comm: &Arc<Communicator>,
    function: Function,
    (send_names, send): (&'static BlockNames, &Blocks),
    (recv_names, recv): (&'static BlockNames, &Blocks),
) -> Result<Operation> {
    // SAFETY: the same promise.
    let from = if send.is_in_place() { None } else { Some(unsafe { send.buffers(send_names, comm) }?) };
    // SAFETY: the same promise.
    let to = unsafe { recv.buffers(recv_names, comm) }?;
    coll::alltoallv(process, comm, function, from, to)
}
