//! Scatter: a block of the root's to everybody.
//!
//! MPI-5.0: Collective Communication, Scatter.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_datatype::Buffer;
use oxmpi_mem::Words;

use super::{Collective, between, check_blocks, check_whole, checked_root, lifetimes, note_side};
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::part::{Part, There};
use crate::thread::ThreadLevel;

struct Scatter<'b> {
    /// `None` if it lies in `recv`: at the root all of it, elsewhere nothing.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    root: usize,
}

// SAFETY: all of its fields are noted.
unsafe impl<'b> Collective<'b> for Scatter<'b> {
    const FUNCTIONS: Functions = coll::Collective::Scatter.info().functions;

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
            // SAFETY: the caller's promise.
            let recv = Side::Buffer(unsafe { self.recv.claim() });
            return coll::scatter(process, comm, Buffer::EMPTY, recv, root);
        }
        let Some(send) = &self.send else {
            check_blocks(comm.size() as usize, "buf", &self.recv)?;
            // SAFETY: the caller's promise.
            let send = unsafe { self.recv.claim() };
            return coll::scatter(process, comm, send, Side::InPlace, root);
        };
        check_whole(comm.size() as usize, ("send", send), ("recv", &self.recv))?;
        // SAFETY: the caller's promise.
        let send = unsafe { send.claim() };
        // SAFETY: the caller's promise.
        let recv = Side::Buffer(unsafe { self.recv.claim() });
        coll::scatter(process, comm, send, recv, root)
    }
}

lifetimes! {
    /// Of what the root has in `send`, everybody gets the block of its rank in `recv`. The other ranks' `send`
    /// does not count.
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; `Count` if the root's `send` is not as long as all `recv` together.
    scatter iscatter scatter_init "scatter"
    (&send = "[1, 2, 3, 4]", &mut recv = "[0; 2]", root: usize = "0")
    gives "[[1, 2], [3, 4]][rank]" => Scatter { send: Some(send), recv, root }
}

lifetimes! {
    /// Of what the root has in `buf`, everybody gets the block of its rank in `buf`; the root's stays where it is.
    /// See [`Communicator::scatter`](crate::Communicator::scatter).
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; `Count` if the root's `buf` cannot be divided into as many blocks as there are
    /// ranks.
    scatter_in_place iscatter_in_place scatter_in_place_init "scatter in place"
    (&mut buf = "Vec::from_iter(1..5 - 2 * rank)", root: usize = "0")
    gives "[vec![1, 2, 3, 4], vec![3, 4]][rank]" => Scatter { send: None, recv: buf, root }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::scatter`], into a vector: so many `elements` for each rank. Only the root's `send` counts.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        () "let mine = world.scatter_vec(&[1, 2, 3, 4], 2, 0)?;\n",
        "assert_eq!(mine, [[1, 2], [3, 4]][rank]);"
    )]
    pub fn scatter_vec<S>(&self, send: &S, elements: usize, root: usize) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        self.received(Scatter::FUNCTIONS.blocking, Some(elements), |recv| self.scatter(send, recv, root))
    }
}

/// One between two groups.
struct BetweenGroups<'b>(Part<'b>);

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for BetweenGroups<'b> {
    const FUNCTIONS: Functions = Scatter::FUNCTIONS;

    fn check(&self) -> Option<Box<Check>> {
        self.0.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let root = self.0.root()?;
        self.0.check_blocks(comm.peers() as usize, "send")?;
        // SAFETY: the caller's promise.
        let (here, there) = unsafe { self.0.claim_sides() };
        coll::scatter(process, comm, here, Side::Buffer(there), root)
    }
}

between! {
    /// Of what the root has, everybody of the other group gets the block of its rank. See
    /// [`Intercommunicator::bcast`](crate::Intercommunicator::bcast).
    ///
    /// # Errors
    /// `Root` if the root is no rank of the other group; `Count` if the root has not a block for each rank there.
    scatter iscatter scatter_init "scatter"
    (part: FromRoot<T> = "[7, 8]" to "[0]")
    gives "[[7], [8]][between.rank()]" => BetweenGroups(part)
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::scatter`] from a `root` in the other group, into a vector: so many `elements` for this
    /// rank. The ranks of that group call [`scatter`](Intercommunicator::scatter).
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "if side == 1 {\n",
        "    between.scatter(oxmpi::Here(&[7, 8]))?;\n",
        "} else {\n",
        "    assert_eq!(between.scatter_vec::<i32>(0, 1)?, [[7], [8]][between.rank()]);\n",
        "}"
    )]
    pub fn scatter_vec<T: Datatype>(&self, root: usize, elements: usize) -> Result<Vec<T>> {
        let receive = |recv: &mut [_]| self.scatter(There(root, recv));
        self.inner().received(Scatter::FUNCTIONS.blocking, Some(elements), receive)
    }
}
