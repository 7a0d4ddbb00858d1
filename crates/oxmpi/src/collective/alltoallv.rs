//! Alltoallv: a block of any length from everybody to everybody.
//!
//! MPI-5.0: Collective Communication, All-to-All Scatter/Gather, Vector Variant.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};

use super::Collective;
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

struct Alltoallv<'b> {
    /// Not if it lies in `recv`.
    send: Option<(Loan<'b>, Blocks)>,
    recv: Loan<'b>,
    blocks: Blocks,
}

impl<'b> Collective<'b> for Alltoallv<'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::Alltoallv,
        nonblocking: Function::Ialltoallv,
        persistent: Function::AlltoallvInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let ranks = comm.size() as usize;
        let send = self.send.map(|(send, blocks)| {
            // SAFETY: the caller's promise.
            unsafe { blocks.claim(ranks, "send", send, false) }
        });
        // SAFETY: the caller's promise.
        let recv = unsafe { self.blocks.claim(ranks, "recv", self.recv, true) }?;
        coll::alltoallv(process, comm, Self::FUNCTIONS.persistent, send.transpose()?, recv)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Block `i` of `send` goes to rank `i`, which gets it in the block of this rank in its `recv`. What lies between
    /// the blocks is left alone. See [`Blocks`].
    ///
    /// # Errors
    /// `Count` if there is not one block for each rank, or one does not lie in its buffer; `Buffer` if two of `recv`
    /// overlap;
    /// `Truncate`, `Count` if the blocks of this rank to and from itself differ in length.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// // Everybody gets as many elements from each as its rank says.
    /// let (sent, received): (Vec<usize>, _) = ((0..size).collect(), vec![rank; size]);
    /// let send = vec![rank; sent.iter().sum()];
    /// let mut recv = vec![usize::MAX; rank * size];
    /// world.alltoallv(&send, &sent, &mut recv, &received)?;
    /// assert!(recv.chunks(rank.max(1)).enumerate().all(|(rank, block)| block.iter().all(|of| *of == rank)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn alltoallv<S, R>(
        &self,
        send: &S,
        send_blocks: impl Into<Blocks>,
        recv: &mut R,
        recv_blocks: impl Into<Blocks>,
    ) -> Result<()>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        self.blocking(Alltoallv {
            send: Some((send.lend(), send_blocks.into())),
            recv: recv.lend_mut(),
            blocks: recv_blocks.into(),
        })
    }

    /// Block `i` of `buf` is exchanged for the block of this rank in rank `i`'s `buf`, which is as long.
    ///
    /// # Errors
    /// As [`Communicator::alltoallv`].
    pub fn alltoallv_in_place<B>(&self, buf: &mut B, blocks: impl Into<Blocks>) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(Alltoallv { send: None, recv: buf.lend_mut(), blocks: blocks.into() })
    }

    /// A persistent [alltoallv](Communicator::alltoallv).
    ///
    /// # Errors
    /// As [`Communicator::alltoallv`] and [`Communicator::barrier_init`].
    pub fn alltoallv_init<S, R>(
        &self,
        send: S,
        send_blocks: impl Into<Blocks>,
        recv: R,
        recv_blocks: impl Into<Blocks>,
    ) -> Result<Persistent<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.on_two(send, recv, |send, recv| Alltoallv {
            send: Some((send, send_blocks.into())),
            recv,
            blocks: recv_blocks.into(),
        })
    }

    /// Begins an [alltoallv](Communicator::alltoallv) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::alltoallv`].
    pub fn ialltoallv<S, R>(
        &self,
        send: S,
        send_blocks: impl Into<Blocks>,
        recv: R,
        recv_blocks: impl Into<Blocks>,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
    {
        self.begin_on_two(send, recv, |send, recv| Alltoallv {
            send: Some((send, send_blocks.into())),
            recv,
            blocks: recv_blocks.into(),
        })
    }

    /// A persistent [alltoallv in place](Communicator::alltoallv_in_place).
    ///
    /// # Errors
    /// As [`Communicator::alltoallv_in_place`] and [`Communicator::barrier_init`].
    pub fn alltoallv_in_place_init<B>(
        &self,
        buf: B,
        blocks: impl Into<Blocks>,
    ) -> Result<Persistent<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.on_one(buf, |buf| Alltoallv { send: None, recv: buf, blocks: blocks.into() })
    }

    /// Begins an [alltoallv in place](Communicator::alltoallv_in_place) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::alltoallv_in_place`].
    pub fn ialltoallv_in_place<B>(
        &self,
        buf: B,
        blocks: impl Into<Blocks>,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.begin_on_one(buf, |buf| Alltoallv { send: None, recv: buf, blocks: blocks.into() })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins an [alltoallv](Communicator::alltoallv).
    ///
    /// # Errors
    /// As [`Communicator::alltoallv`].
    pub fn alltoallv<S, R>(
        &'scope self,
        send: &'scope S,
        send_blocks: impl Into<Blocks>,
        recv: &'scope mut R,
        recv_blocks: impl Into<Blocks>,
    ) -> Result<Request<'scope, &'scope mut R::View, L>>
    where
        S: SendBuffer<Element = R::Element> + ?Sized,
        R: RecvBuffer + ?Sized,
    {
        let (result, recv) = Withheld::lent(recv);
        self.collective(
            Alltoallv { send: Some((send.lend(), send_blocks.into())), recv, blocks: recv_blocks.into() },
            result,
        )
    }

    /// Begins an [alltoallv in place](Communicator::alltoallv_in_place).
    ///
    /// # Errors
    /// As [`Communicator::alltoallv_in_place`].
    pub fn alltoallv_in_place<B>(
        &'scope self,
        buf: &'scope mut B,
        blocks: impl Into<Blocks>,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (result, buf) = Withheld::lent(buf);
        self.collective(Alltoallv { send: None, recv: buf, blocks: blocks.into() }, result)
    }
}
