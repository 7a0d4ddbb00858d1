//! Scatterv: a block of any length of the root's to everybody.
//!
//! MPI-5.0: Collective Communication, Scatter, Vector Variant.

use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};

use super::{Collective, between, checked_root, lifetimes};
use crate::blocks::Blocks;
use crate::check::Check;
use crate::loan::Loan;
use crate::part::Part;

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
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let counts: Vec<usize> = (1..=size).collect();
    /// let all: Vec<usize> = counts.iter().flat_map(|&count| vec![count; count]).collect();
    /// let mut mine = vec![0; rank + 1];
    /// world.scatterv(&all, &counts, &mut mine, 0)?;
    /// assert_eq!(mine, vec![rank + 1; rank + 1]);
    /// # Ok(())
    /// # }
    /// ```
    scatterv iscatterv scatterv_init "scatterv"
    (&send, blocks: impl Into<Blocks>, &mut recv, root: usize) =>
        Scatterv { send: Some(send), recv, blocks: blocks.into(), root }
}

lifetimes! {
    /// Of what the root has in `buf`, everybody gets the block of its rank in `buf`; the root's stays where it is.
    /// Only the root's `blocks` count.
    ///
    /// # Errors
    /// As [`Communicator::scatterv`](crate::Communicator::scatterv).
    scatterv_in_place iscatterv_in_place scatterv_in_place_init "scatterv in place"
    (&mut buf, blocks: impl Into<Blocks>, root: usize) =>
        Scatterv { send: None, recv: buf, blocks: blocks.into(), root }
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
    (part: FromRoot<T>, blocks: impl Into<Blocks>) => BetweenGroups { part, blocks: blocks.into() }
}
