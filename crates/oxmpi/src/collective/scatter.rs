//! Scatter: a block of the root's to everybody.
//!
//! MPI-5.0: Collective Communication, Scatter.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_datatype::Buffer;

use super::{Collective, check_blocks, check_whole, checked_root};
use crate::buffer::{OwnedBuffer, RecvBuffer, SendBuffer};
use crate::check::Check;
use crate::communicator::Communicator;
use crate::loan::{Loan, Withheld};
use crate::owned_request::OwnedRequest;
use crate::persistent::{One, Persistent, Two};
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

struct Scatter<'b> {
    /// `None` if it lies in `recv`: at the root all of it, elsewhere nothing.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    root: usize,
}

impl<'b> Collective<'b> for Scatter<'b> {
    const FUNCTIONS: Functions = coll::Collective::Scatter.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let root = checked_root(self.root)?;
        if self.root != comm.rank() as usize {
            // SAFETY: the caller's promise.
            let recv = Side::Buffer(unsafe { self.recv.claim() });
            return coll::scatter(process, comm, Buffer::EMPTY, recv, root);
        }
        let Some(send) = self.send else {
            check_blocks(comm.size() as usize, "buf", &self.recv)?;
            // SAFETY: the caller's promise.
            let send = unsafe { self.recv.claim() };
            return coll::scatter(process, comm, send, Side::InPlace, root);
        };
        check_whole(comm.size() as usize, ("send", &send), ("recv", &self.recv))?;
        // SAFETY: the caller's promise.
        let send = unsafe { send.claim() };
        // SAFETY: the caller's promise.
        let recv = Side::Buffer(unsafe { self.recv.claim() });
        coll::scatter(process, comm, send, recv, root)
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
        self.blocking(Scatter { send: Some(send.lend()), recv: recv.lend_mut(), root })
    }

    /// Of what the root has in `buf`, everybody gets the block of its rank in `buf`; the root's stays where it is.
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; `Count` if the root's `buf` cannot be divided into as many blocks as there are
    /// ranks.
    pub fn scatter_in_place<B>(&self, buf: &mut B, root: usize) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(Scatter { send: None, recv: buf.lend_mut(), root })
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
        self.on_two(send, recv, |send, recv| Scatter { send: Some(send), recv, root })
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
        self.begin_on_two(send, recv, |send, recv| Scatter { send: Some(send), recv, root })
    }

    /// A persistent [scatter in place](Communicator::scatter_in_place).
    ///
    /// # Errors
    /// As [`Communicator::scatter_in_place`] and [`Communicator::barrier_init`].
    pub fn scatter_in_place_init<B>(
        &self,
        buf: B,
        root: usize,
    ) -> Result<Persistent<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.on_one(buf, |buf| Scatter { send: None, recv: buf, root })
    }

    /// Begins a [scatter in place](Communicator::scatter_in_place) on a buffer that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::scatter_in_place`].
    pub fn iscatter_in_place<B>(&self, buf: B, root: usize) -> Result<OwnedRequest<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.begin_on_one(buf, |buf| Scatter { send: None, recv: buf, root })
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
        self.collective(Scatter { send: Some(send.lend()), recv, root }, result)
    }

    /// Begins a [scatter in place](Communicator::scatter_in_place).
    ///
    /// # Errors
    /// As [`Communicator::scatter_in_place`].
    pub fn scatter_in_place<B>(
        &'scope self,
        buf: &'scope mut B,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (result, buf) = Withheld::lent(buf);
        self.collective(Scatter { send: None, recv: buf, root }, result)
    }
}
