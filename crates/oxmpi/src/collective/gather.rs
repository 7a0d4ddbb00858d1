//! Gather: everybody's block to the root.
//!
//! MPI-5.0: Collective Communication, Gather.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_datatype::Buffer;
use oxmpi_mem::Words;

use super::received::elements_of_all;
use super::{Collective, between, check_blocks, check_whole, checked_root, lifetimes, note_side, side};
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::part::{Here, Part};
use crate::thread::ThreadLevel;

struct Gather<'b> {
    /// `None` if it lies in `recv`: at the root the block there, elsewhere all of it.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    root: usize,
}

// SAFETY: all of its fields are noted.
unsafe impl<'b> Collective<'b> for Gather<'b> {
    const FUNCTIONS: Functions = coll::Collective::Gather.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    #[inline]
    fn note(&self, words: &mut Words) {
        note_side(self.send.as_ref(), words);
        self.recv.note(words);
        words.push(self.root as u64);
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let root = checked_root(self.root)?;
        if self.root != comm.rank() as usize {
            let send = self.send.as_ref().unwrap_or(&self.recv);
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
        let send = unsafe { side(self.send.as_ref()) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::gather(process, comm, send, recv, root)
    }
}

lifetimes! {
    /// What everybody has in `send`, the root gets in `recv`, in the order of the ranks. The other ranks' `recv`
    /// is left alone.
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; `Count` if the root's `recv` is not as long as all `send` together.
    gather igather gather_init "gather"
    (&send = "[rank + 1]", &mut recv = "[9; 2]", root: usize = "0")
    gives "[[1, 2], [9, 9]][rank]" => Gather { send: Some(send), recv, root }
}

lifetimes! {
    /// What everybody has in `buf`, the root gets in the blocks of its own `buf`, where its own block lies already.
    /// See [`Communicator::gather`](crate::Communicator::gather).
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; `Count` if the root's `buf` cannot be divided into as many blocks as there are
    /// ranks.
    gather_in_place igather_in_place gather_in_place_init "gather in place"
    (&mut buf = "vec![rank + 1; 2 - rank]", root: usize = "0")
    gives "[vec![1, 2], vec![2]][rank]" => Gather { send: None, recv: buf, root }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::gather`], into a vector at the root; none elsewhere.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        () "let all = world.gather_vec(&[rank, 7], 0)?;\n",
        "assert_eq!(all, [Some(vec![0, 7, 1, 7]), None][rank]);"
    )]
    pub fn gather_vec<S>(&self, send: &S, root: usize) -> Result<Option<Vec<S::Element>>>
    where
        S: SendBuffer + ?Sized,
    {
        let elements = || elements_of_all(self.size(), send.lend().elements());
        self.received_at(root, Gather::FUNCTIONS.blocking, elements, |recv| self.gather(send, recv, root))
    }
}

/// One between two groups.
struct BetweenGroups<'b>(Part<'b>);

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for BetweenGroups<'b> {
    const FUNCTIONS: Functions = Gather::FUNCTIONS;

    fn check(&self) -> Option<Box<Check>> {
        self.0.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let root = self.0.root()?;
        self.0.check_blocks(comm.peers() as usize, "recv")?;
        // SAFETY: the caller's promise.
        let (here, there) = unsafe { self.0.claim_sides() };
        coll::gather(process, comm, Side::Buffer(there), here, root)
    }
}

between! {
    /// What everybody of the other group has, the root gets, in the order of their ranks. See
    /// [`Intercommunicator::reduce`](crate::Intercommunicator::reduce).
    ///
    /// # Errors
    /// `Root` if the root is no rank of the other group; `Count` if the root has not a block for each rank there.
    gather igather gather_init "gather"
    (part: ToRoot<T> = "[world.rank()]" to "[9_usize; 2]")
    gives "[0, 2]" => BetweenGroups(part)
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::gather`] where this rank is the root, into a vector: so many `elements` of each rank of
    /// the other group. All others call [`gather`](Intercommunicator::gather).
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "if side == 0 {\n",
        "    between.gather(oxmpi::There(0, &[world.rank(), 7]))?;\n",
        "} else {\n",
        "    assert_eq!(between.gather_vec::<usize>(2)?, [0, 7, 2, 7]);\n",
        "}"
    )]
    pub fn gather_vec<T: Datatype>(&self, elements: usize) -> Result<Vec<T>> {
        let elements = elements_of_all(self.remote_size(), elements);
        self.inner().received(Gather::FUNCTIONS.blocking, elements, |recv| self.gather(Here(recv)))
    }
}
