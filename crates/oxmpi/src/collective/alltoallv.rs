//! Alltoallv: a block of any length from everybody to everybody.
//!
//! MPI-5.0: Collective Communication, All-to-All Scatter/Gather, Vector Variant.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};

use super::received::elements_of_blocks;
use super::{Collective, between, lifetimes};
use crate::blocks::Blocks;
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::thread::ThreadLevel;

struct Alltoallv<'b> {
    /// Not if it lies in `recv`.
    send: Option<(Loan<'b>, Blocks)>,
    recv: Loan<'b>,
    blocks: Blocks,
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for Alltoallv<'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::Alltoallv,
        nonblocking: Function::Ialltoallv,
        persistent: Function::AlltoallvInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let ranks = comm.peers() as usize;
        let send = self.send.as_ref().map(|(send, blocks)| {
            // SAFETY: the caller's promise.
            unsafe { blocks.claim(ranks, "send", send, false) }
        });
        // SAFETY: the caller's promise.
        let recv = unsafe { self.blocks.claim(ranks, "recv", &self.recv, true) }?;
        coll::alltoallv(process, comm, Self::FUNCTIONS.persistent, send.transpose()?, recv)
    }
}

lifetimes! {
    /// Block `i` of `send` goes to rank `i`, which gets it in the block of this rank in its `recv`. What lies between
    /// the blocks is left alone. See [`Blocks`].
    ///
    /// # Errors
    /// `Count` if there is not one block for each rank, or one does not lie in its buffer; `Buffer` if two of `recv`
    /// overlap;
    /// `Truncate`, `Count` if the blocks of this rank to and from itself differ in length.
    alltoallv ialltoallv alltoallv_init "alltoallv"
    (
        &send = "[[1, 2, 3], [4, 5, 6]][rank]",
        send_blocks: impl Into<Blocks> = "[1, 2]",
        &mut recv = "vec![0; 2 * (rank + 1)]",
        recv_blocks: impl Into<Blocks> = "[rank + 1; 2]"
    )
    gives "[vec![1, 4], vec![2, 3, 5, 6]][rank]" =>
        Alltoallv { send: Some((send, send_blocks.into())), recv, blocks: recv_blocks.into() }
}

lifetimes! {
    /// Block `i` of `buf` is exchanged for the block of this rank in rank `i`'s `buf`, which is as long.
    ///
    /// # Errors
    /// As [`Communicator::alltoallv`](crate::Communicator::alltoallv).
    alltoallv_in_place ialltoallv_in_place alltoallv_in_place_init "alltoallv in place"
    (&mut buf = "[[1, 2, 3], [4, 5, 6]][rank]", blocks: impl Into<Blocks> = "[[1, 2], [2, 1]][rank]")
    gives "[[1, 4, 5], [2, 3, 6]][rank]" => Alltoallv { send: None, recv: buf, blocks: blocks.into() }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::alltoallv`], into a vector: rank `i` sends `recv_counts[i]` elements to this one.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        () "// Everybody sends as many elements as the receiver's rank says, and one more.\n",
        "let received = world.alltoallv_vec(&[rank; 3], [1, 2], &[rank + 1; 2])?;\n",
        "assert_eq!(received, [vec![0, 1], vec![0, 0, 1, 1]][rank]);"
    )]
    pub fn alltoallv_vec<S>(
        &self,
        send: &S,
        send_blocks: impl Into<Blocks>,
        recv_counts: &[usize],
    ) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let exchange = |recv: &mut [_]| self.alltoallv(send, send_blocks, recv, recv_counts);
        self.received(Alltoallv::FUNCTIONS.blocking, elements_of_blocks(recv_counts), exchange)
    }
}

between! {
    /// Block `i` of `send` goes to rank `i` of the other group, which gets it in the block of this rank in its `recv`.
    /// See [`Communicator::alltoallv`](crate::Communicator::alltoallv).
    ///
    /// # Errors
    /// `Count` if there is not one block for each rank of the other group, or one does not lie in its buffer; `Buffer`
    /// if two of `recv` overlap.
    alltoallv ialltoallv alltoallv_init "alltoallv"
    (
        &send = "vec![world.rank(); between.remote_size()]",
        send_blocks: impl Into<Blocks> = "vec![1; between.remote_size()]",
        &mut recv = "vec![9; between.remote_size()]",
        recv_blocks: impl Into<Blocks> = "vec![1; between.remote_size()]"
    )
    gives "[vec![1], vec![0, 2]][side]"
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::alltoallv`], into a vector: rank `i` of the other group sends `recv_counts[i]` elements
    /// to this one.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "// Each rank of the one side sends 2 elements, and gets 3.\n",
        "let (mine, others) = (vec![world.rank(); [2, 6][side]], between.remote_size());\n",
        "let (sent, received) = (vec![[2, 3][side]; others], vec![[3, 2][side]; others]);\n",
        "let theirs = between.alltoallv_vec(&mine, sent, &received)?;\n",
        "assert_eq!(theirs, [vec![1, 1, 1], vec![0, 0, 2, 2]][side]);"
    )]
    pub fn alltoallv_vec<S>(
        &self,
        send: &S,
        send_blocks: impl Into<Blocks>,
        recv_counts: &[usize],
    ) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let exchange = |recv: &mut [_]| self.alltoallv(send, send_blocks, recv, recv_counts);
        self.inner().received(Alltoallv::FUNCTIONS.blocking, elements_of_blocks(recv_counts), exchange)
    }
}
