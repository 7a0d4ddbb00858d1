//! A send and a receive in one call.
//!
//! MPI-5.0: Point-to-Point Communication, Send-Receive.

use oxmpi_base::{Function, Result};
use oxmpi_core::Process;

use crate::buffer::{OwnedBuffer, RecvBuffer, SendBuffer};
use crate::buffers::{One, Two};
use crate::communicator::Communicator;
use crate::loan::Loan;
use crate::message::{Dest, Source, Status, TagPattern};
use crate::owned_request::OwnedRequest;
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Sends one message and receives another; neither waits for the other.
    ///
    /// # Errors
    /// As [`Communicator::send`] and [`Communicator::recv`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let mut left = [usize::MAX];
    /// world.sendrecv(&[rank], (rank + 1) % size, 0, &mut left, (rank + size - 1) % size, 0)?;
    /// assert_eq!(left, [(rank + size - 1) % size]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sendrecv<S, R>(
        &self,
        send: &S,
        dest: impl Into<Dest>,
        send_tag: i32,
        recv: &mut R,
        source: impl Into<Source>,
        recv_tag: impl Into<TagPattern>,
    ) -> Result<Status>
    where
        S: SendBuffer + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        let (dest, source, recv_tag) = (dest.into(), source.into(), recv_tag.into().to_core());
        // SAFETY: both messages are complete when the call returns, and a send does not write.
        let send = unsafe { send.lend().claim() };
        let recv = recv.lend_mut();
        let check = recv.check();
        // SAFETY: as above, and the loan is of what may be written.
        let recv = unsafe { recv.claim() };
        let status = self.door.call(Function::Sendrecv, |process| {
            let (dest, source) = (dest.to_core()?, source.to_core()?);
            process.sendrecv(&self.comm, &send, dest, send_tag, recv, source, recv_tag)?.into_result()
        });
        self.door.checked(Function::Sendrecv, check, status).map(Status::from)
    }

    /// Sends what `buf` holds, and receives another message into it.
    ///
    /// # Errors
    /// As [`Communicator::send`] and [`Communicator::recv`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let mut token = rank;
    /// world.sendrecv_replace(&mut token, (rank + 1) % size, 0, (rank + size - 1) % size, 0)?;
    /// assert_eq!(token, (rank + size - 1) % size);
    /// # Ok(())
    /// # }
    /// ```
    pub fn sendrecv_replace<B>(
        &self,
        buf: &mut B,
        dest: impl Into<Dest>,
        send_tag: i32,
        source: impl Into<Source>,
        recv_tag: impl Into<TagPattern>,
    ) -> Result<Status>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (dest, source, recv_tag) = (dest.into(), source.into(), recv_tag.into().to_core());
        let loan = buf.lend_mut();
        let check = loan.check();
        // SAFETY: both messages are complete when the call returns, and the loan is of what may be read and written.
        let memory = unsafe { loan.claim() };
        let status = self.door.call(Function::SendrecvReplace, |process| {
            let (dest, source) = (dest.to_core()?, source.to_core()?);
            process.sendrecv_replace(&self.comm, memory, dest, send_tag, source, recv_tag)?.into_result()
        });
        self.door.checked(Function::SendrecvReplace, check, status).map(Status::from)
    }

    /// Begins to send one message and to receive another, by one request that keeps the buffers of both; what it says
    /// about itself is about what has been received. Their elements are of one type.
    ///
    /// # Errors
    /// As [`Communicator::sendrecv`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// let (rank, size) = (world.rank(), world.size());
    /// let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    /// let request = world.isendrecv([rank; 2], right, 0, [usize::MAX; 5], left, 0)?;
    /// // ... compute meanwhile ...
    /// let ((sent, received), status) = request.wait()?;
    /// assert_eq!((status.source(), status.count::<usize>()), (Some(left), Some(2)));
    /// assert_eq!((&sent[..], &received[..2]), (&[rank; 2][..], &[left; 2][..]));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn isendrecv<S, R>(
        &self,
        send: S,
        dest: impl Into<Dest>,
        send_tag: i32,
        recv: R,
        source: impl Into<Source>,
        recv_tag: impl Into<TagPattern>,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        let (dest, source, recv_tag) = (dest.into(), source.into(), recv_tag.into().to_core());
        let both = send.own().and(recv.own()).within(|(send, recv)| Two::new(send, recv));
        let begin = |process: &Process, (sent, received): (Loan<'static>, Loan<'static>)| {
            let (dest, source) = (dest.to_core()?, source.to_core()?);
            // SAFETY: the request keeps the memory until it is complete, and a send does not write.
            let sent = unsafe { sent.claim() };
            // SAFETY: as above, and the memory is owned.
            let received = unsafe { received.claim() };
            process.isendrecv(&self.comm, &sent, dest, send_tag, received, source, recv_tag)
        };
        // SAFETY: no scope has lent it.
        unsafe { OwnedRequest::begun(self.door, Function::Isendrecv, None, both, begin) }
    }

    /// Begins to send what `buf` holds and to receive another message into it, which the request keeps.
    ///
    /// # Errors
    /// As [`Communicator::sendrecv`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// let (rank, size) = (world.rank(), world.size());
    /// let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    /// let request = world.isendrecv_replace([rank; 2], right, 0, left, 0)?;
    /// // ... compute meanwhile ...
    /// assert_eq!(request.wait()?.0, [left; 2]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn isendrecv_replace<B: OwnedBuffer>(
        &self,
        buf: B,
        dest: impl Into<Dest>,
        send_tag: i32,
        source: impl Into<Source>,
        recv_tag: impl Into<TagPattern>,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>> {
        let (dest, source, recv_tag) = (dest.into(), source.into(), recv_tag.into().to_core());
        self.owned(Function::IsendrecvReplace, buf.own().within(One::new), |process, memory| {
            let (dest, source) = (dest.to_core()?, source.to_core()?);
            process.isendrecv_replace(&self.comm, memory, dest, send_tag, source, recv_tag)
        })
    }
}

impl<'scope, L: ThreadLevel> Scope<'scope, '_, L> {
    /// Begins to send one message and to receive another, by one request, which gives the buffer of the second back.
    ///
    /// # Errors
    /// As [`Communicator::sendrecv`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// let (rank, size) = (world.rank(), world.size());
    /// let (mut from_left, right, left) = (usize::MAX, (rank + 1) % size, (rank + size - 1) % size);
    /// world.scope(|scope| {
    ///     let request = scope.sendrecv(&rank, right, 0, &mut from_left, left, 0)?;
    ///     // ... compute meanwhile ...
    ///     assert_eq!(*request.wait()?, left);
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// What is received is not what is sent:
    ///
    /// ```compile_fail,E0502
    /// # fn main() -> oxmpi::Result<()> {
    /// # let env = oxmpi::init()?;
    /// let mut buf = [0];
    /// env.this().scope(|scope| scope.sendrecv(&buf, 0, 0, &mut buf, 0, 0)?.wait().map(drop))
    /// # }
    /// ```
    pub fn sendrecv<S, R>(
        &'scope self,
        send: &'scope S,
        dest: impl Into<Dest>,
        send_tag: i32,
        recv: &'scope mut R,
        source: impl Into<Source>,
        recv_tag: impl Into<TagPattern>,
    ) -> Result<Request<'scope, &'scope mut R::View, L>>
    where
        S: SendBuffer + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        let (dest, source, recv_tag) = (dest.into(), source.into(), recv_tag.into().to_core());
        // SAFETY: `receive` keeps the operation to the scope, and a send does not write.
        let sent = unsafe { send.lend().claim() };
        let comm = &self.communicator().comm;
        self.receive(Function::Isendrecv, recv, |process, received| {
            let (dest, source) = (dest.to_core()?, source.to_core()?);
            process.isendrecv(comm, &sent, dest, send_tag, received, source, recv_tag)
        })
    }

    /// Begins to send what `buf` holds and to receive another message into it.
    ///
    /// # Errors
    /// As [`Communicator::sendrecv`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// let (rank, size) = (world.rank(), world.size());
    /// let (mut token, right, left) = (rank, (rank + 1) % size, (rank + size - 1) % size);
    /// world.scope(|scope| {
    ///     let request = scope.sendrecv_replace(&mut token, right, 0, left, 0)?;
    ///     // ... compute meanwhile ...
    ///     assert_eq!(*request.wait()?, left);
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn sendrecv_replace<B>(
        &'scope self,
        buf: &'scope mut B,
        dest: impl Into<Dest>,
        send_tag: i32,
        source: impl Into<Source>,
        recv_tag: impl Into<TagPattern>,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (dest, source, recv_tag) = (dest.into(), source.into(), recv_tag.into().to_core());
        let comm = &self.communicator().comm;
        self.receive(Function::IsendrecvReplace, buf, |process, memory| {
            let (dest, source) = (dest.to_core()?, source.to_core()?);
            process.isendrecv_replace(comm, memory, dest, send_tag, source, recv_tag)
        })
    }
}
