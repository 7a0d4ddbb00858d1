//! Scan: the elements of the ranks up to each, combined, for it.
//!
//! MPI-5.0: Collective Communication, Scan.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
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

struct Scan<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    reducer: Result<Reducer>,
}

impl<'b> Collective<'b> for Scan<'b> {
    const FUNCTIONS: Functions = coll::Collective::Scan.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        check_equal(self.send.as_ref().unwrap_or(&self.recv), &self.recv)?;
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::scan(process, comm, send, recv, self.reducer?)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// What the ranks up to this one have in `send`, combined element by element in the order of the ranks, this
    /// one gets in `recv`.
    ///
    /// # Errors
    /// As [`Communicator::allreduce`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let mut ranks = [0];
    /// world.scan(&[1], &mut ranks, &oxmpi::Op::SUM)?;
    /// assert_eq!(ranks, [world.rank() + 1]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn scan<S, R>(&self, send: &S, recv: &mut R, op: &Op<R::Element>) -> Result<()>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.blocking(Scan { send: Some(send.lend()), recv: recv.lend_mut(), reducer: op.reducer() })
    }

    /// What the ranks up to this one have in `buf`, combined element by element, this one gets there.
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`.
    pub fn scan_in_place<B>(&self, buf: &mut B, op: &Op<B::Element>) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(Scan { send: None, recv: buf.lend_mut(), reducer: op.reducer() })
    }

    /// A persistent [scan](Communicator::scan).
    ///
    /// # Errors
    /// As [`Communicator::scan`] and [`Communicator::barrier_init`].
    pub fn scan_init<S, R>(
        &self,
        send: S,
        recv: R,
        op: &Op<R::Element>,
    ) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.on_two(send, recv, |send, recv| Scan { send: Some(send), recv, reducer: op.reducer() })
    }

    /// Begins a [scan](Communicator::scan) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::scan`].
    pub fn iscan<S, R>(
        &self,
        send: S,
        recv: R,
        op: &Op<R::Element>,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.begin_on_two(send, recv, |send, recv| Scan { send: Some(send), recv, reducer: op.reducer() })
    }

    /// A persistent [scan in place](Communicator::scan_in_place).
    ///
    /// # Errors
    /// As [`Communicator::scan_in_place`] and [`Communicator::barrier_init`].
    pub fn scan_in_place_init<B>(
        &self,
        buf: B,
        op: &Op<B::Element>,
    ) -> Result<Persistent<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.on_one(buf, |buf| Scan { send: None, recv: buf, reducer: op.reducer() })
    }

    /// Begins a [scan in place](Communicator::scan_in_place) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::scan_in_place`].
    pub fn iscan_in_place<B>(
        &self,
        buf: B,
        op: &Op<B::Element>,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.begin_on_one(buf, |buf| Scan { send: None, recv: buf, reducer: op.reducer() })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins a [scan](Communicator::scan).
    ///
    /// # Errors
    /// As [`Communicator::scan`].
    pub fn scan<S, R>(
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
        let loans = Scan { send: Some(send.lend()), recv, reducer: op.reducer() };
        self.collective(loans, result)
    }

    /// Begins a [scan in place](Communicator::scan_in_place).
    ///
    /// # Errors
    /// As [`Communicator::scan_in_place`].
    pub fn scan_in_place<B>(
        &'scope self,
        buf: &'scope mut B,
        op: &Op<B::Element>,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (result, buf) = Withheld::lent(buf);
        self.collective(Scan { send: None, recv: buf, reducer: op.reducer() }, result)
    }
}
