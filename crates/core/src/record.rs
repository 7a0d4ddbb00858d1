//! Records: the few bytes that processes tell each other when they set something up together.

use std::marker::PhantomData;

use oxmpi_datatype::Buffer;
use oxmpi_engine::Call;
use oxmpi_mem::{Pool, Taken};

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

/// The memory of a collective by which everybody tells everybody a record.
#[derive(Debug)]
pub(crate) struct Exchange<T> {
    send: Taken,
    recv: Taken,
    /// Members of this process's group, whose records come first.
    local: usize,
    of: PhantomData<T>,
}

impl<T: Record> Exchange<T> {
    /// Of a process that tells `mine`, between so many members of its group and of the remote one.
    pub(crate) fn new(pool: &mut Pool, local: usize, remote: usize, mine: &T) -> Self {
        let mut bytes = Vec::with_capacity(T::BYTES);
        mine.write(&mut bytes);
        assert_eq!(bytes.len(), T::BYTES, "a record says how long it is");
        let (send, recv) = (pool.take(T::BYTES), pool.take(T::BYTES * (local + remote)));
        send.write(&bytes);
        Self { send, recv, local, of: PhantomData }
    }

    /// What the collective sends, and where it receives.
    pub(crate) fn buffers(&self) -> (Buffer, Buffer) {
        (Buffer::dense(*self.send), Buffer::dense(*self.recv))
    }

    /// What everybody has told, when the collective is complete.
    pub(crate) fn finish(self, pool: &mut Pool) -> Records<T> {
        let all = self.recv.to_vec();
        pool.give(self.send);
        pool.give(self.recv);
        let mut local: Vec<T> = all.chunks_exact(T::BYTES).map(T::read).collect();
        let remote = local.split_off(self.local);
        Records { local, remote }
    }
}
