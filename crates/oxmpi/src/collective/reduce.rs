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
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::loan::{Loan, Withheld};
use crate::op::Op;
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

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let contribution = self.send.unwrap_or(self.recv);
        let (send, result) = if self.root == comm.rank() as usize {
            check_equal(contribution, self.recv)?;
            // SAFETY: the caller's promise.
            let send = unsafe { side(self.send) };
            // SAFETY: the caller's promise.
            (send, unsafe { self.recv.claim() })
        } else {
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
    pub fn reduce<T: Datatype>(&self, send: &[T], recv: &mut [T], op: &Op<T>, root: usize) -> Result<()> {
        self.blocking(Reduce { send: Some(send.into()), recv: recv.into(), reducer: op.reducer(), root })
    }

    /// What everybody has in `buf`, combined element by element, the root gets there.
    ///
    /// # Errors
    /// As [`Communicator::reduce`].
    pub fn reduce_in_place<T: Datatype>(&self, buf: &mut [T], op: &Op<T>, root: usize) -> Result<()> {
        self.blocking(Reduce { send: None, recv: buf.into(), reducer: op.reducer(), root })
    }

    /// A persistent [reduction](Communicator::reduce).
    ///
    /// # Errors
    /// As [`Communicator::reduce`] and [`Communicator::barrier_init`].
    pub fn reduce_init<T: Datatype>(
        &self,
        send: Vec<T>,
        recv: Vec<T>,
        op: &Op<T>,
        root: usize,
    ) -> Result<Persistent<'env, Two<T>, L>> {
        self.on_two(send, recv, |send, recv| Reduce { send: Some(send), recv, reducer: op.reducer(), root })
    }

    /// A persistent [reduction in place](Communicator::reduce_in_place).
    ///
    /// # Errors
    /// As [`Communicator::reduce`] and [`Communicator::barrier_init`].
    pub fn reduce_in_place_init<T: Datatype>(
        &self,
        buf: Vec<T>,
        op: &Op<T>,
        root: usize,
    ) -> Result<Persistent<'env, One<T>, L>> {
        self.on_one(buf, |buf| Reduce { send: None, recv: buf, reducer: op.reducer(), root })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins a [reduction](Communicator::reduce).
    ///
    /// # Errors
    /// As [`Communicator::reduce`].
    pub fn reduce<T: Datatype>(
        &'scope self,
        send: &'scope [T],
        recv: &'scope mut [T],
        op: &Op<T>,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut [T], L>> {
        let mut recv = Withheld::new(recv);
        self.collective(
            Reduce { send: Some(send.into()), recv: recv.lend(), reducer: op.reducer(), root },
            recv,
        )
    }

    /// Begins a [reduction in place](Communicator::reduce_in_place).
    ///
    /// # Errors
    /// As [`Communicator::reduce`].
    pub fn reduce_in_place<T: Datatype>(
        &'scope self,
        buf: &'scope mut [T],
        op: &Op<T>,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut [T], L>> {
        let mut buf = Withheld::new(buf);
        self.collective(Reduce { send: None, recv: buf.lend(), reducer: op.reducer(), root }, buf)
    }
}
