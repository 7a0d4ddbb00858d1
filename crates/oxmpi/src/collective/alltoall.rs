//! Alltoall: a block from everybody to everybody.
//!
//! MPI-5.0: Collective Communication, All-to-All Scatter/Gather.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_mem::Words;

use super::received::elements_of_all;
use super::{Collective, between, check_blocks, check_equal, lifetimes, note_side, side};
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::thread::ThreadLevel;

struct Alltoall<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
}

// SAFETY: all of its fields are noted.
unsafe impl<'b> Collective<'b> for Alltoall<'b> {
    const FUNCTIONS: Functions = coll::Collective::Alltoall.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    #[inline]
    fn note(&self, words: &mut Words) {
        note_side(self.send.as_ref(), words);
        self.recv.note(words);
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let send = self.send.as_ref().unwrap_or(&self.recv);
        let peers = comm.peers() as usize;
        if comm.is_inter() {
            // The groups may tell each other blocks of different lengths.
            check_blocks(peers, "recv", &self.recv)?;
        } else {
            check_equal(send, &self.recv)?;
        }
        check_blocks(peers, "send", send)?;
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send.as_ref()) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::alltoall(process, comm, send, recv)
    }
}

lifetimes! {
    /// Block `i` of `send` goes to rank `i`, which gets it in its `recv` as the block of this rank.
    ///
    /// # Errors
    /// `Count` if `send` and `recv` differ in length, or cannot be divided into as many blocks as there are ranks.
    alltoall ialltoall alltoall_init "alltoall"
    (&send = "[[1, 2], [3, 4]][rank]", &mut recv = "[0; 2]")
    gives "[[1, 3], [2, 4]][rank]" => Alltoall { send: Some(send), recv }
}

lifetimes! {
    /// Block `i` of `buf` is exchanged for the block of this rank in rank `i`'s `buf`.
    /// See [`Communicator::alltoall`](crate::Communicator::alltoall).
    ///
    /// # Errors
    /// `Count` if `buf` cannot be divided into as many blocks as there are ranks.
    alltoall_in_place ialltoall_in_place alltoall_in_place_init "alltoall in place"
    (&mut buf = "[[1, 2], [3, 4]][rank]")
    gives "[[1, 3], [2, 4]][rank]" => Alltoall { send: None, recv: buf }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::alltoall`], into a vector.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(() "assert_eq!(world.alltoall_vec(&[10 * rank, 10 * rank + 1])?, [rank, 10 + rank]);")]
    pub fn alltoall_vec<S: SendBuffer + ?Sized>(&self, send: &S) -> Result<Vec<S::Element>> {
        let elements = Some(send.lend().elements());
        self.received(Alltoall::FUNCTIONS.blocking, elements, |recv| self.alltoall(send, recv))
    }
}

between! {
    /// Block `i` of `send` goes to rank `i` of the other group, which gets it as the block of this rank. The
    /// groups may tell each other blocks of different lengths, or one of them nothing.
    /// See [`Communicator::alltoall`](crate::Communicator::alltoall).
    ///
    /// # Errors
    /// `Count` if `send` or `recv` is not as many blocks of equal length as the other group has ranks; `Truncate` if
    /// those of `recv` are not as long as what is sent.
    alltoall ialltoall alltoall_init "alltoall"
    (&send = "vec![world.rank(); between.remote_size()]", &mut recv = "vec![9; between.remote_size()]")
    gives "[vec![1], vec![0, 2]][side]"
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::alltoall`], into a vector: so many `elements` of each rank of the other group.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "let mine = vec![world.rank(); between.remote_size()];\n",
        "assert_eq!(between.alltoall_vec(&mine, 1)?, [vec![1], vec![0, 2]][side]);"
    )]
    pub fn alltoall_vec<S>(&self, send: &S, elements: usize) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let elements = elements_of_all(self.remote_size(), elements);
        self.inner().received(Alltoall::FUNCTIONS.blocking, elements, |recv| self.alltoall(send, recv))
    }
}
