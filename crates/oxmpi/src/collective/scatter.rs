//! Scatter: a block of the root's to everybody.
//!
//! MPI-5.0: Collective Communication, Scatter.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_datatype::Buffer;

use super::{Collective, check_whole, checked_root};
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::loan::{Loan, Withheld};
use crate::persistent::{Persistent, Two};
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

struct Scatter<'b> {
    send: Loan<'b>,
    recv: Loan<'b>,
    root: usize,
}

impl<'b> Collective<'b> for Scatter<'b> {
    const FUNCTIONS: Functions = coll::Collective::Scatter.info().functions;

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let mut whole = Buffer::EMPTY;
        if self.root == comm.rank() as usize {
            check_whole(comm.size() as usize, ("send", self.send), ("recv", self.recv))?;
            // SAFETY: the caller's promise.
            whole = unsafe { self.send.claim() };
        }
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::scatter(process, comm, whole, Side::Buffer(recv), checked_root(self.root)?)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Of what the root has in `send`, everybody gets the block of its rank in `recv`. The other ranks' `send`
    /// does not count.
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; `Count` if the root's `send` is not as long as all `recv` together.
    pub fn scatter<T: Datatype>(&self, send: &[T], recv: &mut [T], root: usize) -> Result<()> {
        self.blocking(Scatter { send: send.into(), recv: recv.into(), root })
    }

    /// A persistent [scatter](Communicator::scatter).
    ///
    /// # Errors
    /// As [`Communicator::scatter`] and [`Communicator::barrier_init`].
    pub fn scatter_init<T: Datatype>(
        &self,
        send: Vec<T>,
        recv: Vec<T>,
        root: usize,
    ) -> Result<Persistent<'env, Two<T>, L>> {
        self.on_two(send, recv, |send, recv| Scatter { send, recv, root })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins a [scatter](Communicator::scatter).
    ///
    /// # Errors
    /// As [`Communicator::scatter`].
    pub fn scatter<T: Datatype>(
        &'scope self,
        send: &'scope [T],
        recv: &'scope mut [T],
        root: usize,
    ) -> Result<Request<'scope, &'scope mut [T], L>> {
        let mut recv = Withheld::new(recv);
        self.collective(Scatter { send: send.into(), recv: recv.lend(), root }, recv)
    }
}
