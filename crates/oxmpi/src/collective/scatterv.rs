//! Scatterv: a block of any length of the root's to everybody.
//!
//! MPI-5.0: Collective Communication, Scatter, Vector Variant.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};

use super::{Collective, checked_root};
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

struct Scatterv<'b> {
    /// `None` if it lies in `recv`: at the root all of it, elsewhere nothing.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    blocks: Blocks,
    root: usize,
}

impl<'b> Collective<'b> for Scatterv<'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::Scatterv,
        nonblocking: Function::Iscatterv,
        persistent: Function::ScattervInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let (root, ranks) = (checked_root(self.root)?, comm.size() as usize);
        if self.root != comm.rank() as usize {
            // SAFETY: the caller's promise.
            let recv = Side::Buffer(unsafe { self.recv.claim() });
            return coll::scatterv(process, comm, Vec::new(), recv, root);
        }
        let Some(send) = self.send else {
            // SAFETY: the caller's promise.
            let send = unsafe { self.blocks.claim(ranks, "buf", self.recv, false) }?;
            return coll::scatterv(process, comm, send, Side::InPlace, root);
        };
        // SAFETY: the caller's promise.
        let send = unsafe { self.blocks.claim(ranks, "send", send, false) }?;
        // SAFETY: the caller's promise.
        let recv = Side::Buffer(unsafe { self.recv.claim() });
        coll::scatterv(process, comm, send, recv, root)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Of what the root has in `send`, rank `i` gets block `i` in `recv`. Only the root's `send` and `blocks` count.
    /// See [`Blocks`].
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; at the root `Count` if there is not one block for each rank, or one does not
    /// lie in
    /// `send`, and `Truncate`, `Count` if its own differs in length from `recv`.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let counts: Vec<usize> = (1..=size).collect();
    /// let all: Vec<usize> = counts.iter().flat_map(|&count| vec![count; count]).collect();
    /// let mut mine = vec![0; rank + 1];
    /// world.scatterv(&all, &counts, &mut mine, 0)?;
    /// assert_eq!(mine, vec![rank + 1; rank + 1]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn scatterv<S, R>(&self, send: &S, blocks: impl Into<Blocks>, recv: &mut R, root: usize) -> Result<()>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.blocking(Scatterv {
            send: Some(send.lend()),
            recv: recv.lend_mut(),
            blocks: blocks.into(),
            root,
        })
    }

    /// Of what the root has in `buf`, everybody gets the block of its rank in `buf`; the root's stays where it is.
    /// Only the root's `blocks` count.
    ///
    /// # Errors
    /// As [`Communicator::scatterv`].
    pub fn scatterv_in_place<B>(&self, buf: &mut B, blocks: impl Into<Blocks>, root: usize) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(Scatterv { send: None, recv: buf.lend_mut(), blocks: blocks.into(), root })
    }

    /// A persistent [scatterv](Communicator::scatterv).
    ///
    /// # Errors
    /// As [`Communicator::scatterv`] and [`Communicator::barrier_init`].
    pub fn scatterv_init<S, R>(
        &self,
        send: S,
        blocks: impl Into<Blocks>,
        recv: R,
        root: usize,
    ) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.on_two(send, recv, |send, recv| Scatterv { send: Some(send), recv, blocks: blocks.into(), root })
    }

    /// Begins a [scatterv](Communicator::scatterv) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::scatterv`].
    pub fn iscatterv<S, R>(
        &self,
        send: S,
        blocks: impl Into<Blocks>,
        recv: R,
        root: usize,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.begin_on_two(send, recv, |send, recv| Scatterv {
            send: Some(send),
            recv,
            blocks: blocks.into(),
            root,
        })
    }

    /// A persistent [scatterv in place](Communicator::scatterv_in_place).
    ///
    /// # Errors
    /// As [`Communicator::scatterv_in_place`] and [`Communicator::barrier_init`].
    pub fn scatterv_in_place_init<B>(
        &self,
        buf: B,
        blocks: impl Into<Blocks>,
        root: usize,
    ) -> Result<Persistent<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.on_one(buf, |buf| Scatterv { send: None, recv: buf, blocks: blocks.into(), root })
    }

    /// Begins a [scatterv in place](Communicator::scatterv_in_place) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::scatterv_in_place`].
    pub fn iscatterv_in_place<B>(
        &self,
        buf: B,
        blocks: impl Into<Blocks>,
        root: usize,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.begin_on_one(buf, |buf| Scatterv { send: None, recv: buf, blocks: blocks.into(), root })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins a [scatterv](Communicator::scatterv).
    ///
    /// # Errors
    /// As [`Communicator::scatterv`].
    pub fn scatterv<S, R>(
        &'scope self,
        send: &'scope S,
        blocks: impl Into<Blocks>,
        recv: &'scope mut R,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut R::View, L>>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        let (result, recv) = Withheld::lent(recv);
        self.collective(Scatterv { send: Some(send.lend()), recv, blocks: blocks.into(), root }, result)
    }

    /// Begins a [scatterv in place](Communicator::scatterv_in_place).
    ///
    /// # Errors
    /// As [`Communicator::scatterv_in_place`].
    pub fn scatterv_in_place<B>(
        &'scope self,
        buf: &'scope mut B,
        blocks: impl Into<Blocks>,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (result, buf) = Withheld::lent(buf);
        self.collective(Scatterv { send: None, recv: buf, blocks: blocks.into(), root }, result)
    }
}
