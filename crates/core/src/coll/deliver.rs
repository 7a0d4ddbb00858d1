//! Small records from everybody, each to whom it is for.

use std::sync::Arc;

use oxmpi_base::{Function, Result, order};
use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;

use super::alltoall::{alltoall, alltoallv};
use super::operation::{Operation, Side};
use crate::comm::Communicator;
use crate::process::Process;
use crate::record::Record;

/// Sends each record to the rank beside it; gives those that are for this rank, in the order of the ranks that
/// sent them, and of one rank in the order that they had. Collective.
pub(crate) fn deliver<T: Record>(
    process: &Process,
    comm: &Arc<Communicator>,
    mut records: Vec<(u32, T)>,
) -> Result<Vec<T>> {
    order::by_key(&mut records, |&(rank, _)| rank.into());
    let mut sent = vec![0_u64; comm.size() as usize];
    let mut bytes = Vec::with_capacity(T::BYTES * records.len());
    for (rank, record) in &records {
        sent[*rank as usize] += T::BYTES as u64;
        record.write(&mut bytes);
    }
    let received = lengths(process, comm, &sent)?;
    let bytes = transfer(process, comm, &bytes, sum(&received), |send, recv| {
        let (send, recv) = (blocks(send, &sent), blocks(recv, &received));
        alltoallv(process, comm, Function::AlltoallvInit, Some(send), recv)
    })?;
    Ok(bytes.chunks_exact(T::BYTES).map(T::read).collect())
}

/// How many bytes each rank sends to this one, which sends them as many as `sent` says.
fn lengths(process: &Process, comm: &Arc<Communicator>, sent: &[u64]) -> Result<Vec<u64>> {
    let bytes: Vec<u8> = sent.iter().flat_map(|bytes| bytes.to_ne_bytes()).collect();
    let received = transfer(process, comm, &bytes, bytes.len(), |send, recv| {
        alltoall(process, comm, Side::Buffer(Buffer::dense(*send)), Buffer::dense(*recv))
    })?;
    let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("8 bytes"));
    Ok(received.chunks_exact(size_of::<u64>()).map(word).collect())
}

/// Runs a collective that sends `bytes` and receives as many as `received`.
fn transfer(
    process: &Process,
    comm: &Arc<Communicator>,
    bytes: &[u8],
    received: usize,
    operation: impl FnOnce(&Region, &Region) -> Result<Operation>,
) -> Result<Vec<u8>> {
    let (send, recv) = {
        let mut state = process.enter();
        let pool = state.pool();
        (pool.take(bytes.len()), pool.take(received))
    };
    send.write(bytes);
    let result = operation(&send, &recv).and_then(|operation| process.blocking(comm, &operation));
    let bytes = recv.to_vec();
    let mut state = process.enter();
    let pool = state.pool();
    pool.give(send);
    pool.give(recv);
    result.map(|()| bytes)
}

/// One block after the other.
fn blocks(whole: &Region, lengths: &[u64]) -> Vec<Buffer> {
    let mut offset = 0;
    let next = |&bytes: &u64| {
        let block = whole.part(offset, bytes as usize);
        offset += bytes as usize;
        Buffer::dense(block)
    };
    lengths.iter().map(next).collect()
}

fn sum(lengths: &[u64]) -> usize {
    lengths.iter().map(|&bytes| bytes as usize).sum()
}
