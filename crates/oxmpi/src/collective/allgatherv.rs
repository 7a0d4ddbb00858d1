//! Allgatherv: everybody's block, of any length, to everybody.
//!
//! MPI-5.0: Collective Communication, Gather-to-all, Vector Variant.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};

use super::received::elements_of_blocks;
use super::{Collective, between, lifetimes, side};
use crate::blocks::Blocks;
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::thread::ThreadLevel;

struct Allgatherv<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    blocks: Blocks,
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for Allgatherv<'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::Allgatherv,
        nonblocking: Function::Iallgatherv,
        persistent: Function::AllgathervInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send.as_ref()) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.blocks.claim(comm.peers() as usize, "recv", &self.recv, true) }?;
        coll::allgatherv(process, comm, send, recv)
    }
}

lifetimes! {
    /// What everybody has in `send`, everybody gets: that of rank `i` in block `i` of `recv`. What lies between the
    /// blocks is left alone. See [`Blocks`].
    ///
    /// # Errors
    /// `Count` if there is not one block for each rank, one does not lie in `recv`, or this rank's own is longer than
    /// `send`;
    /// `Truncate` if it is shorter; `Buffer` if two overlap.
    allgatherv iallgatherv allgatherv_init "allgatherv"
    (&send = "vec![rank; rank + 1]", &mut recv = "[9; 3]", blocks: impl Into<Blocks> = "[1, 2]")
    gives "[0, 1, 1]" => Allgatherv { send: Some(send), recv, blocks: blocks.into() }
}

lifetimes! {
    /// What everybody has in its own block of `buf`, everybody gets there, each in the block of its rank.
    ///
    /// # Errors
    /// As [`Communicator::allgatherv`](crate::Communicator::allgatherv).
    allgatherv_in_place iallgatherv_in_place allgatherv_in_place_init "allgatherv in place"
    (&mut buf = "[[0, 9, 9], [9, 1, 1]][rank]", blocks: impl Into<Blocks> = "[1, 2]")
    gives "[0, 1, 1]" => Allgatherv { send: None, recv: buf, blocks: blocks.into() }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::allgatherv`], into a vector: rank `i` sends `counts[i]` elements.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        () "let mine = vec![rank; rank + 1];\n",
        "assert_eq!(world.allgatherv_vec(&mine, &[1, 2])?, [0, 1, 1]);"
    )]
    pub fn allgatherv_vec<S>(&self, send: &S, counts: &[usize]) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        self.received(Allgatherv::FUNCTIONS.blocking, elements_of_blocks(counts), |recv| {
            self.allgatherv(send, recv, counts)
        })
    }
}

between! {
    /// What everybody of the other group has in `send`, everybody gets: that of rank `i` there in block `i` of `recv`.
    /// See [`Communicator::allgatherv`](crate::Communicator::allgatherv).
    ///
    /// # Errors
    /// `Count` if there is not one block for each rank of the other group, or one does not lie in `recv`; `Buffer` if
    /// two overlap.
    allgatherv iallgatherv allgatherv_init "allgatherv"
    (
        &send = "[world.rank()]",
        &mut recv = "vec![9; between.remote_size()]",
        blocks: impl Into<Blocks> = "vec![1; between.remote_size()]"
    )
    gives "[vec![1], vec![0, 2]][side]"
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::allgatherv`], into a vector: rank `i` of the other group sends `counts[i]` elements.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "let mine = vec![world.rank(); world.rank() + 1];\n",
        "let theirs = between.allgatherv_vec(&mine, [&[2][..], &[1, 3]][side])?;\n",
        "assert_eq!(theirs, [vec![1, 1], vec![0, 2, 2, 2]][side]);"
    )]
    pub fn allgatherv_vec<S>(&self, send: &S, counts: &[usize]) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let receive = |recv: &mut [_]| self.allgatherv(send, recv, counts);
        self.inner().received(Allgatherv::FUNCTIONS.blocking, elements_of_blocks(counts), receive)
    }
}
