//! Allgather: everybody's block to everybody.
//!
//! MPI-5.0: Collective Communication, Gather-to-all.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};

use super::{Collective, check_blocks, check_whole, side};
use crate::buffer::{OwnedBuffer, RecvBuffer, SendBuffer};
use crate::check::Check;
use crate::communicator::Communicator;
use crate::loan::{Loan, Withheld};
use crate::owned_request::OwnedRequest;
use crate::persistent::{Persistent, Two};
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

struct Allgather<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
}

impl<'b> Collective<'b> for Allgather<'b> {
    const FUNCTIONS: Functions = coll::Collective::Allgather.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let ranks = comm.size() as usize;
        match &self.send {
            Some(send) => check_whole(ranks, ("recv", &self.recv), ("send", send))?,
            None => check_blocks(ranks, "buf", &self.recv)?,
        }
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::allgather(process, comm, send, recv)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// What everybody has in `send`, everybody gets in `recv`, in the order of the ranks.
    ///
    /// # Errors
    /// `Count` if `recv` is not as long as all `send` together.
    pub fn allgather<S, R>(&self, send: &S, recv: &mut R) -> Result<()>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.blocking(Allgather { send: Some(send.lend()), recv: recv.lend_mut() })
    }

    /// What everybody has in `buf` as the block of its rank, everybody gets there.
    ///
    /// # Errors
    /// `Count` if `buf` cannot be divided into as many blocks as there are ranks.
    pub fn allgather_in_place<B>(&self, buf: &mut B) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(Allgather { send: None, recv: buf.lend_mut() })
    }

    /// A persistent [allgather](Communicator::allgather).
    ///
    /// # Errors
    /// As [`Communicator::allgather`] and [`Communicator::barrier_init`].
    pub fn allgather_init<S, R>(&self, send: S, recv: R) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.on_two(send, recv, |send, recv| Allgather { send: Some(send), recv })
    }

    /// Begins an [allgather](Communicator::allgather) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::allgather`].
    pub fn iallgather<S, R>(&self, send: S, recv: R) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.begin_on_two(send, recv, |send, recv| Allgather { send: Some(send), recv })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins an [allgather](Communicator::allgather).
    ///
    /// # Errors
    /// As [`Communicator::allgather`].
    pub fn allgather<S, R>(
        &'scope self,
        send: &'scope S,
        recv: &'scope mut R,
    ) -> Result<Request<'scope, &'scope mut R::View, L>>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        let (result, recv) = Withheld::lent(recv);
        self.collective(Allgather { send: Some(send.lend()), recv }, result)
    }
}
