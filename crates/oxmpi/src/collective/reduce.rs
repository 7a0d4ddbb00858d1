//! Reduce: everybody's elements combined, for the root.
//!
//! MPI-5.0: Collective Communication, Reduce.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_datatype::Buffer;
use oxmpi_op::Reducer;

use super::{Collective, check_equal, checked_root, side};
use crate::buffer::{OwnedBuffer, RecvBuffer, SendBuffer};
use crate::check::Check;
use crate::communicator::Communicator;
use crate::loan::{Loan, Withheld};
use crate::op::Op;
use crate::owned_request::OwnedRequest;
use crate::persistent::{One, Persistent, Two};
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

struct Reduce<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    reducer: Result<Reducer>,
    root: usize,
}

impl<'b> Collective<'b> for Reduce<'b> {
    const FUNCTIONS: Functions = coll::Collective::Reduce.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let (send, result) = if self.root == comm.rank() as usize {
            check_equal(self.send.as_ref().unwrap_or(&self.recv), &self.recv)?;
            // SAFETY: the caller's promise.
            let send = unsafe { side(self.send) };
            // SAFETY: the caller's promise.
            (send, unsafe { self.recv.claim() })
        } else {
            let contribution = self.send.unwrap_or(self.recv);
            // SAFETY: the caller's promise.
            (Side::Buffer(unsafe { contribution.claim() }), Buffer::EMPTY)
        };
        coll::reduce(process, comm, send, result, self.reducer?, checked_root(self.root)?)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// What everybody has in `send`, combined element by element, the root gets in `recv`. The other ranks'
    /// `recv` is left alone.
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; `Op` if `op` is not defined on `T`; `Count` if the root's `recv` has
    /// another length than `send`.
    pub fn reduce<S, R>(&self, send: &S, recv: &mut R, op: &Op<R::Element>, root: usize) -> Result<()>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.blocking(Reduce { send: Some(send.lend()), recv: recv.lend_mut(), reducer: op.reducer(), root })
    }

    /// What everybody has in `buf`, combined element by element, the root gets there.
    ///
    /// # Errors
    /// As [`Communicator::reduce`].
    pub fn reduce_in_place<B>(&self, buf: &mut B, op: &Op<B::Element>, root: usize) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(Reduce { send: None, recv: buf.lend_mut(), reducer: op.reducer(), root })
    }

    /// A persistent [reduction](Communicator::reduce).
    ///
    /// # Errors
    /// As [`Communicator::reduce`] and [`Communicator::barrier_init`].
    pub fn reduce_init<S, R>(
        &self,
        send: S,
        recv: R,
        op: &Op<R::Element>,
        root: usize,
    ) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.on_two(send, recv, |send, recv| Reduce { send: Some(send), recv, reducer: op.reducer(), root })
    }

    /// Begins a [reduction](Communicator::reduce) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::reduce`].
    pub fn ireduce<S, R>(
        &self,
        send: S,
        recv: R,
        op: &Op<R::Element>,
        root: usize,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.begin_on_two(send, recv, |send, recv| Reduce {
            send: Some(send),
            recv,
            reducer: op.reducer(),
            root,
        })
    }

    /// A persistent [reduction in place](Communicator::reduce_in_place).
    ///
    /// # Errors
    /// As [`Communicator::reduce`] and [`Communicator::barrier_init`].
    pub fn reduce_in_place_init<B>(
        &self,
        buf: B,
        op: &Op<B::Element>,
        root: usize,
    ) -> Result<Persistent<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.on_one(buf, |buf| Reduce { send: None, recv: buf, reducer: op.reducer(), root })
    }

    /// Begins a [reduction in place](Communicator::reduce_in_place) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::reduce_in_place`].
    pub fn ireduce_in_place<B>(
        &self,
        buf: B,
        op: &Op<B::Element>,
        root: usize,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.begin_on_one(buf, |buf| Reduce { send: None, recv: buf, reducer: op.reducer(), root })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins a [reduction](Communicator::reduce).
    ///
    /// # Errors
    /// As [`Communicator::reduce`].
    pub fn reduce<S, R>(
        &'scope self,
        send: &'scope S,
        recv: &'scope mut R,
        op: &Op<R::Element>,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut R::View, L>>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        let (result, recv) = Withheld::lent(recv);
        self.collective(Reduce { send: Some(send.lend()), recv, reducer: op.reducer(), root }, result)
    }

    /// Begins a [reduction in place](Communicator::reduce_in_place).
    ///
    /// # Errors
    /// As [`Communicator::reduce`].
    pub fn reduce_in_place<B>(
        &'scope self,
        buf: &'scope mut B,
        op: &Op<B::Element>,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (result, buf) = Withheld::lent(buf);
        self.collective(Reduce { send: None, recv: buf, reducer: op.reducer(), root }, result)
    }
}
