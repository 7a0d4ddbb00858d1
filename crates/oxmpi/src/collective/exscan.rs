//! Exscan: the elements of the ranks before each, combined, for it.
//!
//! MPI-5.0: Collective Communication, Exclusive Scan.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_datatype::Buffer;
use oxmpi_op::Reducer;

use super::{Collective, check_equal, side};
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

struct Exscan<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    reducer: Result<Reducer>,
}

impl<'b> Collective<'b> for Exscan<'b> {
    const FUNCTIONS: Functions = coll::Collective::Exscan.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let result = if comm.rank() == 0 && self.send.is_some() {
            Buffer::EMPTY
        } else {
            check_equal(self.send.as_ref().unwrap_or(&self.recv), &self.recv)?;
            // SAFETY: the caller's promise.
            unsafe { self.recv.claim() }
        };
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send) };
        coll::exscan(process, comm, send, result, self.reducer?)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// What the ranks before this one have in `send`, combined element by element in the order of the ranks, this
    /// one gets in `recv`. Rank 0 gets nothing, and its `recv` is left alone.
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`; `Count` if `recv` has another length than `send`, but for rank 0.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (pieces, mut begin) = ([3], [0]);
    /// world.exscan(&pieces, &mut begin, &oxmpi::Op::SUM)?;
    /// assert_eq!(begin, [3 * world.rank()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn exscan<S, R>(&self, send: &S, recv: &mut R, op: &Op<R::Element>) -> Result<()>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.blocking(Exscan { send: Some(send.lend()), recv: recv.lend_mut(), reducer: op.reducer() })
    }

    /// What the ranks before this one have in `buf`, combined element by element, this one gets there. That of rank
    /// 0 is left alone.
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`.
    pub fn exscan_in_place<B>(&self, buf: &mut B, op: &Op<B::Element>) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(Exscan { send: None, recv: buf.lend_mut(), reducer: op.reducer() })
    }

    /// A persistent [exscan](Communicator::exscan).
    ///
    /// # Errors
    /// As [`Communicator::exscan`] and [`Communicator::barrier_init`].
    pub fn exscan_init<S, R>(
        &self,
        send: S,
        recv: R,
        op: &Op<R::Element>,
    ) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.on_two(send, recv, |send, recv| Exscan { send: Some(send), recv, reducer: op.reducer() })
    }

    /// Begins an [exscan](Communicator::exscan) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::exscan`].
    pub fn iexscan<S, R>(
        &self,
        send: S,
        recv: R,
        op: &Op<R::Element>,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.begin_on_two(send, recv, |send, recv| Exscan { send: Some(send), recv, reducer: op.reducer() })
    }

    /// A persistent [exscan in place](Communicator::exscan_in_place).
    ///
    /// # Errors
    /// As [`Communicator::exscan_in_place`] and [`Communicator::barrier_init`].
    pub fn exscan_in_place_init<B>(
        &self,
        buf: B,
        op: &Op<B::Element>,
    ) -> Result<Persistent<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.on_one(buf, |buf| Exscan { send: None, recv: buf, reducer: op.reducer() })
    }

    /// Begins an [exscan in place](Communicator::exscan_in_place) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::exscan_in_place`].
    pub fn iexscan_in_place<B>(
        &self,
        buf: B,
        op: &Op<B::Element>,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.begin_on_one(buf, |buf| Exscan { send: None, recv: buf, reducer: op.reducer() })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins an [exscan](Communicator::exscan).
    ///
    /// # Errors
    /// As [`Communicator::exscan`].
    pub fn exscan<S, R>(
        &'scope self,
        send: &'scope S,
        recv: &'scope mut R,
        op: &Op<R::Element>,
    ) -> Result<Request<'scope, &'scope mut R::View, L>>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        let (result, recv) = Withheld::lent(recv);
        let loans = Exscan { send: Some(send.lend()), recv, reducer: op.reducer() };
        self.collective(loans, result)
    }

    /// Begins an [exscan in place](Communicator::exscan_in_place).
    ///
    /// # Errors
    /// As [`Communicator::exscan_in_place`].
    pub fn exscan_in_place<B>(
        &'scope self,
        buf: &'scope mut B,
        op: &Op<B::Element>,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (result, buf) = Withheld::lent(buf);
        self.collective(Exscan { send: None, recv: buf, reducer: op.reducer() }, result)
    }
}
