//! Reduce-scatter of equal blocks: everybody's elements combined, a block of them for each.
//!
//! MPI-5.0: Collective Communication, Reduce-Scatter.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_op::Reducer;

use super::{Collective, check_blocks, check_whole, side};
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::loan::{Loan, Withheld};
use crate::op::Op;
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

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let ranks = comm.size() as usize;
        match self.send {
            Some(send) => check_whole(ranks, ("send", send), ("recv", self.recv))?,
            None => check_blocks(ranks, "buf", self.recv)?,
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
    pub fn reduce_scatter_block<T: Datatype>(&self, send: &[T], recv: &mut [T], op: &Op<T>) -> Result<()> {
        self.blocking(ReduceScatterBlock {
            send: Some(send.into()),
            recv: recv.into(),
            reducer: op.reducer(),
        })
    }

    /// What everybody has in `buf`, combined element by element, is cut into blocks, of which each rank gets its own at
    /// the beginning of `buf`. What is behind that is undefined then.
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`; `Count` if `buf` cannot be divided into as many blocks as there are ranks.
    pub fn reduce_scatter_block_in_place<T: Datatype>(&self, buf: &mut [T], op: &Op<T>) -> Result<()> {
        self.blocking(ReduceScatterBlock { send: None, recv: buf.into(), reducer: op.reducer() })
    }

    /// A persistent [reduce-scatter](Communicator::reduce_scatter_block).
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter_block`] and [`Communicator::barrier_init`].
    pub fn reduce_scatter_block_init<T: Datatype>(
        &self,
        send: Vec<T>,
        recv: Vec<T>,
        op: &Op<T>,
    ) -> Result<Persistent<'env, Two<T>, L>> {
        self.on_two(send, recv, |send, recv| ReduceScatterBlock {
            send: Some(send),
            recv,
            reducer: op.reducer(),
        })
    }

    /// A persistent [reduce-scatter in place](Communicator::reduce_scatter_block_in_place).
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter_block_in_place`] and [`Communicator::barrier_init`].
    pub fn reduce_scatter_block_in_place_init<T: Datatype>(
        &self,
        buf: Vec<T>,
        op: &Op<T>,
    ) -> Result<Persistent<'env, One<T>, L>> {
        self.on_one(buf, |buf| ReduceScatterBlock { send: None, recv: buf, reducer: op.reducer() })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins a [reduce-scatter](Communicator::reduce_scatter_block).
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter_block`].
    pub fn reduce_scatter_block<T: Datatype>(
        &'scope self,
        send: &'scope [T],
        recv: &'scope mut [T],
        op: &Op<T>,
    ) -> Result<Request<'scope, &'scope mut [T], L>> {
        let mut recv = Withheld::new(recv);
        let loans = ReduceScatterBlock { send: Some(send.into()), recv: recv.lend(), reducer: op.reducer() };
        self.collective(loans, recv)
    }

    /// Begins a [reduce-scatter in place](Communicator::reduce_scatter_block_in_place).
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter_block_in_place`].
    pub fn reduce_scatter_block_in_place<T: Datatype>(
        &'scope self,
        buf: &'scope mut [T],
        op: &Op<T>,
    ) -> Result<Request<'scope, &'scope mut [T], L>> {
        let mut buf = Withheld::new(buf);
        self.collective(ReduceScatterBlock { send: None, recv: buf.lend(), reducer: op.reducer() }, buf)
    }
}
