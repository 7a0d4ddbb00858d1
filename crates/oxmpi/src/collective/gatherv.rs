//! Gatherv: everybody's block, of any length, to the root.
//!
//! MPI-5.0: Collective Communication, Gather, Vector Variant.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};

use super::received::elements_of_blocks;
use super::{Collective, between, checked_root, lifetimes, side};
use crate::blocks::Blocks;
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::part::{Here, Part};
use crate::thread::ThreadLevel;

struct Gatherv<'b> {
    /// `None` if it lies in `recv`: at the root the block there, elsewhere all of it.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    blocks: Blocks,
    root: usize,
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for Gatherv<'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::Gatherv,
        nonblocking: Function::Igatherv,
        persistent: Function::GathervInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let root = checked_root(self.root)?;
        if self.root == comm.rank() as usize {
            // SAFETY: the caller's promise.
            let send = unsafe { side(self.send.as_ref()) };
            // SAFETY: the caller's promise.
            let recv = unsafe { self.blocks.claim(comm.size() as usize, "recv", &self.recv, true) }?;
            return coll::gatherv(process, comm, send, recv, root);
        }
        let send = self.send.as_ref().unwrap_or(&self.recv);
        // SAFETY: the caller's promise.
        let send = Side::Buffer(unsafe { send.claim() });
        coll::gatherv(process, comm, send, Vec::new(), root)
    }
}

lifetimes! {
    /// What everybody has in `send`, the root gets: that of rank `i` in block `i` of `recv`. Only the root's `recv` and
    /// `blocks` count. See [`Blocks`].
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; at the root as [`Communicator::allgatherv`](crate::Communicator::allgatherv).
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let mine = vec![rank; rank + 1];
    /// if rank == 0 {
    ///     let counts: Vec<usize> = (1..=size).collect();
    ///     let mut all = vec![0; counts.iter().sum()];
    ///     world.gatherv(&mine, &mut all, &counts, 0)?;
    ///     assert_eq!(all[all.len() - size..], vec![size - 1; size]);
    /// } else {
    ///     world.gatherv(&mine, &mut [], [], 0)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    gatherv igatherv gatherv_init "gatherv"
    (
        &send = "vec![rank; rank + 1]",
        &mut recv = "[9; 3]",
        blocks: impl Into<Blocks> = "[1, 2]",
        root: usize = "0"
    )
    gives "[[0, 1, 1], [9; 3]][rank]" => Gatherv { send: Some(send), recv, blocks: blocks.into(), root }
}

lifetimes! {
    /// What everybody has in `buf`, the root gets in the blocks of its own `buf`, where its own block lies already.
    /// Only the root's `blocks` count.
    ///
    /// # Errors
    /// As [`Communicator::gatherv`](crate::Communicator::gatherv).
    gatherv_in_place igatherv_in_place gatherv_in_place_init "gatherv in place"
    (&mut buf = "vec![rank; 3 - rank]", blocks: impl Into<Blocks> = "[1, 2]", root: usize = "0")
    gives "[vec![0, 1, 1], vec![1, 1]][rank]" =>
        Gatherv { send: None, recv: buf, blocks: blocks.into(), root }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::gatherv`], into a vector at the root; none elsewhere. Rank `i` sends `counts[i]` elements,
    /// which the root alone has to know.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        () "let all = world.gatherv_vec(&vec![rank; rank + 1], &[1, 2], 0)?;\n",
        "assert_eq!(all, [Some(vec![0, 1, 1]), None][rank]);"
    )]
    pub fn gatherv_vec<S>(&self, send: &S, counts: &[usize], root: usize) -> Result<Option<Vec<S::Element>>>
    where
        S: SendBuffer + ?Sized,
    {
        let gather = |recv: &mut [_]| self.gatherv(send, recv, counts, root);
        self.received_at(root, Gatherv::FUNCTIONS.blocking, || elements_of_blocks(counts), gather)
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
    const FUNCTIONS: Functions = Gatherv::FUNCTIONS;

    fn check(&self) -> Option<Box<Check>> {
        self.part.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let root = self.part.root()?;
        // SAFETY: the caller's promise.
        let sides = unsafe { self.part.claim_blocks(&self.blocks, comm.peers() as usize, "recv", true) };
        let (here, there) = sides?;
        coll::gatherv(process, comm, Side::Buffer(there), here, root)
    }
}

between! {
    /// What everybody of the other group has, the root gets: that of rank `i` there in block `i`. Only the root's
    /// `blocks` count. See [`Intercommunicator::reduce`](crate::Intercommunicator::reduce).
    ///
    /// # Errors
    /// `Root` if the root is no rank of the other group; at the root as
    /// [`Intercommunicator::allgatherv`](crate::Intercommunicator::allgatherv).
    gatherv igatherv gatherv_init "gatherv"
    (part: ToRoot<T> = "[world.rank()]" to "[9_usize; 2]", blocks: impl Into<Blocks> = "[1, 1]")
    gives "[0, 2]" => BetweenGroups { part, blocks: blocks.into() }
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::gatherv`] where this rank is the root, into a vector: `counts[i]` elements of rank `i`
    /// of the other group. All others call [`gatherv`](Intercommunicator::gatherv).
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "if side == 0 {\n",
        "    let mine = vec![world.rank(); world.rank() + 1];\n",
        "    between.gatherv(oxmpi::There(0, &mine), [])?; // the blocks are the root's affair\n",
        "} else {\n",
        "    assert_eq!(between.gatherv_vec::<usize>(&[1, 3])?, [0, 2, 2, 2]);\n",
        "}"
    )]
    pub fn gatherv_vec<T: Datatype>(&self, counts: &[usize]) -> Result<Vec<T>> {
        let gather = |recv: &mut [_]| self.gatherv(Here(recv), counts);
        self.inner().received(Gatherv::FUNCTIONS.blocking, elements_of_blocks(counts), gather)
    }
}
