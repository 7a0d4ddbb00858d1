//! Alltoallw: a part of any shape from everybody to everybody, or along the edges of a topology.
//!
//! What in C is a datatype for each rank, and where its element lies, is a [`Shape`] here.
//!
//! MPI-5.0: Collective Communication, All-to-All Scatter/Gather, Generalized All-to-All Function; Virtual Topologies
//! for MPI Processes, Neighborhood Collective Communication on Virtual Topologies.

use std::mem;
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::coll::{self, EdgeBlocks, Functions};
use oxmpi_core::{self as core, Operation, Process};

use super::received::elements_of_blocks;
use super::{Collective, between, lifetimes};
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::shape::{Parts, Shape};
use crate::thread::ThreadLevel;

struct Alltoallw<'b, 's> {
    /// Not if it lies in `recv`.
    send: Option<(Loan<'b>, &'s [Shape])>,
    recv: (Loan<'b>, &'s [Shape]),
}

struct NeighborAlltoallw<'b, 's> {
    /// Shapes in `recv` if it lies there.
    send: (Option<Loan<'b>>, &'s [Shape]),
    recv: (Loan<'b>, &'s [Shape]),
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for Alltoallw<'b, '_> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::Alltoallw,
        nonblocking: Function::Ialltoallw,
        persistent: Function::AlltoallwInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.0.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let ranks = comm.peers() as usize;
        let send = self.send.as_ref().map(|(send, shapes)| {
            // SAFETY: the caller's promise.
            unsafe { Parts::sent("send", send, ranks, shapes)?.claim() }
        });
        let recv = Parts::received(&self.recv.0, ranks, self.recv.1)?;
        // SAFETY: the caller's promise.
        let recv = unsafe { recv.claim() }?;
        coll::alltoallv(process, comm, Self::FUNCTIONS.persistent, send.transpose()?, recv)
    }
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for NeighborAlltoallw<'b, '_> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::NeighborAlltoallw,
        nonblocking: Function::IneighborAlltoallw,
        persistent: Function::NeighborAlltoallwInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.0.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let (sources, destinations) = comm.degrees()?;
        let recv = Parts::received(&self.recv.0, sources, self.recv.1)?;
        let send = match &self.send {
            (Some(send), shapes) => Parts::sent("send", send, destinations, shapes)?,
            (None, shapes) => {
                let send = Parts::sent("buf", &self.recv.0, destinations, shapes)?;
                recv.check_beside(&send)?;
                send
            }
        };
        // SAFETY: the caller's promise.
        let send = unsafe { send.claim() }?;
        // SAFETY: the caller's promise.
        let recv = unsafe { recv.claim() }?;
        let (send, recv) = (EdgeBlocks::listed(send), EdgeBlocks::listed(recv));
        coll::neighbor_alltoallv(process, comm, Self::FUNCTIONS.persistent, send, recv)
    }
}

lifetimes! {
    /// Part `i` of `send` goes to rank `i`, which gets it in the part of this rank in its `recv`. Parts may be of any
    /// shapes that have as many elements; what belongs to none is left alone.
    ///
    /// # Errors
    /// `Count` if there is not one part for each rank; `Arg` if one does not lie in its buffer, or an element of `recv`
    /// is there twice;
    /// `Truncate`, `Count` if the parts of this rank to and from itself differ in length.
    ///
    /// ```
    /// use oxmpi::Shape;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// // Everybody has two rows of a matrix, and gets two columns of it.
    /// let (rank, size) = (world.rank(), world.size());
    /// let n = 2 * size;
    /// let rows: Vec<usize> = (0..2 * n).map(|place| 2 * rank * n + place).collect();
    /// let mut columns = vec![0; n * 2];
    /// let of = |peer| 2 * peer..2 * peer + 2;
    /// let from: Vec<_> = (0..size).map(|peer| Shape::subarray([2, n], [0..2, of(peer)])).collect();
    /// let to: Vec<_> = (0..size).map(|peer| Shape::subarray([n, 2], [of(peer), 0..2])).collect();
    /// world.alltoallw(&rows, &from, &mut columns, &to)?;
    /// assert_eq!(columns[..4], [2 * rank, 2 * rank + 1, n + 2 * rank, n + 2 * rank + 1]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    alltoallw ialltoallw alltoallw_init "alltoallw"
    (
        &send = "[[1, 2, 3, 4], [5, 6, 7, 8]][rank]",
        send_shapes: &[Shape] = "&[Shape::indexed([0..1, 2..3]), Shape::indexed([1..2, 3..4])]",
        &mut recv = "[0; 4]",
        recv_shapes: &[Shape] = "&[Shape::range(0..2), Shape::range(2..4)]"
    )
    gives "[[1, 3, 5, 7], [2, 4, 6, 8]][rank]" =>
        Alltoallw { send: Some((send, send_shapes)), recv: (recv, recv_shapes) }
}

lifetimes! {
    /// Part `i` of `buf` is exchanged for the part of this rank in rank `i`'s `buf`, which has as many elements.
    ///
    /// # Errors
    /// As [`Communicator::alltoallw`](crate::Communicator::alltoallw).
    alltoallw_in_place ialltoallw_in_place alltoallw_in_place_init "alltoallw in place"
    (
        &mut buf = "[[1, 2, 3, 4], [5, 6, 7, 8]][rank]",
        shapes: &[Shape] = "&[Shape::indexed([0..1, 2..3]), Shape::indexed([1..2, 3..4])]"
    )
    gives "[[1, 5, 3, 7], [2, 6, 4, 8]][rank]" => Alltoallw { send: None, recv: (buf, shapes) }
}

between! {
    /// Part `i` of `send` goes to rank `i` of the other group, which gets it in the part of this rank in its `recv`.
    /// See [`Communicator::alltoallw`](crate::Communicator::alltoallw).
    ///
    /// # Errors
    /// `Count` if there is not one part for each rank of the other group; `Arg` if one does not lie in its buffer, or
    /// an element of `recv` is there twice.
    alltoallw ialltoallw alltoallw_init "alltoallw"
    (
        &send = "vec![world.rank(); between.remote_size()]",
        send_shapes: &[Shape] = "&[Shape::range(0..1), Shape::range(1..2)][..between.remote_size()]",
        &mut recv = "vec![9; between.remote_size()]",
        recv_shapes: &[Shape] = "&[Shape::range(0..1), Shape::range(1..2)][..between.remote_size()]"
    )
    gives "[vec![1], vec![0, 2]][side]"
}

lifetimes! {
    /// As [`Communicator::neighbor_alltoall`](crate::Communicator::neighbor_alltoall), with parts of any shape: part
    /// `i` of `send` goes along edge `i` from here; what comes along edge `i` to here is part `i` of `recv`.
    ///
    /// # Errors
    /// `Topology` if the communicator has none; `Count` if there is not one part for each edge; `Arg` if one does not
    /// lie in its buffer, or an element of `recv` is there twice.
    neighbor_alltoallw ineighbor_alltoallw neighbor_alltoallw_init "neighbour alltoallw"
    (
        &send = "[[1, 2], [3, 4]][rank]",
        send_shapes: &[Shape] = "&[Shape::range(0..1), Shape::range(1..2)]",
        &mut recv = "[9; 2]",
        recv_shapes: &[Shape] = "&[Shape::range(0..1), Shape::range(1..2)]"
    )
    gives "[[9, 3], [2, 9]][rank]" on line =>
        NeighborAlltoallw { send: (Some(send), send_shapes), recv: (recv, recv_shapes) }
}

lifetimes! {
    /// As [`Communicator::neighbor_alltoallw`](crate::Communicator::neighbor_alltoallw) within one buffer: the halo of
    /// a field, which is copied nowhere else. What is sent may be there several times, but not be received into.
    ///
    /// # Errors
    /// As [`Communicator::neighbor_alltoallw`](crate::Communicator::neighbor_alltoallw); `Arg` if an element is sent
    /// and received into.
    ///
    /// ```
    /// use oxmpi::Shape;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(4, |world| {
    /// let grid = world.cartesian(&[2, 2], &[true, true])?.expect("every rank has a place");
    /// let field = vec![grid.rank(); 5 * 5]; // 3 x 3, and what belongs to the neighbours around it
    /// let shapes = |parts: [[std::ops::Range<usize>; 2]; 4]| parts.map(|part| Shape::subarray([5, 5], part));
    /// // Up, down, left, right.
    /// let inner = shapes([[1..2, 1..4], [3..4, 1..4], [1..4, 1..2], [1..4, 3..4]]);
    /// let outer = shapes([[0..1, 1..4], [4..5, 1..4], [1..4, 0..1], [1..4, 4..5]]);
    /// let mut halo = grid.neighbor_alltoallw_in_place_init(field, &inner, &outer)?;
    /// for step in 0..3 {
    ///     halo.buf_mut()[6..9].fill(10 * step + grid.rank());
    ///     halo = halo.start()?.wait()?;
    ///     // Whoever is above is also below, and has sent its lower row up; so with the columns.
    ///     assert_eq!(halo.buf()[21..24], [10 * step + (grid.rank() ^ 2); 3]);
    ///     assert_eq!((halo.buf()[10], halo.buf()[0]), (grid.rank() ^ 1, grid.rank()));
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    neighbor_alltoallw_in_place ineighbor_alltoallw_in_place neighbor_alltoallw_in_place_init
    "neighbour alltoallw within one buffer"
    (
        &mut buf = "[9, rank, rank, 9]",
        send_shapes: &[Shape] = "&[Shape::range(1..2), Shape::range(2..3)]",
        recv_shapes: &[Shape] = "&[Shape::range(0..1), Shape::range(3..4)]"
    )
    gives "[[9, 0, 0, 1], [0, 1, 1, 9]][rank]" on line =>
        NeighborAlltoallw { send: (None, send_shapes), recv: (buf, recv_shapes) }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::alltoallw`], into a vector: rank `i` sends `recv_counts[i]` elements to this one, and they
    /// follow each other.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        () "let rows = [[1, 2, 3, 4], [5, 6, 7, 8]][rank]; // 2 rows of 2 elements\n",
        "let columns = [0, 1].map(|column| Shape::indexed([column..column + 1, column + 2..column + 3]));\n",
        "assert_eq!(world.alltoallw_vec(&rows, &columns, &[2, 2])?, [[1, 3, 5, 7], [2, 4, 6, 8]][rank]);"
    )]
    pub fn alltoallw_vec<S>(
        &self,
        send: &S,
        send_shapes: &[Shape],
        recv_counts: &[usize],
    ) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let exchange = |recv: &mut [_]| self.alltoallw(send, send_shapes, recv, &consecutive(recv_counts));
        self.received(Alltoallw::FUNCTIONS.blocking, elements_of_blocks(recv_counts), exchange)
    }

    /// As [`Communicator::neighbor_alltoallw`], into a vector: `recv_counts[i]` elements come along edge `i` to here,
    /// and they follow each other. What comes from nobody, beyond the edge of a grid, is the type's default.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (line) "let field = [[1, 2, 3], [4, 5, 6]][rank];\n",
        "let ends = [Shape::range(0..1), Shape::range(2..3)];\n",
        "let halo = line.neighbor_alltoallw_vec(&field, &ends, &[1, 1])?;\n",
        "assert_eq!(halo, [[0, 4], [3, 0]][rank]);"
    )]
    pub fn neighbor_alltoallw_vec<S>(
        &self,
        send: &S,
        send_shapes: &[Shape],
        recv_counts: &[usize],
    ) -> Result<Vec<S::Element>>
    where
        S: SendBuffer<Element: Default> + ?Sized,
    {
        let function = NeighborAlltoallw::FUNCTIONS.blocking;
        self.received_of_neighbors(function, elements_of_blocks(recv_counts), |recv| {
            self.neighbor_alltoallw(send, send_shapes, recv, &consecutive(recv_counts))
        })
    }
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::alltoallw`], into a vector: rank `i` of the other group sends `recv_counts[i]` elements
    /// to this one, and they follow each other.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "let (mine, others) = ([world.rank(); 2], between.remote_size());\n",
        "let shapes = &[Shape::range(0..1), Shape::range(1..2)][..others];\n",
        "let theirs = between.alltoallw_vec(&mine, shapes, &vec![1; others])?;\n",
        "assert_eq!(theirs, [vec![1], vec![0, 2]][side]);"
    )]
    pub fn alltoallw_vec<S>(
        &self,
        send: &S,
        send_shapes: &[Shape],
        recv_counts: &[usize],
    ) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let exchange = |recv: &mut [_]| self.alltoallw(send, send_shapes, recv, &consecutive(recv_counts));
        self.inner().received(Alltoallw::FUNCTIONS.blocking, elements_of_blocks(recv_counts), exchange)
    }
}

/// Parts of so many elements that follow each other, all of which there can be.
fn consecutive(counts: &[usize]) -> Vec<Shape> {
    let place = |begin: &mut usize, &count: &usize| {
        let end = *begin + count;
        Some(Shape::range(mem::replace(begin, end)..end))
    };
    counts.iter().scan(0, place).collect()
}
