//! Scatterv: a block of any length of the root's to everybody.
//!
//! MPI-5.0: Collective Communication, Scatter, Vector Variant.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};

use super::{Collective, between, checked_root, lifetimes};
use crate::blocks::Blocks;
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::part::{Part, There};
use crate::thread::ThreadLevel;

struct Scatterv<'b> {
    /// `None` if it lies in `recv`: at the root all of it, elsewhere nothing.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    blocks: Blocks,
    root: usize,
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for Scatterv<'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::Scatterv,
        nonblocking: Function::Iscatterv,
        persistent: Function::ScattervInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let (root, ranks) = (checked_root(self.root)?, comm.size() as usize);
        if self.root != comm.rank() as usize {
            // SAFETY: the caller's promise.
            let recv = Side::Buffer(unsafe { self.recv.claim() });
            return coll::scatterv(process, comm, Vec::new(), recv, root);
        }
        let Some(send) = &self.send else {
            // SAFETY: the caller's promise.
            let send = unsafe { self.blocks.claim(ranks, "buf", &self.recv, false) }?;
            return coll::scatterv(process, comm, send, Side::InPlace, root);
        };
        // SAFETY: the caller's promise.
        let send = unsafe { self.blocks.claim(ranks, "send", send, false) }?;
        // SAFETY: the caller's promise.
        let recv = Side::Buffer(unsafe { self.recv.claim() });
        coll::scatterv(process, comm, send, recv, root)
    }
}

lifetimes! {
    /// Of what the root has in `send`, rank `i` gets block `i` in `recv`. Only the root's `send` and `blocks` count.
    /// See [`Blocks`].
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; at the root `Count` if there is not one block for each rank, or one does not
    /// lie in
    /// `send`, and `Truncate`, `Count` if its own differs in length from `recv`.
    scatterv iscatterv scatterv_init "scatterv"
    (
        &send = "[1, 2, 3]",
        blocks: impl Into<Blocks> = "[1, 2]",
        &mut recv = "vec![0; rank + 1]",
        root: usize = "0"
    )
    gives "[vec![1], vec![2, 3]][rank]" =>
        Scatterv { send: Some(send), recv, blocks: blocks.into(), root }
}

lifetimes! {
    /// Of what the root has in `buf`, everybody gets the block of its rank in `buf`; the root's stays where it is.
    /// Only the root's `blocks` count.
    ///
    /// # Errors
    /// As [`Communicator::scatterv`](crate::Communicator::scatterv).
    scatterv_in_place iscatterv_in_place scatterv_in_place_init "scatterv in place"
    (&mut buf = "Vec::from_iter(1..4 - rank)", blocks: impl Into<Blocks> = "[1, 2]", root: usize = "0")
    gives "[vec![1, 2, 3], vec![2, 3]][rank]" =>
        Scatterv { send: None, recv: buf, blocks: blocks.into(), root }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::scatterv`], into a vector: so many `elements` for this rank. Only the root's `send` and
    /// `blocks` count.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        () "let mine = world.scatterv_vec(&[1, 2, 3], [1, 2], rank + 1, 0)?;\n",
        "assert_eq!(mine, [vec![1], vec![2, 3]][rank]);"
    )]
    pub fn scatterv_vec<S>(
        &self,
        send: &S,
        blocks: impl Into<Blocks>,
        elements: usize,
        root: usize,
    ) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        self.received(Scatterv::FUNCTIONS.blocking, Some(elements), |recv| {
            self.scatterv(send, blocks, recv, root)
        })
    }
}

/// One between two groups.
struct BetweenGroups<'b> {
    part: Part<'b>,
    /// Those of the root.
    blocks: Blocks,
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for BetweenGroups<'b> {
    const FUNCTIONS: Functions = Scatterv::FUNCTIONS;

    fn check(&self) -> Option<Box<Check>> {
        self.part.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let root = self.part.root()?;
        // SAFETY: the caller's promise.
        let sides = unsafe { self.part.claim_blocks(&self.blocks, comm.peers() as usize, "send", false) };
        let (here, there) = sides?;
        coll::scatterv(process, comm, here, Side::Buffer(there), root)
    }
}

between! {
    /// Of what the root has, rank `i` of the other group gets block `i`. Only the root's `blocks` count. See
    /// [`Intercommunicator::bcast`](crate::Intercommunicator::bcast).
    ///
    /// # Errors
    /// `Root` if the root is no rank of the other group; at the root `Count` if there is not one block for each rank
    /// there, or one does not lie in its buffer.
    scatterv iscatterv scatterv_init "scatterv"
    (part: FromRoot<T> = "[7, 8]" to "[0]", blocks: impl Into<Blocks> = "[1, 1]")
    gives "[[7], [8]][between.rank()]" => BetweenGroups { part, blocks: blocks.into() }
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::scatterv`] from a `root` in the other group, into a vector: so many `elements` for this
    /// rank. The ranks of that group call [`scatterv`](Intercommunicator::scatterv).
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "if side == 1 {\n",
        "    between.scatterv(oxmpi::Here(&[7, 8, 9]), [1, 2])?;\n",
        "} else {\n",
        "    let mine = between.scatterv_vec::<i32>(0, between.rank() + 1)?;\n",
        "    assert_eq!(mine, [vec![7], vec![8, 9]][between.rank()]);\n",
        "}"
    )]
    pub fn scatterv_vec<T: Datatype>(&self, root: usize, elements: usize) -> Result<Vec<T>> {
        let receive = |recv: &mut [_]| self.scatterv(There(root, recv), Blocks::default());
        self.inner().received(Scatterv::FUNCTIONS.blocking, Some(elements), receive)
    }
}
