//! Alltoall: a block from everybody to everybody.
//!
//! MPI-5.0: Collective Communication, All-to-All Scatter/Gather.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};

use super::{Collective, check_blocks, check_equal, side};
use crate::buffer::{OwnedBuffer, RecvBuffer, SendBuffer};
use crate::check::Check;
use crate::communicator::Communicator;
use crate::loan::{Loan, Withheld};
use crate::owned_request::OwnedRequest;
use crate::persistent::{Persistent, Two};
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

struct Alltoall<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
}

impl<'b> Collective<'b> for Alltoall<'b> {
    const FUNCTIONS: Functions = coll::Collective::Alltoall.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let send = self.send.as_ref().unwrap_or(&self.recv);
        check_equal(send, &self.recv)?;
        check_blocks(comm.size() as usize, "send", send)?;
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::alltoall(process, comm, send, recv)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Block `i` of `send` goes to rank `i`, which gets it in its `recv` as the block of this rank.
    ///
    /// # Errors
    /// `Count` if `send` and `recv` differ in length, or cannot be divided into as many blocks as there are ranks.
    pub fn alltoall<S, R>(&self, send: &S, recv: &mut R) -> Result<()>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.blocking(Alltoall { send: Some(send.lend()), recv: recv.lend_mut() })
    }

    /// Block `i` of `buf` is exchanged for the block of this rank in rank `i`'s `buf`.
    ///
    /// # Errors
    /// `Count` if `buf` cannot be divided into as many blocks as there are ranks.
    pub fn alltoall_in_place<B>(&self, buf: &mut B) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(Alltoall { send: None, recv: buf.lend_mut() })
    }

    /// A persistent [alltoall](Communicator::alltoall).
    ///
    /// # Errors
    /// As [`Communicator::alltoall`] and [`Communicator::barrier_init`].
    pub fn alltoall_init<S, R>(&self, send: S, recv: R) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.on_two(send, recv, |send, recv| Alltoall { send: Some(send), recv })
    }

    /// Begins an [alltoall](Communicator::alltoall) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::alltoall`].
    pub fn ialltoall<S, R>(&self, send: S, recv: R) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.begin_on_two(send, recv, |send, recv| Alltoall { send: Some(send), recv })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins an [alltoall](Communicator::alltoall).
    ///
    /// # Errors
    /// As [`Communicator::alltoall`].
    pub fn alltoall<S, R>(
        &'scope self,
        send: &'scope S,
        recv: &'scope mut R,
    ) -> Result<Request<'scope, &'scope mut R::View, L>>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        let (result, recv) = Withheld::lent(recv);
        self.collective(Alltoall { send: Some(send.lend()), recv }, result)
    }
}
