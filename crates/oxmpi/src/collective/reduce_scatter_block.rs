//! Reduce-scatter of equal blocks: everybody's elements combined, a block of them for each.
//!
//! MPI-5.0: Collective Communication, Reduce-Scatter.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_op::Reducer;

use super::{Collective, check_blocks, check_whole, side};
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

struct ReduceScatterBlock<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    reducer: Result<Reducer>,
}

impl<'b> Collective<'b> for ReduceScatterBlock<'b> {
    const FUNCTIONS: Functions = coll::Collective::ReduceScatterBlock.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let ranks = comm.size() as usize;
        match &self.send {
            Some(send) => check_whole(ranks, ("send", send), ("recv", &self.recv))?,
            None => check_blocks(ranks, "buf", &self.recv)?,
        }
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::reduce_scatter_block(process, comm, send, recv, self.reducer?)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// What everybody has in `send`, combined element by element, is cut into blocks as long as `recv`, in which each
    /// rank gets its own.
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`; `Count` if `send` is not as long as all `recv` together.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let counts = vec![1; world.size()]; // of this rank for each
    /// let mut all = [0];
    /// world.reduce_scatter_block(&counts, &mut all, &oxmpi::Op::SUM)?;
    /// assert_eq!(all, [world.size()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reduce_scatter_block<S, R>(&self, send: &S, recv: &mut R, op: &Op<R::Element>) -> Result<()>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.blocking(ReduceScatterBlock {
            send: Some(send.lend()),
            recv: recv.lend_mut(),
            reducer: op.reducer(),
        })
    }

    /// What everybody has in `buf`, combined element by element, is cut into blocks, of which each rank gets its own at
    /// the beginning of `buf`. What is behind that is undefined then.
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`; `Count` if `buf` cannot be divided into as many blocks as there are ranks.
    pub fn reduce_scatter_block_in_place<B>(&self, buf: &mut B, op: &Op<B::Element>) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(ReduceScatterBlock { send: None, recv: buf.lend_mut(), reducer: op.reducer() })
    }

    /// A persistent [reduce-scatter](Communicator::reduce_scatter_block).
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter_block`] and [`Communicator::barrier_init`].
    pub fn reduce_scatter_block_init<S, R>(
        &self,
        send: S,
        recv: R,
        op: &Op<R::Element>,
    ) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.on_two(send, recv, |send, recv| ReduceScatterBlock {
            send: Some(send),
            recv,
            reducer: op.reducer(),
        })
    }

    /// Begins a [reduce-scatter](Communicator::reduce_scatter_block) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter_block`].
    pub fn ireduce_scatter_block<S, R>(
        &self,
        send: S,
        recv: R,
        op: &Op<R::Element>,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.begin_on_two(send, recv, |send, recv| ReduceScatterBlock {
            send: Some(send),
            recv,
            reducer: op.reducer(),
        })
    }

    /// A persistent [reduce-scatter in place](Communicator::reduce_scatter_block_in_place).
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter_block_in_place`] and [`Communicator::barrier_init`].
    pub fn reduce_scatter_block_in_place_init<B>(
        &self,
        buf: B,
        op: &Op<B::Element>,
    ) -> Result<Persistent<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.on_one(buf, |buf| ReduceScatterBlock { send: None, recv: buf, reducer: op.reducer() })
    }

    /// Begins a [reduce-scatter in place](Communicator::reduce_scatter_block_in_place) on buffers that the request
    /// keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter_block_in_place`].
    pub fn ireduce_scatter_block_in_place<B>(
        &self,
        buf: B,
        op: &Op<B::Element>,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.begin_on_one(buf, |buf| ReduceScatterBlock { send: None, recv: buf, reducer: op.reducer() })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins a [reduce-scatter](Communicator::reduce_scatter_block).
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter_block`].
    pub fn reduce_scatter_block<S, R>(
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
        let loans = ReduceScatterBlock { send: Some(send.lend()), recv, reducer: op.reducer() };
        self.collective(loans, result)
    }

    /// Begins a [reduce-scatter in place](Communicator::reduce_scatter_block_in_place).
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter_block_in_place`].
    pub fn reduce_scatter_block_in_place<B>(
        &'scope self,
        buf: &'scope mut B,
        op: &Op<B::Element>,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (result, buf) = Withheld::lent(buf);
        self.collective(ReduceScatterBlock { send: None, recv: buf, reducer: op.reducer() }, result)
    }
}
