//! Records: the few bytes that processes tell each other when they set something up together.

use std::marker::PhantomData;

use oxmpi_base::Result;
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

    /// The inverse, of exactly [`Record::BYTES`] bytes: any ones, for a peer may have told a record of another kind.
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

    /// What everybody has told, when the collective is complete with this result: nothing if it failed, for then what
    /// lies where records should be are none.
    ///
    /// # Errors
    /// That of the collective.
    pub(crate) fn finish(self, pool: &mut Pool, result: Result<()>) -> Result<Records<T>> {
        let all = result.map(|()| self.recv.to_vec());
        pool.give(self.send);
        pool.give(self.recv);
        let all = all?;
        let mut local: Vec<T> = all.chunks_exact(T::BYTES).map(T::read).collect();
        let remote = local.split_off(self.local);
        Ok(Records { local, remote })
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_base::{Error, ErrorClass};

    use super::*;

    /// Which can be read only where one was written.
    #[derive(Debug, PartialEq)]
    struct One;

    impl Record for One {
        const BYTES: usize = 1;

        fn write(&self, into: &mut Vec<u8>) {
            into.push(1);
        }

        fn read(from: &[u8]) -> Self {
            assert_eq!(from, [1]);
            Self
        }
    }

    #[test]
    fn nothing_is_read_of_an_exchange_that_has_failed() {
        let mut pool = Pool::default();
        let failed = Err(Error::new(ErrorClass::Truncate, "nothing came"));
        let exchange = Exchange::new(&mut pool, 1, 0, &One);
        exchange.recv.write(&[7]);
        assert!(exchange.finish(&mut pool, failed).is_err());

        let exchange = Exchange::new(&mut pool, 1, 1, &One);
        exchange.recv.write(&[1, 1]);
        let records = exchange.finish(&mut pool, Ok(())).expect("it has succeeded");
        assert_eq!((records.local, records.remote), (vec![One], vec![One]));
    }
}
