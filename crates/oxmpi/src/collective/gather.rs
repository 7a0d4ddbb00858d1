//! Gather: everybody's block to the root.
//!
//! MPI-5.0: Collective Communication, Gather.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_datatype::Buffer;

use super::{Collective, check_blocks, check_whole, checked_root, side};
use crate::buffer::{OwnedBuffer, RecvBuffer, SendBuffer};
use crate::check::Check;
use crate::communicator::Communicator;
use crate::loan::{Loan, Withheld};
use crate::owned_request::OwnedRequest;
use crate::persistent::{One, Persistent, Two};
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

struct Gather<'b> {
    /// `None` if it lies in `recv`: at the root the block there, elsewhere all of it.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    root: usize,
}

impl<'b> Collective<'b> for Gather<'b> {
    const FUNCTIONS: Functions = coll::Collective::Gather.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let root = checked_root(self.root)?;
        if self.root != comm.rank() as usize {
            let send = self.send.unwrap_or(self.recv);
            // SAFETY: the caller's promise.
            let send = Side::Buffer(unsafe { send.claim() });
            return coll::gather(process, comm, send, Buffer::EMPTY, root);
        }
        let ranks = comm.size() as usize;
        match &self.send {
            Some(send) => check_whole(ranks, ("recv", &self.recv), ("send", send))?,
            None => check_blocks(ranks, "buf", &self.recv)?,
        }
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::gather(process, comm, send, recv, root)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// What everybody has in `send`, the root gets in `recv`, in the order of the ranks. The other ranks' `recv`
    /// is left alone.
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; `Count` if the root's `recv` is not as long as all `send` together.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let mut ranks = vec![0; if world.rank() == 0 { world.size() } else { 0 }];
    /// world.gather(&[world.rank()], &mut ranks, 0)?;
    /// assert!(ranks.into_iter().eq(0..if world.rank() == 0 { world.size() } else { 0 }));
    /// # Ok(())
    /// # }
    /// ```
    pub fn gather<S, R>(&self, send: &S, recv: &mut R, root: usize) -> Result<()>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.blocking(Gather { send: Some(send.lend()), recv: recv.lend_mut(), root })
    }

    /// What everybody has in `buf`, the root gets in the blocks of its own `buf`, where its own block lies already.
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; `Count` if the root's `buf` cannot be divided into as many blocks as there are
    /// ranks.
    pub fn gather_in_place<B>(&self, buf: &mut B, root: usize) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(Gather { send: None, recv: buf.lend_mut(), root })
    }

    /// A persistent [gather](Communicator::gather).
    ///
    /// # Errors
    /// As [`Communicator::gather`] and [`Communicator::barrier_init`].
    pub fn gather_init<S, R>(
        &self,
        send: S,
        recv: R,
        root: usize,
    ) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.on_two(send, recv, |send, recv| Gather { send: Some(send), recv, root })
    }

    /// Begins a [gather](Communicator::gather) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::gather`].
    pub fn igather<S, R>(
        &self,
        send: S,
        recv: R,
        root: usize,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.begin_on_two(send, recv, |send, recv| Gather { send: Some(send), recv, root })
    }

    /// A persistent [gather in place](Communicator::gather_in_place).
    ///
    /// # Errors
    /// As [`Communicator::gather_in_place`] and [`Communicator::barrier_init`].
    pub fn gather_in_place_init<B>(&self, buf: B, root: usize) -> Result<Persistent<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.on_one(buf, |buf| Gather { send: None, recv: buf, root })
    }

    /// Begins a [gather in place](Communicator::gather_in_place) on a buffer that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::gather_in_place`].
    pub fn igather_in_place<B>(&self, buf: B, root: usize) -> Result<OwnedRequest<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.begin_on_one(buf, |buf| Gather { send: None, recv: buf, root })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins a [gather](Communicator::gather).
    ///
    /// # Errors
    /// As [`Communicator::gather`].
    pub fn gather<S, R>(
        &'scope self,
        send: &'scope S,
        recv: &'scope mut R,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut R::View, L>>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        let (result, recv) = Withheld::lent(recv);
        self.collective(Gather { send: Some(send.lend()), recv, root }, result)
    }

    /// Begins a [gather in place](Communicator::gather_in_place).
    ///
    /// # Errors
    /// As [`Communicator::gather_in_place`].
    pub fn gather_in_place<B>(
        &'scope self,
        buf: &'scope mut B,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (result, buf) = Withheld::lent(buf);
        self.collective(Gather { send: None, recv: buf, root }, result)
    }
}
