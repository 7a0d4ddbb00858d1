//! Reduce-scatter of equal blocks: everybody's elements combined, a block of them for each.
//!
//! MPI-5.0: Collective Communication, Reduce-Scatter.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_mem::Words;

use super::{Collective, between, check_blocks, check_whole, lifetimes, note_side, side};
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::op::{Combination, Op};
use crate::thread::ThreadLevel;

struct ReduceScatterBlock<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    combination: Combination,
}

// SAFETY: all of its fields are noted.
unsafe impl<'b> Collective<'b> for ReduceScatterBlock<'b> {
    const FUNCTIONS: Functions = coll::Collective::ReduceScatterBlock.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    #[inline]
    fn note(&self, words: &mut Words) {
        note_side(self.send.as_ref(), words);
        self.recv.note(words);
        self.combination.note(words);
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let ranks = comm.size() as usize;
        match &self.send {
            Some(send) => check_whole(ranks, ("send", send), ("recv", &self.recv))?,
            None => check_blocks(ranks, "buf", &self.recv)?,
        }
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send.as_ref()) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::reduce_scatter_block(process, comm, send, recv, self.combination.reducer()?)
    }
}

lifetimes! {
    /// What everybody has in `send`, combined element by element, is cut into blocks as long as `recv`, in which each
    /// rank gets its own.
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`; `Count` if `send` is not as long as all `recv` together.
    reduce_scatter_block ireduce_scatter_block reduce_scatter_block_init
    "combination of blocks"
    (&send = "[rank, 10]", &mut recv = "[0]", op: &Op<R::Element> = "&oxmpi::Op::SUM")
    gives "[[1], [20]][rank]" =>
        ReduceScatterBlock { send: Some(send), recv, combination: op.combination() }
}

lifetimes! {
    /// What everybody has in `buf`, combined element by element, is cut into blocks, of which each rank gets its own at
    /// the beginning of `buf`. What is behind that is undefined then.
    /// See [`Communicator::reduce_scatter_block`](crate::Communicator::reduce_scatter_block).
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`; `Count` if `buf` cannot be divided into as many blocks as there are ranks.
    reduce_scatter_block_in_place ireduce_scatter_block_in_place reduce_scatter_block_in_place_init
    "combination of blocks in place"
    (&mut buf = "[rank, 10]", op: &Op<B::Element> = "&oxmpi::Op::SUM")
    gives "[[1], [20]][rank]" at "[..1]" =>
        ReduceScatterBlock { send: None, recv: buf, combination: op.combination() }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::reduce_scatter_block`], into a vector.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        () "let mine = world.reduce_scatter_block_vec(&[rank, 10, 20, 30], &oxmpi::Op::SUM)?;\n",
        "assert_eq!(mine, [vec![1, 20], vec![40, 60]][rank]);"
    )]
    pub fn reduce_scatter_block_vec<S>(&self, send: &S, op: &Op<S::Element>) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let elements = Some(send.lend().elements() / self.size());
        let receive = |recv: &mut [_]| self.reduce_scatter_block(send, recv, op);
        self.received(ReduceScatterBlock::FUNCTIONS.blocking, elements, receive)
    }
}

between! {
    /// What those of the other group have in `send`, combined element by element, is cut into blocks as long as `recv`,
    /// in which each rank of this group gets its own.
    /// See [`Communicator::reduce_scatter_block`](crate::Communicator::reduce_scatter_block).
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`; `Count` if `send` has not a block as long as `recv` for each rank of this
    /// group. That is as long for all: the two groups combine as many elements.
    reduce_scatter_block ireduce_scatter_block reduce_scatter_block_init
    "combination of blocks"
    (&send = "[world.rank(), 10]", &mut recv = "vec![0; 1 + side]", op: &Op<R::Element> = "&oxmpi::Op::SUM")
    gives "[vec![1], vec![2, 20], vec![10]][world.rank()]"
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::reduce_scatter_block`], into a vector.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "let mine = between.reduce_scatter_block_vec(&[world.rank(), 10], &oxmpi::Op::SUM)?;\n",
        "assert_eq!(mine, [vec![1], vec![2, 20], vec![10]][world.rank()]);"
    )]
    pub fn reduce_scatter_block_vec<S>(&self, send: &S, op: &Op<S::Element>) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let elements = Some(send.lend().elements() / self.size());
        let receive = |recv: &mut [_]| self.reduce_scatter_block(send, recv, op);
        self.inner().received(ReduceScatterBlock::FUNCTIONS.blocking, elements, receive)
    }
}
