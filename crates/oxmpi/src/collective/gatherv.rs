//! Gatherv: everybody's block, of any length, to the root.
//!
//! MPI-5.0: Collective Communication, Gather, Vector Variant.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};

use super::{Collective, checked_root, side};
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

struct Gatherv<'b> {
    /// `None` if it lies in `recv`: at the root the block there, elsewhere all of it.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    blocks: Blocks,
    root: usize,
}

impl<'b> Collective<'b> for Gatherv<'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::Gatherv,
        nonblocking: Function::Igatherv,
        persistent: Function::GathervInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let root = checked_root(self.root)?;
        if self.root == comm.rank() as usize {
            // SAFETY: the caller's promise.
            let send = unsafe { side(self.send) };
            // SAFETY: the caller's promise.
            let recv = unsafe { self.blocks.claim(comm.size() as usize, "recv", self.recv, true) }?;
            return coll::gatherv(process, comm, send, recv, root);
        }
        let send = self.send.unwrap_or(self.recv);
        // SAFETY: the caller's promise.
        let send = Side::Buffer(unsafe { send.claim() });
        coll::gatherv(process, comm, send, Vec::new(), root)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// What everybody has in `send`, the root gets: that of rank `i` in block `i` of `recv`. Only the root's `recv` and
    /// `blocks` count. See [`Blocks`].
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; at the root as [`Communicator::allgatherv`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let mine = vec![rank; rank + 1];
    /// if rank == 0 {
    ///     let counts: Vec<usize> = (1..=size).collect();
    ///     let mut all = vec![0; counts.iter().sum()];
    ///     world.gatherv(&mine, &mut all, &counts, 0)?;
    ///     assert_eq!(all[all.len() - size..], vec![size - 1; size]);
    /// } else {
    ///     world.gatherv(&mine, &mut [], [], 0)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn gatherv<S, R>(&self, send: &S, recv: &mut R, blocks: impl Into<Blocks>, root: usize) -> Result<()>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.blocking(Gatherv { send: Some(send.lend()), recv: recv.lend_mut(), blocks: blocks.into(), root })
    }

    /// What everybody has in `buf`, the root gets in the blocks of its own `buf`, where its own block lies already.
    /// Only the root's `blocks` count.
    ///
    /// # Errors
    /// As [`Communicator::gatherv`].
    pub fn gatherv_in_place<B>(&self, buf: &mut B, blocks: impl Into<Blocks>, root: usize) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(Gatherv { send: None, recv: buf.lend_mut(), blocks: blocks.into(), root })
    }

    /// A persistent [gatherv](Communicator::gatherv).
    ///
    /// # Errors
    /// As [`Communicator::gatherv`] and [`Communicator::barrier_init`].
    pub fn gatherv_init<S, R>(
        &self,
        send: S,
        recv: R,
        blocks: impl Into<Blocks>,
        root: usize,
    ) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.on_two(send, recv, |send, recv| Gatherv { send: Some(send), recv, blocks: blocks.into(), root })
    }

    /// Begins a [gatherv](Communicator::gatherv) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::gatherv`].
    pub fn igatherv<S, R>(
        &self,
        send: S,
        recv: R,
        blocks: impl Into<Blocks>,
        root: usize,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.begin_on_two(send, recv, |send, recv| Gatherv {
            send: Some(send),
            recv,
            blocks: blocks.into(),
            root,
        })
    }

    /// A persistent [gatherv in place](Communicator::gatherv_in_place).
    ///
    /// # Errors
    /// As [`Communicator::gatherv_in_place`] and [`Communicator::barrier_init`].
    pub fn gatherv_in_place_init<B>(
        &self,
        buf: B,
        blocks: impl Into<Blocks>,
        root: usize,
    ) -> Result<Persistent<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.on_one(buf, |buf| Gatherv { send: None, recv: buf, blocks: blocks.into(), root })
    }

    /// Begins a [gatherv in place](Communicator::gatherv_in_place) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::gatherv_in_place`].
    pub fn igatherv_in_place<B>(
        &self,
        buf: B,
        blocks: impl Into<Blocks>,
        root: usize,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.begin_on_one(buf, |buf| Gatherv { send: None, recv: buf, blocks: blocks.into(), root })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins a [gatherv](Communicator::gatherv).
    ///
    /// # Errors
    /// As [`Communicator::gatherv`].
    pub fn gatherv<S, R>(
        &'scope self,
        send: &'scope S,
        recv: &'scope mut R,
        blocks: impl Into<Blocks>,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut R::View, L>>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        let (result, recv) = Withheld::lent(recv);
        self.collective(Gatherv { send: Some(send.lend()), recv, blocks: blocks.into(), root }, result)
    }

    /// Begins a [gatherv in place](Communicator::gatherv_in_place).
    ///
    /// # Errors
    /// As [`Communicator::gatherv_in_place`].
    pub fn gatherv_in_place<B>(
        &'scope self,
        buf: &'scope mut B,
        blocks: impl Into<Blocks>,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (result, buf) = Withheld::lent(buf);
        self.collective(Gatherv { send: None, recv: buf, blocks: blocks.into(), root }, result)
    }
}
