//! A small record from everybody to everybody: what setting something up together needs.

use std::marker::PhantomData;
use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_engine::Call;
use oxmpi_mem::Taken;

use super::{Operation, Side, allgather, inter};
use crate::comm::Communicator;
use crate::process::{Process, State};

/// Something that fits into a few bytes.
pub(crate) trait Record: Sized {
    /// How many; the same on all ranks.
    const BYTES: usize;

    /// For what: the same on all ranks.
    const CALL: Call = Call::CONSTRUCTOR;

    /// Appends exactly [`Record::BYTES`] bytes.
    fn write(&self, into: &mut Vec<u8>);

    /// The inverse, of exactly [`Record::BYTES`] bytes.
    fn read(from: &[u8]) -> Self;
}

/// Everybody's records, by rank.
#[derive(Debug)]
pub(crate) struct Records<T> {
    /// Of this process's group.
    pub local: Vec<T>,
    /// Of the remote group, if there is one.
    pub remote: Vec<T>,
}

/// An exchange that has been described, and may be under way.
#[derive(Debug)]
pub(crate) struct Exchange<T> {
    send: Taken,
    recv: Taken,
    /// Members of this process's group, whose records come first.
    local: usize,
    of: PhantomData<T>,
}

/// Everybody's record. Collective.
pub(crate) fn exchange<T: Record>(
    process: &Process,
    comm: &Arc<Communicator>,
    mine: &T,
) -> Result<Records<T>> {
    let (exchange, operation) = Exchange::new(process, comm, mine)?;
    let result = process.blocking(comm, &operation);
    let records = exchange.finish(&mut process.enter());
    result.map(|()| records)
}

impl<T: Record> Exchange<T> {
    /// The exchange and the collective that it is.
    ///
    /// # Errors
    /// None: the buffers fit each other.
    pub(crate) fn new(process: &Process, comm: &Arc<Communicator>, mine: &T) -> Result<(Self, Operation)> {
        let mut bytes = Vec::with_capacity(T::BYTES);
        mine.write(&mut bytes);
        assert_eq!(bytes.len(), T::BYTES, "a record says how long it is");
        let local = comm.size() as usize;
        let remote = if comm.is_inter() { comm.peers() as usize } else { 0 };
        let (send, recv) = {
            let pool = &mut process.enter().engine.p2p.pool;
            (pool.take(T::BYTES), pool.take(T::BYTES * (local + remote)))
        };
        send.write(&bytes);
        let (from, into) = (Buffer::dense(*send), Buffer::dense(*recv));
        let operation = if comm.is_inter() {
            inter::exchange(comm, T::CALL, from, into)?
        } else {
            let operation = allgather(process, comm, Side::Buffer(from), into)?;
            operation.called(process, comm, T::CALL)
        };
        Ok((Self { send, recv, local, of: PhantomData }, operation))
    }

    /// What everybody has told, when the collective is complete.
    pub(crate) fn finish(self, state: &mut State) -> Records<T> {
        let all = self.recv.to_vec();
        let pool = &mut state.engine.p2p.pool;
        pool.give(self.send);
        pool.give(self.recv);
        let mut local: Vec<T> = all.chunks_exact(T::BYTES).map(T::read).collect();
        let remote = local.split_off(self.local);
        Records { local, remote }
    }
}
