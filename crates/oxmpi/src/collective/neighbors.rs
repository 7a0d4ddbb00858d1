//! Neighbourhood collectives: blocks along the edges of a topology.
//!
//! They are methods of every communicator; one that has no neighbours says so. The blocks of a grid are in the order of
//! its dimensions, in each the one before this rank and the one behind it; those of a graph are in the order of
//! [`Graph::sources`](crate::Graph::sources) and [`Graph::destinations`](crate::Graph::destinations). A block for
//! nobody, beyond the edge of a grid, is there all the same, and is left alone.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes, Neighborhood Collective Communication on Virtual Topologies.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::coll::{self, EdgeBlocks, Functions};
use oxmpi_core::{self as core, Operation, Process};

use super::{Collective, lifetimes};
use crate::blocks::Blocks;
use crate::check::Check;
use crate::loan::Loan;

struct NeighborAllgather<'b> {
    send: Loan<'b>,
    recv: Loan<'b>,
}

struct NeighborAllgatherv<'b> {
    send: Loan<'b>,
    recv: Loan<'b>,
    blocks: Blocks,
}

struct NeighborAlltoall<'b> {
    send: Loan<'b>,
    recv: Loan<'b>,
}

struct NeighborAlltoallv<'b> {
    send: (Loan<'b>, Blocks),
    recv: (Loan<'b>, Blocks),
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for NeighborAllgather<'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::NeighborAllgather,
        nonblocking: Function::IneighborAllgather,
        persistent: Function::NeighborAllgatherInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let (sources, _) = comm.degrees()?;
        // SAFETY: the caller's promise.
        let recv = unsafe { equal("recv", sources, &self.recv) }?;
        // SAFETY: the caller's promise.
        coll::neighbor_allgather(process, comm, unsafe { self.send.claim() }, recv)
    }
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for NeighborAllgatherv<'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::NeighborAllgatherv,
        nonblocking: Function::IneighborAllgatherv,
        persistent: Function::NeighborAllgathervInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let (sources, _) = comm.degrees()?;
        // SAFETY: the caller's promise.
        let recv = unsafe { self.blocks.claim(sources, "recv", &self.recv, true) }?;
        // SAFETY: the caller's promise.
        let send = unsafe { self.send.claim() };
        coll::neighbor_allgatherv(process, comm, send, EdgeBlocks::listed(recv))
    }
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for NeighborAlltoall<'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::NeighborAlltoall,
        nonblocking: Function::IneighborAlltoall,
        persistent: Function::NeighborAlltoallInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let (sources, destinations) = comm.degrees()?;
        // SAFETY: the caller's promise.
        let send = unsafe { equal("send", destinations, &self.send) }?;
        // SAFETY: the caller's promise.
        let recv = unsafe { equal("recv", sources, &self.recv) }?;
        coll::neighbor_alltoall(process, comm, send, recv)
    }
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for NeighborAlltoallv<'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::NeighborAlltoallv,
        nonblocking: Function::IneighborAlltoallv,
        persistent: Function::NeighborAlltoallvInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.0.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let ((sources, destinations), Self { send, recv }) = (comm.degrees()?, self);
        // SAFETY: the caller's promise.
        let from = unsafe { send.1.claim(destinations, "send", &send.0, false) }?;
        // SAFETY: the caller's promise.
        let to = unsafe { recv.1.claim(sources, "recv", &recv.0, true) }?;
        let (from, to) = (EdgeBlocks::listed(from), EdgeBlocks::listed(to));
        coll::neighbor_alltoallv(process, comm, Self::FUNCTIONS.persistent, from, to)
    }
}

lifetimes! {
    /// What this rank has in `send` goes along every edge; what comes along an edge is the block of that in `recv`.
    ///
    /// # Errors
    /// `Topology` if the communicator has none; `Count` if `recv` has not as many blocks as there are edges to here, or
    /// they are not as long as `send`.
    neighbor_allgather ineighbor_allgather neighbor_allgather_init "neighbour allgather"
    (&send = "[rank]", &mut recv = "[9; 2]")
    gives "[[9, 1], [0, 9]][rank]" on line => NeighborAllgather { send, recv }
}

lifetimes! {
    /// As [`Communicator::neighbor_allgather`](crate::Communicator::neighbor_allgather), with blocks of any length: see
    /// [`Blocks`].
    ///
    /// # Errors
    /// `Topology` if the communicator has none; `Count` if there is not one block for each edge to here, or one does
    /// not lie in `recv`; `Buffer` if two overlap.
    neighbor_allgatherv ineighbor_allgatherv neighbor_allgatherv_init "neighbour allgatherv"
    (&send = "vec![rank; rank + 1]", &mut recv = "[9; 3]", blocks: impl Into<Blocks> = "[1, 2]")
    gives "[[9, 1, 1], [0, 9, 9]][rank]" on line =>
        NeighborAllgatherv { send, recv, blocks: blocks.into() }
}

lifetimes! {
    /// Block `i` of `send` goes along edge `i` from here; what comes along edge `i` to here is block `i` of `recv`: the
    /// exchange of a halo.
    ///
    /// # Errors
    /// `Topology` if the communicator has none; `Count` if `send` or `recv` cannot be divided into as many blocks as
    /// there are edges, or their blocks differ in length.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(4, |world| {
    /// let ring = world.cartesian(&[world.size()], &[true])?.expect("every rank has a place");
    /// let (rank, size) = (ring.rank(), ring.size());
    /// let mut halo = ring.neighbor_alltoall_init([rank, rank + 10], [0; 2])?;
    /// for step in 0..3 {
    ///     halo.send_mut().copy_from_slice(&[rank + step, rank + step + 10]);
    ///     halo = halo.start()?.wait()?;
    ///     assert_eq!(halo.recv(), [(rank + size - 1) % size + step + 10, (rank + 1) % size + step]);
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    neighbor_alltoall ineighbor_alltoall neighbor_alltoall_init "neighbour alltoall"
    (&send = "[[1, 2], [3, 4]][rank]", &mut recv = "[9; 2]")
    gives "[[9, 3], [2, 9]][rank]" on line => NeighborAlltoall { send, recv }
}

lifetimes! {
    /// As [`Communicator::neighbor_alltoall`](crate::Communicator::neighbor_alltoall), with blocks of any length: see
    /// [`Blocks`].
    ///
    /// # Errors
    /// `Topology` if the communicator has none; `Count` if there is not one block for each edge, or one does not lie in
    /// its buffer; `Buffer` if two of `recv` overlap.
    neighbor_alltoallv ineighbor_alltoallv neighbor_alltoallv_init "neighbour alltoallv"
    (
        &send = "[[1, 2, 3], [4, 5, 6]][rank]",
        send_blocks: impl Into<Blocks> = "[1, 2]",
        &mut recv = "[9; 3]",
        recv_blocks: impl Into<Blocks> = "[2, 1]"
    )
    gives "[[9, 9, 4], [2, 3, 9]][rank]" on line =>
        NeighborAlltoallv { send: (send, send_blocks.into()), recv: (recv, recv_blocks.into()) }
}

/// What is lent as `argument`, as blocks of equal length, one for each of so many edges.
///
/// # Errors
/// `Count` if there cannot be.
///
/// # Safety
/// As [`Loan::claim`].
unsafe fn equal(argument: &str, edges: usize, loan: &Loan<'_>) -> Result<EdgeBlocks> {
    let elements = loan.elements();
    if edges == 0 && elements != 0 || edges != 0 && !elements.is_multiple_of(edges) {
        let text =
            format!("{argument} has {elements} elements, which are not {edges} blocks of equal length");
        return Err(Error::new(ErrorClass::Count, text));
    }
    // SAFETY: the caller's promise.
    Ok(EdgeBlocks::equal(unsafe { loan.claim() }, edges))
}
