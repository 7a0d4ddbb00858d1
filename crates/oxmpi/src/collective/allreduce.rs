//! Allreduce: everybody's elements combined, for everybody.
//!
//! MPI-5.0: Collective Communication, All-Reduce.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_op::Reducer;

use super::{Collective, check_equal, side};
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::loan::{Loan, Withheld};
use crate::op::Op;
use crate::persistent::{One, Persistent, Two};
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

struct Allreduce<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    reducer: Result<Reducer>,
}

impl<'b> Collective<'b> for Allreduce<'b> {
    const FUNCTIONS: Functions = coll::Collective::Allreduce.info().functions;

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        check_equal(self.send.unwrap_or(self.recv), self.recv)?;
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::allreduce(process, comm, send, recv, self.reducer?)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// What everybody has in `send`, combined element by element, everybody gets in `recv`.
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`; `Count` if `recv` has another length than `send`.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (mine, mut ranks) = ([1], [0]);
    /// world.allreduce(&mine, &mut ranks, &oxmpi::Op::SUM)?;
    /// assert_eq!(ranks, [world.size()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn allreduce<T: Datatype>(&self, send: &[T], recv: &mut [T], op: &Op<T>) -> Result<()> {
        self.blocking(Allreduce { send: Some(send.into()), recv: recv.into(), reducer: op.reducer() })
    }

    /// What everybody has in `buf`, combined element by element, everybody gets there.
    ///
    /// # Errors
    /// As [`Communicator::allreduce`].
    pub fn allreduce_in_place<T: Datatype>(&self, buf: &mut [T], op: &Op<T>) -> Result<()> {
        self.blocking(Allreduce { send: None, recv: buf.into(), reducer: op.reducer() })
    }

    /// A persistent [allreduce](Communicator::allreduce).
    ///
    /// # Errors
    /// As [`Communicator::allreduce`] and [`Communicator::barrier_init`].
    pub fn allreduce_init<T: Datatype>(
        &self,
        send: Vec<T>,
        recv: Vec<T>,
        op: &Op<T>,
    ) -> Result<Persistent<'env, Two<T>, L>> {
        self.on_two(send, recv, |send, recv| Allreduce { send: Some(send), recv, reducer: op.reducer() })
    }

    /// A persistent [allreduce in place](Communicator::allreduce_in_place).
    ///
    /// # Errors
    /// As [`Communicator::allreduce`] and [`Communicator::barrier_init`].
    pub fn allreduce_in_place_init<T: Datatype>(
        &self,
        buf: Vec<T>,
        op: &Op<T>,
    ) -> Result<Persistent<'env, One<T>, L>> {
        self.on_one(buf, |buf| Allreduce { send: None, recv: buf, reducer: op.reducer() })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins an [allreduce](Communicator::allreduce).
    ///
    /// # Errors
    /// As [`Communicator::allreduce`].
    pub fn allreduce<T: Datatype>(
        &'scope self,
        send: &'scope [T],
        recv: &'scope mut [T],
        op: &Op<T>,
    ) -> Result<Request<'scope, &'scope mut [T], L>> {
        let mut recv = Withheld::new(recv);
        self.collective(Allreduce { send: Some(send.into()), recv: recv.lend(), reducer: op.reducer() }, recv)
    }

    /// Begins an [allreduce in place](Communicator::allreduce_in_place).
    ///
    /// # Errors
    /// As [`Communicator::allreduce`].
    pub fn allreduce_in_place<T: Datatype>(
        &'scope self,
        buf: &'scope mut [T],
        op: &Op<T>,
    ) -> Result<Request<'scope, &'scope mut [T], L>> {
        let mut buf = Withheld::new(buf);
        self.collective(Allreduce { send: None, recv: buf.lend(), reducer: op.reducer() }, buf)
    }
}
