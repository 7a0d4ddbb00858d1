//! Making persistent requests: the methods that end in `_init`.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests; Collective Communication,
//! Persistent Collective Operations.

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::Wish;
use oxmpi_core::{Process, RequestKey};
use oxmpi_datatype::Buffer as Memory;

use crate::buffer::OwnedBuffer;
use crate::buffers::{Buffers, One, Two};
use crate::collective::Collective;
use crate::communicator::Communicator;
use crate::kept::Kept;
use crate::loan::Loan;
use crate::message::{Source, TagPattern};
use crate::persistent::Persistent;
use crate::thread::ThreadLevel;

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// A persistent receive.
    ///
    /// # Errors
    /// `Rank` if `source` is not a rank; `Tag` if the tag is negative.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let mut send = world.send_init(vec![0; 2], (rank + 1) % size, 0)?;
    /// let mut recv = world.recv_init(vec![0; 2], (rank + size - 1) % size, 0)?;
    /// for step in 1..4 {
    ///     send.buf_mut().fill(step);
    ///     let active = oxmpi::start_all((recv, send))?;
    ///     (recv, send) = oxmpi::wait_all(active)?;
    ///     assert_eq!((recv.buf(), recv.status().count::<i32>()), (&[step; 2][..], Some(2)));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv_init<B: OwnedBuffer>(
        &self,
        buf: B,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<Persistent<'env, One<B::Element>, L>> {
        let receive = self.receive_init(source.into(), tag.into());
        self.persistent_message(Function::RecvInit, buf.own().within(One::new), receive)
    }

    /// What makes a persistent receive into memory.
    pub(crate) fn receive_init(
        &self,
        source: Source,
        tag: TagPattern,
    ) -> impl FnOnce(&Process, Memory) -> Result<RequestKey> {
        move |process, memory| process.recv_init(&self.comm, memory, source.to_core()?, tag.to_core())
    }

    /// A persistent message in memory that the request keeps, which `make` makes of the memory.
    pub(crate) fn persistent_message<B: Buffers>(
        &self,
        function: Function,
        kept: Kept<B, Loan<'static>>,
        make: impl FnOnce(&'env Process, Memory) -> Result<RequestKey>,
    ) -> Result<Persistent<'env, B, L>> {
        // SAFETY: no scope has lent it.
        unsafe { self.message_of(function, kept, make) }
    }

    /// The same, in memory that a scope may have lent.
    ///
    /// # Safety
    /// Where it has, the scope is told of the request before anybody else has that (`Scope::keep`).
    pub(crate) unsafe fn message_of<B: Buffers>(
        &self,
        function: Function,
        kept: Kept<B, Loan<'_>>,
        make: impl FnOnce(&'env Process, Memory) -> Result<RequestKey>,
    ) -> Result<Persistent<'env, B, L>> {
        // SAFETY: the request keeps the buffers for as long as it may be active.
        let (buffers, loan) = unsafe { kept.apart() };
        // SAFETY: as above; what is borrowed the scope keeps as long, by the caller's promise. It is all lent to be
        // written.
        let memory = unsafe { loan.claim() };
        let key = self.door.call(function, |process| make(process, memory))?;
        Ok(Persistent::message(self.door, key, function, buffers))
    }

    pub(crate) fn on_one<B: OwnedBuffer, C: Collective<'static>>(
        &self,
        buf: B,
        describe: impl FnOnce(Loan<'static>) -> C,
    ) -> Result<Persistent<'env, One<B::Element>, L>> {
        self.persistent_collective(buf.own().within(One::new).describe(describe))
    }

    pub(crate) fn on_two<S, R, C>(
        &self,
        send: S,
        recv: R,
        describe: impl FnOnce(Loan<'static>, Loan<'static>) -> C,
    ) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
        C: Collective<'static>,
    {
        let both = send.own().and(recv.own()).within(|(send, recv)| Two::new(send, recv));
        self.persistent_collective(both.describe(|(send, recv)| describe(send, recv)))
    }

    /// A persistent collective in memory that the request keeps.
    pub(crate) fn persistent_collective<B: Buffers, C: Collective<'static>>(
        &self,
        kept: Kept<B, C>,
    ) -> Result<Persistent<'env, B, L>> {
        // SAFETY: no scope has lent it.
        unsafe { self.collective_of(kept) }
    }

    /// The same, in memory that a scope may have lent.
    ///
    /// # Safety
    /// As [`Communicator::message_of`].
    pub(crate) unsafe fn collective_of<'b, B: Buffers, C: Collective<'b>>(
        &self,
        kept: Kept<B, C>,
    ) -> Result<Persistent<'env, B, L>> {
        let function = C::FUNCTIONS.persistent;
        // SAFETY: the request keeps the buffers for as long as it may be active.
        let (buffers, collective) = unsafe { kept.apart() };
        let key = self.door.call(function, |process| {
            // SAFETY: as above; what is borrowed the scope keeps as long, by the caller's promise. It is all lent to be
            // written.
            let operation = unsafe { collective.bind(process, &self.comm) }?;
            let wish = self.wish.as_deref();
            let wish = wish.map_or(Wish::default(), |wish| process.wish(&self.comm, &operation, wish));
            process.persistent(&self.comm, operation, wish)
        })?;
        Ok(Persistent::collective(self.door, key, function, buffers))
    }
}
