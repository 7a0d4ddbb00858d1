//! Allgatherv: everybody's block, of any length, to everybody.
//!
//! MPI-5.0: Collective Communication, Gather-to-all, Vector Variant.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};

use super::{Collective, side};
use crate::blocks::Blocks;
use crate::buffer::{OwnedBuffer, RecvBuffer, SendBuffer};
use crate::check::Check;
use crate::communicator::Communicator;
use crate::loan::{Loan, Withheld};
use crate::owned_request::OwnedRequest;
use crate::persistent::{One, Persistent, Two};
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

struct Allgatherv<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    blocks: Blocks,
}

impl<'b> Collective<'b> for Allgatherv<'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::Allgatherv,
        nonblocking: Function::Iallgatherv,
        persistent: Function::AllgathervInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.blocks.claim(comm.size() as usize, "recv", self.recv, true) }?;
        coll::allgatherv(process, comm, send, recv)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// What everybody has in `send`, everybody gets: that of rank `i` in block `i` of `recv`. What lies between the
    /// blocks is left alone. See [`Blocks`].
    ///
    /// # Errors
    /// `Count` if there is not one block for each rank, one does not lie in `recv`, or this rank's own is longer than
    /// `send`;
    /// `Truncate` if it is shorter; `Buffer` if two overlap.
    pub fn allgatherv<S, R>(&self, send: &S, recv: &mut R, blocks: impl Into<Blocks>) -> Result<()>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.blocking(Allgatherv { send: Some(send.lend()), recv: recv.lend_mut(), blocks: blocks.into() })
    }

    /// What everybody has in its own block of `buf`, everybody gets there, each in the block of its rank.
    ///
    /// # Errors
    /// As [`Communicator::allgatherv`].
    pub fn allgatherv_in_place<B>(&self, buf: &mut B, blocks: impl Into<Blocks>) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(Allgatherv { send: None, recv: buf.lend_mut(), blocks: blocks.into() })
    }

    /// A persistent [allgatherv](Communicator::allgatherv).
    ///
    /// # Errors
    /// As [`Communicator::allgatherv`] and [`Communicator::barrier_init`].
    pub fn allgatherv_init<S, R>(
        &self,
        send: S,
        recv: R,
        blocks: impl Into<Blocks>,
    ) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.on_two(send, recv, |send, recv| Allgatherv { send: Some(send), recv, blocks: blocks.into() })
    }

    /// Begins an [allgatherv](Communicator::allgatherv) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::allgatherv`].
    pub fn iallgatherv<S, R>(
        &self,
        send: S,
        recv: R,
        blocks: impl Into<Blocks>,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.begin_on_two(send, recv, |send, recv| Allgatherv {
            send: Some(send),
            recv,
            blocks: blocks.into(),
        })
    }

    /// A persistent [allgatherv in place](Communicator::allgatherv_in_place).
    ///
    /// # Errors
    /// As [`Communicator::allgatherv_in_place`] and [`Communicator::barrier_init`].
    pub fn allgatherv_in_place_init<B>(
        &self,
        buf: B,
        blocks: impl Into<Blocks>,
    ) -> Result<Persistent<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.on_one(buf, |buf| Allgatherv { send: None, recv: buf, blocks: blocks.into() })
    }

    /// Begins an [allgatherv in place](Communicator::allgatherv_in_place) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::allgatherv_in_place`].
    pub fn iallgatherv_in_place<B>(
        &self,
        buf: B,
        blocks: impl Into<Blocks>,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.begin_on_one(buf, |buf| Allgatherv { send: None, recv: buf, blocks: blocks.into() })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins an [allgatherv](Communicator::allgatherv).
    ///
    /// # Errors
    /// As [`Communicator::allgatherv`].
    pub fn allgatherv<S, R>(
        &'scope self,
        send: &'scope S,
        recv: &'scope mut R,
        blocks: impl Into<Blocks>,
    ) -> Result<Request<'scope, &'scope mut R::View, L>>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        let (result, recv) = Withheld::lent(recv);
        self.collective(Allgatherv { send: Some(send.lend()), recv, blocks: blocks.into() }, result)
    }

    /// Begins an [allgatherv in place](Communicator::allgatherv_in_place).
    ///
    /// # Errors
    /// As [`Communicator::allgatherv_in_place`].
    pub fn allgatherv_in_place<B>(
        &'scope self,
        buf: &'scope mut B,
        blocks: impl Into<Blocks>,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (result, buf) = Withheld::lent(buf);
        self.collective(Allgatherv { send: None, recv: buf, blocks: blocks.into() }, result)
    }
}
