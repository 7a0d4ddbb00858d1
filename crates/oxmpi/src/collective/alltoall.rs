//! Alltoall: a block from everybody to everybody.
//!
//! MPI-5.0: Collective Communication, All-to-All Scatter/Gather.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};

use super::{Collective, check_blocks, check_equal, side};
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::loan::{Loan, Withheld};
use crate::persistent::{Persistent, Two};
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

struct Alltoall<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
}

impl<'b> Collective<'b> for Alltoall<'b> {
    const FUNCTIONS: Functions = coll::Collective::Alltoall.info().functions;

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let send = self.send.unwrap_or(self.recv);
        check_equal(send, self.recv)?;
        check_blocks(comm.size() as usize, "send", send)?;
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::alltoall(process, comm, send, recv)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Block `i` of `send` goes to rank `i`, which gets it in its `recv` as the block of this rank.
    ///
    /// # Errors
    /// `Count` if `send` and `recv` differ in length, or cannot be divided into as many blocks as there are ranks.
    pub fn alltoall<T: Datatype>(&self, send: &[T], recv: &mut [T]) -> Result<()> {
        self.blocking(Alltoall { send: Some(send.into()), recv: recv.into() })
    }

    /// Block `i` of `buf` is exchanged for the block of this rank in rank `i`'s `buf`.
    ///
    /// # Errors
    /// `Count` if `buf` cannot be divided into as many blocks as there are ranks.
    pub fn alltoall_in_place<T: Datatype>(&self, buf: &mut [T]) -> Result<()> {
        self.blocking(Alltoall { send: None, recv: buf.into() })
    }

    /// A persistent [alltoall](Communicator::alltoall).
    ///
    /// # Errors
    /// As [`Communicator::alltoall`] and [`Communicator::barrier_init`].
    pub fn alltoall_init<T: Datatype>(
        &self,
        send: Vec<T>,
        recv: Vec<T>,
    ) -> Result<Persistent<'env, Two<T>, L>> {
        self.on_two(send, recv, |send, recv| Alltoall { send: Some(send), recv })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins an [alltoall](Communicator::alltoall).
    ///
    /// # Errors
    /// As [`Communicator::alltoall`].
    pub fn alltoall<T: Datatype>(
        &'scope self,
        send: &'scope [T],
        recv: &'scope mut [T],
    ) -> Result<Request<'scope, &'scope mut [T], L>> {
        let mut recv = Withheld::new(recv);
        self.collective(Alltoall { send: Some(send.into()), recv: recv.lend() }, recv)
    }
}
