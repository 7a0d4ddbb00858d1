//! A small record from everybody to everybody: what setting something up together needs.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;

use super::{Side, allgather};
use crate::comm::Communicator;
use crate::process::Process;

/// Something that fits into a few bytes.
pub(crate) trait Record: Sized {
    /// How many; the same on all ranks.
    const BYTES: usize;

    /// Appends exactly [`Record::BYTES`] bytes.
    fn write(&self, into: &mut Vec<u8>);

    /// The inverse, of exactly [`Record::BYTES`] bytes.
    fn read(from: &[u8]) -> Self;
}

/// Everybody's record, by rank. Collective.
pub(crate) fn exchange<T: Record>(process: &Process, comm: &Arc<Communicator>, mine: &T) -> Result<Vec<T>> {
    let mut bytes = Vec::with_capacity(T::BYTES);
    mine.write(&mut bytes);
    assert_eq!(bytes.len(), T::BYTES, "a record says how long it is");
    let ranks = comm.size() as usize;
    let (send, recv) = {
        let pool = &mut process.enter().engine.p2p.pool;
        (pool.take(T::BYTES), pool.take(T::BYTES * ranks))
    };
    send.write(&bytes);
    let operation = allgather(process, comm, Side::Buffer(Buffer::dense(send)), Buffer::dense(recv))?;
    let result = process.blocking(comm, &operation);
    let all = recv.to_vec();
    let pool = &mut process.enter().engine.p2p.pool;
    pool.give(send);
    pool.give(recv);
    result.map(|()| all.chunks_exact(T::BYTES).map(T::read).collect())
}
