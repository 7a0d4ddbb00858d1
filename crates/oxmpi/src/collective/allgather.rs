//! Allgather: everybody's block to everybody.
//!
//! MPI-5.0: Collective Communication, Gather-to-all.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_mem::Words;

use super::received::elements_of_all;
use super::{Collective, between, check_blocks, check_whole, lifetimes, note_side, side};
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::thread::ThreadLevel;

struct Allgather<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
}

// SAFETY: all of its fields are noted.
unsafe impl<'b> Collective<'b> for Allgather<'b> {
    const FUNCTIONS: Functions = coll::Collective::Allgather.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    #[inline]
    fn note(&self, words: &mut Words) {
        note_side(self.send.as_ref(), words);
        self.recv.note(words);
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let ranks = comm.peers() as usize;
        match &self.send {
            // The groups may tell each other blocks of different lengths.
            Some(_) if comm.is_inter() => check_blocks(ranks, "recv", &self.recv)?,
            Some(send) => check_whole(ranks, ("recv", &self.recv), ("send", send))?,
            None => check_blocks(ranks, "buf", &self.recv)?,
        }
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send.as_ref()) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::allgather(process, comm, send, recv)
    }
}

lifetimes! {
    /// What everybody has in `send`, everybody gets in `recv`, in the order of the ranks.
    ///
    /// # Errors
    /// `Count` if `recv` is not as long as all `send` together.
    allgather iallgather allgather_init "allgather"
    (&send = "[rank]", &mut recv = "[9; 2]")
    gives "[0, 1]" => Allgather { send: Some(send), recv }
}

lifetimes! {
    /// What everybody has in `buf` as the block of its rank, everybody gets there.
    ///
    /// # Errors
    /// `Count` if `buf` cannot be divided into as many blocks as there are ranks.
    allgather_in_place iallgather_in_place allgather_in_place_init "allgather in place"
    (&mut buf = "[[0, 9], [9, 1]][rank]")
    gives "[0, 1]" => Allgather { send: None, recv: buf }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::allgather`], into a vector.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(() "assert_eq!(world.allgather_vec(&[rank, 7])?, [0, 7, 1, 7]);")]
    pub fn allgather_vec<S: SendBuffer + ?Sized>(&self, send: &S) -> Result<Vec<S::Element>> {
        let elements = elements_of_all(self.size(), send.lend().elements());
        self.received(Allgather::FUNCTIONS.blocking, elements, |recv| self.allgather(send, recv))
    }
}

between! {
    /// What everybody of the other group has in `send`, everybody gets in `recv`, in the order of their ranks.
    /// The groups may tell each other blocks of different lengths, or one of them nothing.
    /// See [`Communicator::allgather`](crate::Communicator::allgather).
    ///
    /// # Errors
    /// `Count` if `recv` is not as many blocks of equal length as the other group has ranks; `Truncate` if they are
    /// not as long as what is sent.
    allgather iallgather allgather_init "allgather"
    (&send = "[world.rank()]", &mut recv = "vec![9; between.remote_size()]")
    gives "[vec![1], vec![0, 2]][side]"
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::allgather`], into a vector: so many `elements` of each rank of the other group.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "let theirs = between.allgather_vec(&[world.rank()], 1)?;\n",
        "assert_eq!(theirs, [vec![1], vec![0, 2]][side]);"
    )]
    pub fn allgather_vec<S>(&self, send: &S, elements: usize) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let elements = elements_of_all(self.remote_size(), elements);
        self.inner().received(Allgather::FUNCTIONS.blocking, elements, |recv| self.allgather(send, recv))
    }
}
