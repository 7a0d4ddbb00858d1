//! Making persistent requests: the methods that end in `_init`.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests; Collective Communication,
//! Persistent Collective Operations.

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::Wish;
use oxmpi_core::{Process, RequestKey};

use crate::buffer::OwnedBuffer;
use crate::buffers::{Buffers, One, Two};
use crate::collective::Collective;
use crate::communicator::Communicator;
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
        let (source, tag) = (source.into(), tag.into().to_core());
        let (buf, loan) = buf.own();
        // SAFETY: the request keeps the memory for as long as the request may be active, and it is owned.
        let buffer = unsafe { loan.claim() };
        self.persistent_message(Function::RecvInit, One::new(buf), |process| {
            process.recv_init(&self.comm, buffer, source.to_core()?, tag)
        })
    }

    pub(crate) fn persistent_message<B: Buffers>(
        &self,
        function: Function,
        buffers: B,
        make: impl FnOnce(&'env Process) -> Result<RequestKey>,
    ) -> Result<Persistent<'env, B, L>> {
        let key = self.door.call(function, make)?;
        Ok(Persistent::new(self.door, key, None, buffers))
    }

    pub(crate) fn on_one<B: OwnedBuffer, C: Collective<'static>>(
        &self,
        buf: B,
        describe: impl FnOnce(Loan<'static>) -> C,
    ) -> Result<Persistent<'env, One<B::Element>, L>> {
        let (buf, loan) = buf.own();
        self.persistent_collective(describe(loan), One::new(buf))
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
        let ((send, sent), (recv, received)) = (send.own(), recv.own());
        self.persistent_collective(describe(sent, received), Two::new(send, recv))
    }

    /// Makes a collective on memory that is lent by `buffers`, and by nothing else; by those of a scope for as long as
    /// that lasts.
    pub(crate) fn persistent_collective<'b, B: Buffers, C: Collective<'b>>(
        &self,
        collective: C,
        buffers: B,
    ) -> Result<Persistent<'env, B, L>> {
        let function = C::FUNCTIONS.persistent;
        let key = self.door.call(function, |process| {
            // SAFETY: the memory is owned by `buffers`, which the request keeps for as long as the request may be
            // active; or borrowed by a scope, which does not end before.
            let operation = unsafe { collective.bind(process, &self.comm) }?;
            let wish = self.wish.as_deref();
            let wish = wish.map_or(Wish::default(), |wish| process.wish(&self.comm, &operation, wish));
            process.persistent(&self.comm, operation, wish)
        })?;
        Ok(Persistent::new(self.door, key, Some(function), buffers))
    }
}
