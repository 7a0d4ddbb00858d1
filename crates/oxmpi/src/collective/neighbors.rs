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

use super::received::{elements_of_all, elements_of_blocks};
use super::{Collective, lifetimes};
use crate::blocks::Blocks;
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::loan::Loan;
use crate::thread::ThreadLevel;

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
    /// they are not as long as `send`, where there are more than two ranks.
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
    /// there are edges, or their blocks differ in length, where there are more than two ranks.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(4, |world| {
    /// let ring = world.cartesian(&[world.size()], &[true])?.expect("every rank has a place");
    /// let (rank, size) = (ring.rank(), ring.size());
    /// let mut halo = ring.neighbor_alltoall_init([rank, rank + 10], [0; 2])?;
    /// for step in 0..3 {
    ///     halo.send_buf_mut().copy_from_slice(&[rank + step, rank + step + 10]);
    ///     halo = halo.start()?.wait()?;
    ///     assert_eq!(halo.recv_buf(), [(rank + size - 1) % size + step + 10, (rank + 1) % size + step]);
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

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::neighbor_allgather`], into a vector. What comes from nobody, beyond the edge of a grid, is
    /// the type's default.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!((line) "assert_eq!(line.neighbor_allgather_vec(&[rank + 1])?, [[0, 2], [1, 0]][rank]);")]
    pub fn neighbor_allgather_vec<S>(&self, send: &S) -> Result<Vec<S::Element>>
    where
        S: SendBuffer<Element: Default> + ?Sized,
    {
        let function = NeighborAllgather::FUNCTIONS.blocking;
        let (sources, _) = self.door.placed(function, self.comm.degrees())?;
        let elements = elements_of_all(sources, send.lend().elements());
        self.received_of_neighbors(function, elements, |recv| self.neighbor_allgather(send, recv))
    }

    /// As [`Communicator::neighbor_allgatherv`], into a vector: `counts[i]` elements come along edge `i` to here. What
    /// comes from nobody, beyond the edge of a grid, is the type's default.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (line) "let mine = vec![rank + 1; rank + 1];\n",
        "assert_eq!(line.neighbor_allgatherv_vec(&mine, &[1, 2])?, [[0, 2, 2], [1, 0, 0]][rank]);"
    )]
    pub fn neighbor_allgatherv_vec<S>(&self, send: &S, counts: &[usize]) -> Result<Vec<S::Element>>
    where
        S: SendBuffer<Element: Default> + ?Sized,
    {
        let function = NeighborAllgatherv::FUNCTIONS.blocking;
        self.received_of_neighbors(function, elements_of_blocks(counts), |recv| {
            self.neighbor_allgatherv(send, recv, counts)
        })
    }

    /// As [`Communicator::neighbor_alltoall`], into a vector. What comes from nobody, beyond the edge of a grid, is
    /// the type's default.
    ///
    /// Blocks that come are as long as those of `send`. They are empty where no edge leads away: who is a destination
    /// alone says by [`Communicator::neighbor_alltoallv_vec`] how long they are.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (line) "let mine = [[1, 2], [3, 4]][rank];\n",
        "assert_eq!(line.neighbor_alltoall_vec(&mine)?, [[0, 3], [2, 0]][rank]);"
    )]
    pub fn neighbor_alltoall_vec<S>(&self, send: &S) -> Result<Vec<S::Element>>
    where
        S: SendBuffer<Element: Default> + ?Sized,
    {
        let function = NeighborAlltoall::FUNCTIONS.blocking;
        let (sources, destinations) = self.door.placed(function, self.comm.degrees())?;
        let block = send.lend().elements().checked_div(destinations).unwrap_or(0);
        self.received_of_neighbors(function, elements_of_all(sources, block), |recv| {
            self.neighbor_alltoall(send, recv)
        })
    }

    /// As [`Communicator::neighbor_alltoallv`], into a vector: `recv_counts[i]` elements come along edge `i` to here.
    /// What comes from nobody, beyond the edge of a grid, is the type's default.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (line) "let mine = [[1, 2, 3], [4, 5, 6]][rank];\n",
        "let theirs = line.neighbor_alltoallv_vec(&mine, [1, 2], &[2, 1])?;\n",
        "assert_eq!(theirs, [[0, 0, 4], [2, 3, 0]][rank]);"
    )]
    pub fn neighbor_alltoallv_vec<S>(
        &self,
        send: &S,
        send_blocks: impl Into<Blocks>,
        recv_counts: &[usize],
    ) -> Result<Vec<S::Element>>
    where
        S: SendBuffer<Element: Default> + ?Sized,
    {
        let function = NeighborAlltoallv::FUNCTIONS.blocking;
        self.received_of_neighbors(function, elements_of_blocks(recv_counts), |recv| {
            self.neighbor_alltoallv(send, send_blocks, recv, recv_counts)
        })
    }
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
