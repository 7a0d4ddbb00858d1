//! Scatter: a block of the root's to everybody.
//!
//! MPI-5.0: Collective Communication, Scatter.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_datatype::Buffer;

use super::{Collective, check_whole, checked_root};
use crate::buffer::{OwnedBuffer, RecvBuffer, SendBuffer};
use crate::check::Check;
use crate::communicator::Communicator;
use crate::loan::{Loan, Withheld};
use crate::owned_request::OwnedRequest;
use crate::persistent::{Persistent, Two};
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

struct Scatter<'b> {
    send: Loan<'b>,
    recv: Loan<'b>,
    root: usize,
}

impl<'b> Collective<'b> for Scatter<'b> {
    const FUNCTIONS: Functions = coll::Collective::Scatter.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let mut whole = Buffer::EMPTY;
        if self.root == comm.rank() as usize {
            check_whole(comm.size() as usize, ("send", &self.send), ("recv", &self.recv))?;
            // SAFETY: the caller's promise.
            whole = unsafe { self.send.claim() };
        }
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::scatter(process, comm, whole, Side::Buffer(recv), checked_root(self.root)?)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Of what the root has in `send`, everybody gets the block of its rank in `recv`. The other ranks' `send`
    /// does not count.
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; `Count` if the root's `send` is not as long as all `recv` together.
    pub fn scatter<S, R>(&self, send: &S, recv: &mut R, root: usize) -> Result<()>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.blocking(Scatter { send: send.lend(), recv: recv.lend_mut(), root })
    }

    /// A persistent [scatter](Communicator::scatter).
    ///
    /// # Errors
    /// As [`Communicator::scatter`] and [`Communicator::barrier_init`].
    pub fn scatter_init<S, R>(
        &self,
        send: S,
        recv: R,
        root: usize,
    ) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.on_two(send, recv, |send, recv| Scatter { send, recv, root })
    }

    /// Begins a [scatter](Communicator::scatter) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::scatter`].
    pub fn iscatter<S, R>(
        &self,
        send: S,
        recv: R,
        root: usize,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.begin_on_two(send, recv, |send, recv| Scatter { send, recv, root })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins a [scatter](Communicator::scatter).
    ///
    /// # Errors
    /// As [`Communicator::scatter`].
    pub fn scatter<S, R>(
        &'scope self,
        send: &'scope S,
        recv: &'scope mut R,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut R::View, L>>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        let (result, recv) = Withheld::lent(recv);
        self.collective(Scatter { send: send.lend(), recv, root }, result)
    }
}
