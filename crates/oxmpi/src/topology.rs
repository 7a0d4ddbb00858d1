//! Communicators whose ranks have neighbours: grids, and graphs of which each rank knows its own edges.
//!
//! They are communicators like others, whose neighbours exchange blocks by collectives of their own: see
//! [`Communicator::neighbor_alltoall`]. Ranks are never reordered.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes.

use std::ops::Deref;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{self as core, DistGraph, Edge, Edges};

use crate::communicator::Communicator;
use crate::info::Info;
use crate::message::{Dest, Source, rank_to_core};
use crate::thread::{Funneled, ThreadLevel};

/// A communicator whose ranks are the places of a grid, of which the last coordinate runs fastest.
///
/// ```
/// use oxmpi::balanced_dims;
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(6, |world| {
/// let dims = balanced_dims(world.size(), [0, 0])?;
/// assert_eq!(dims, [3, 2]);
/// // A cylinder: the first dimension goes around.
/// let grid = world.cartesian(&dims, &[true, false])?.expect("every rank has a place");
/// let (up, down) = grid.shift(0, 1)?;
/// let mut above = [usize::MAX; 2];
/// grid.sendrecv(&grid.coordinates(grid.rank())?, down, 0, &mut above, up, 0)?;
/// assert_eq!(above, [(grid.coordinates(grid.rank())?[0] + 2) % 3, grid.rank() % 2]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Cartesian<'env, L: ThreadLevel = Funneled>(Communicator<'env, L>);

/// A communicator whose ranks have edges to others, and from others.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(3, |world| {
/// let (rank, size) = (world.rank(), world.size());
/// // A ring, in one direction.
/// let ring = world.dist_graph_adjacent([(rank + size - 1) % size], [(rank + 1) % size])?;
/// let mut left = [usize::MAX];
/// ring.neighbor_allgather(&rank, &mut left)?;
/// assert_eq!(ring.sources(), left);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Graph<'env, L: ThreadLevel = Funneled>(Communicator<'env, L>);

/// The dimensions of a grid of so many places, as equal as can be: those of `dims` that are not 0 stay, and the others
/// do not increase.
///
/// # Errors
/// `Arg` if there are no places, or more than there can be ranks; `Dims` if the dimensions that stay do not divide
/// their number.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// assert_eq!(oxmpi::balanced_dims(12, [0, 0, 0])?, [3, 2, 2]);
/// assert_eq!(oxmpi::balanced_dims(12, [0, 4])?, [3, 4]);
/// # Ok(())
/// # }
/// ```
pub fn balanced_dims<const N: usize>(places: usize, dims: [usize; N]) -> Result<[usize; N]> {
    let found = || {
        let places = to_core(ErrorClass::Arg, "number of places", places)?;
        core::balanced_dims(places, &dims_to_core(&dims)?)
    };
    let found = found().map_err(|error| error.in_call(Function::DimsCreate, None))?;
    Ok(std::array::from_fn(|axis| found[axis] as usize))
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// A communicator whose ranks are the places of a grid with these dimensions, each of which goes around if it is
    /// `periodic`; none for ranks that are left over. Collective. See [`Cartesian`].
    ///
    /// # Errors
    /// `Dims` if there is not one `periodic` for each dimension, or there are more places than ranks; `NoMem` if shared
    /// memory is used up.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// // A row of two places: the third rank is left over.
    /// let row = world.cartesian(&[2], &[false])?;
    /// assert_eq!(row.map(|row| row.dims()), [Some(vec![2]), Some(vec![2]), None][world.rank()]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn cartesian(&self, dims: &[usize], periodic: &[bool]) -> Result<Option<Cartesian<'env, L>>> {
        let made = self.door.call(Function::CartCreate, |process| {
            if dims.len() != periodic.len() {
                let text = format!("there are {} dims and {} of periodic", dims.len(), periodic.len());
                return Err(Error::new(ErrorClass::Dims, text));
            }
            let grid = core::Cartesian::new(&dims_to_core(dims)?, periodic)?;
            process.cart_create(&self.comm, grid)
        })?;
        Ok(made.map(|comm| Cartesian(self.beside(comm))))
    }

    /// A communicator of the same ranks, with edges from the `sources` to this rank, and from this rank to the
    /// `destinations`. What one rank calls a destination has this rank as a source. Collective. See [`Graph`].
    ///
    /// # Errors
    /// `Rank`, on all ranks, if somebody names one that there is not; `NoMem` if shared memory is used up.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// // Rank 0 tells both others, and hears of rank 2.
    /// let (sources, destinations) = match world.rank() {
    ///     0 => (vec![2], vec![1, 2]),
    ///     1 => (vec![0], vec![]),
    ///     _ => (vec![0], vec![0]),
    /// };
    /// let graph = world.dist_graph_adjacent(sources, destinations)?;
    /// let mut heard = vec![usize::MAX; graph.sources().len()];
    /// graph.neighbor_allgather(&world.rank(), &mut heard)?;
    /// assert_eq!(heard, graph.sources());
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn dist_graph_adjacent(
        &self,
        sources: impl IntoIterator<Item = usize>,
        destinations: impl IntoIterator<Item = usize>,
    ) -> Result<Graph<'env, L>> {
        let edges = |ranks: Vec<i32>| Edges::new(&ranks, None, self.comm.size());
        let mine = ranks_to_core(sources).and_then(|sources| {
            let (incoming, outgoing) = (edges(sources)?, edges(ranks_to_core(destinations)?)?);
            Ok(DistGraph { incoming, outgoing, weighted: false })
        });
        let made = self.door.call(Function::DistGraphCreateAdjacent, |process| {
            process.dist_graph_create_adjacent(&self.comm, mine)
        })?;
        Ok(Graph(self.beside(made)))
    }

    /// A communicator of the same ranks, with edges of which each rank names any: pairs of a source and a destination.
    /// Collective.
    ///
    /// # Errors
    /// As [`Communicator::dist_graph_adjacent`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// // Rank 0 knows the graph: a star.
    /// let edges = (1..world.size()).flat_map(|leaf| [(0, leaf), (leaf, 0)]);
    /// let star = world.dist_graph(edges.filter(|_| world.rank() == 0))?;
    /// assert_eq!(star.sources().len(), if star.rank() == 0 { 2 } else { 1 });
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn dist_graph(&self, edges: impl IntoIterator<Item = (usize, usize)>) -> Result<Graph<'env, L>> {
        let edge = |(source, destination)| {
            let [source, destination] =
                [source, destination].map(|rank| rank_to_core(ErrorClass::Rank, "rank", rank));
            Ok(Edge { source: source?, destination: destination?, weight: 1 })
        };
        let mine = edges.into_iter().map(edge).collect::<Result<Vec<_>>>().map(|edges| (edges, false));
        let made = self
            .door
            .call(Function::DistGraphCreate, |process| process.dist_graph_create(&self.comm, mine))?;
        Ok(Graph(self.beside(made)))
    }
}

impl<'env, L: ThreadLevel> Cartesian<'env, L> {
    /// The number of coordinates in each dimension. See [`Cartesian`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let grid = world.cartesian(&oxmpi::balanced_dims(2, [0, 0])?, &[false; 2])?.expect("every rank has a place");
    /// assert_eq!(grid.dims(), [2, 1]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn dims(&self) -> Vec<usize> {
        self.grid().axes().iter().map(|axis| axis.size as usize).collect()
    }

    /// Which dimensions go around. See [`Cartesian`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let cylinder = world.cartesian(&[2, 1], &[true, false])?.expect("every rank has a place");
    /// assert_eq!(cylinder.periodic(), [true, false]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn periodic(&self) -> Vec<bool> {
        self.grid().axes().iter().map(|axis| axis.periodic).collect()
    }

    /// Where a rank is. See [`Cartesian`].
    ///
    /// # Errors
    /// `Rank` if it is no rank.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(4, |world| {
    /// let grid = world.cartesian(&[2, 2], &[false; 2])?.expect("every rank has a place");
    /// assert_eq!(grid.coordinates(2)?, [1, 0]);
    /// assert!(grid.coordinates(4).is_err());
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn coordinates(&self, rank: usize) -> Result<Vec<usize>> {
        let rank = rank_to_core(ErrorClass::Rank, "rank", rank);
        let found = rank.and_then(|rank| Ok(self.grid().coordinates(rank)?.map(|at| at as usize).collect()));
        self.0.door.placed(Function::CartCoords, found)
    }

    /// Which rank is there. Coordinates of dimensions that go around do, too. See [`Cartesian`].
    ///
    /// # Errors
    /// `Arg` if there is not one coordinate for each dimension, or one is outside.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(4, |world| {
    /// let grid = world.cartesian(&[2, 2], &[true, false])?.expect("every rank has a place");
    /// assert_eq!(grid.rank_at(&[1, 0])?, 2);
    /// assert_eq!(grid.rank_at(&[-1, 0])?, 2, "the first dimension goes around");
    /// assert!(grid.rank_at(&[0, -1]).is_err());
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rank_at(&self, coordinates: &[i32]) -> Result<usize> {
        let (given, dims) = (coordinates.len(), self.grid().axes().len());
        let found = match given == dims {
            true => self.grid().rank(coordinates),
            false => {
                let text = format!("there are {given} coordinates, in a grid of {dims} dimensions");
                Err(Error::new(ErrorClass::Arg, text))
            }
        };
        self.0.door.placed(Function::CartRank, found).map(|rank| rank as usize)
    }

    /// From whom this rank receives and to whom it sends when everybody's data go so many places along a dimension:
    /// nobody beyond an edge. See [`Cartesian`].
    ///
    /// # Errors
    /// `Arg` if there is no such dimension.
    ///
    /// ```
    /// use oxmpi::{Dest, Source};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let line = world.cartesian(&[2], &[false])?.expect("every rank has a place");
    /// let expected = [(Source::Null, Dest::Rank(1)), (Source::Rank(0), Dest::Null)];
    /// assert_eq!(line.shift(0, 1)?, expected[line.rank()]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn shift(&self, dimension: usize, places: i32) -> Result<(Source, Dest)> {
        let found = to_core(ErrorClass::Arg, "dimension", dimension)
            .and_then(|dimension| self.grid().shift(self.0.comm.rank(), dimension, places));
        let [source, dest] = self.0.door.placed(Function::CartShift, found)?;
        let source = source.map_or(Source::Null, |rank| Source::Rank(rank as usize));
        Ok((source, dest.map_or(Dest::Null, |rank| Dest::Rank(rank as usize))))
    }

    /// The part of the grid that this rank is in, of those into which it falls when only those dimensions remain of
    /// which `remains` says so. Collective.
    ///
    /// # Errors
    /// `Dims` if there is not one `remains` for each dimension; `NoMem` if shared memory is used up.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(4, |world| {
    /// let grid = world.cartesian(&[2, 2], &[false, false])?.expect("every rank has a place");
    /// let row = grid.sub(&[false, true])?;
    /// let mut sum = grid.rank();
    /// row.allreduce_in_place(&mut sum, &oxmpi::Op::SUM)?;
    /// assert_eq!(sum, [1, 5][grid.coordinates(grid.rank())?[0]]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn sub(&self, remains: &[bool]) -> Result<Self> {
        let made = self.0.door.call(Function::CartSub, |process| {
            let dims = self.grid().axes().len();
            if remains.len() != dims {
                let text = format!("remains has {} elements, for {dims} dimensions", remains.len());
                return Err(Error::new(ErrorClass::Dims, text));
            }
            process.cart_sub(&self.0.comm, remains)
        })?;
        Ok(Self(self.0.beside(made)))
    }

    /// A communicator with the same grid and a context of its own. Collective.
    ///
    /// # Errors
    /// As [`Communicator::duplicate`].
    #[doc = on!(
        (line) "let library = line.duplicate()?;\n",
        "assert_eq!(library.shift(0, 1)?, line.shift(0, 1)?);"
    )]
    pub fn duplicate(&self) -> Result<Self> {
        self.0.duplicate().map(Self)
    }

    /// As [`Cartesian::duplicate`], with hints. See [`Communicator::duplicate_with_info`].
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (line) "use oxmpi::{Info, Key};\n\n",
        "let exact = line.duplicate_with_info(&Info::new().with(Key::EXACT_LENGTH, true))?;\n",
        "assert_eq!((exact.dims(), exact.info().get(Key::EXACT_LENGTH)?), (vec![2], Some(true)));"
    )]
    pub fn duplicate_with_info(&self, hints: &Info) -> Result<Self> {
        self.0.duplicate_with_info(hints).map(Self)
    }

    /// That of a communicator with a grid.
    pub(crate) fn of(comm: Communicator<'env, L>) -> Self {
        Self(comm)
    }

    fn grid(&self) -> &core::Cartesian {
        self.0.comm.cartesian().expect("it was made with a grid")
    }
}

impl<'env, L: ThreadLevel> Graph<'env, L> {
    /// From whom edges lead here, in the order of the blocks that are received. See [`Graph`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let graph = world.dist_graph([(world.rank(), 0)])?; // all lead to rank 0
    /// assert_eq!(graph.sources().len(), [2, 0][graph.rank()]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn sources(&self) -> Vec<usize> {
        self.graph().incoming.ranks.iter().map(|&rank| rank as usize).collect()
    }

    /// To whom edges lead, in the order of the blocks that are sent. See [`Graph`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let graph = world.dist_graph([(world.rank(), 0)])?; // all lead to rank 0
    /// assert_eq!(graph.destinations(), [0]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn destinations(&self) -> Vec<usize> {
        self.graph().outgoing.ranks.iter().map(|&rank| rank as usize).collect()
    }

    /// A communicator with the same edges and a context of its own. Collective.
    ///
    /// # Errors
    /// As [`Communicator::duplicate`].
    #[doc = on!(
        () "let pair = world.dist_graph_adjacent([1 - rank], [1 - rank])?;\n",
        "let library = pair.duplicate()?;\n",
        "assert_eq!((library.sources(), library.destinations()), (vec![1 - rank], vec![1 - rank]));"
    )]
    pub fn duplicate(&self) -> Result<Self> {
        self.0.duplicate().map(Self)
    }

    /// As [`Graph::duplicate`], with hints. See [`Communicator::duplicate_with_info`].
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        () "use oxmpi::{Info, Key};\n\n",
        "let pair = world.dist_graph_adjacent([1 - rank], [1 - rank])?;\n",
        "let exact = pair.duplicate_with_info(&Info::new().with(Key::EXACT_LENGTH, true))?;\n",
        "assert_eq!((exact.sources(), exact.info().get(Key::EXACT_LENGTH)?), (vec![1 - rank], Some(true)));"
    )]
    pub fn duplicate_with_info(&self, hints: &Info) -> Result<Self> {
        self.0.duplicate_with_info(hints).map(Self)
    }

    /// That of a communicator with a graph.
    pub(crate) fn of(comm: Communicator<'env, L>) -> Self {
        Self(comm)
    }

    fn graph(&self) -> &DistGraph {
        self.0.comm.dist_graph().expect("it was made with a graph")
    }
}

impl<'env, L: ThreadLevel> Deref for Cartesian<'env, L> {
    type Target = Communicator<'env, L>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'env, L: ThreadLevel> Deref for Graph<'env, L> {
    type Target = Communicator<'env, L>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// That of a communicator which has a grid, though its type does not say so: one of C code, or a duplicate of what a
/// [`Cartesian`] refers to. The others are dropped, with an error of class `Topology`.
///
/// ```
/// use oxmpi::{Cartesian, Communicator};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// fn of_a_library<'env>(comm: &Communicator<'env>) -> oxmpi::Result<Communicator<'env>> {
///     comm.duplicate()
/// }
///
/// let line = world.cartesian(&[2], &[false])?.expect("every rank has a place");
/// let grid = Cartesian::try_from(of_a_library(&line)?)?;
/// assert_eq!(grid.dims(), [2]);
/// assert!(Cartesian::try_from(of_a_library(&world)?).is_err());
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
impl<'env, L: ThreadLevel> TryFrom<Communicator<'env, L>> for Cartesian<'env, L> {
    type Error = Error;

    fn try_from(comm: Communicator<'env, L>) -> Result<Self> {
        comm.door.placed(Function::TopoTest, comm.comm.cartesian().map(drop))?;
        Ok(Self(comm))
    }
}

/// That of a communicator which has a distributed graph, though its type does not say so. The others are dropped, with
/// an error of class `Topology`.
///
/// ```
/// use oxmpi::Graph;
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let ring = world.dist_graph_adjacent([1 - world.rank()], [1 - world.rank()])?;
/// let comm = oxmpi::Communicator::duplicate(&ring)?;
/// assert_eq!(Graph::try_from(comm)?.sources(), [1 - world.rank()]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
impl<'env, L: ThreadLevel> TryFrom<Communicator<'env, L>> for Graph<'env, L> {
    type Error = Error;

    fn try_from(comm: Communicator<'env, L>) -> Result<Self> {
        comm.door.placed(Function::TopoTest, comm.comm.dist_graph().map(drop))?;
        Ok(Self(comm))
    }
}

fn ranks_to_core(ranks: impl IntoIterator<Item = usize>) -> Result<Vec<i32>> {
    ranks.into_iter().map(|rank| rank_to_core(ErrorClass::Rank, "rank", rank)).collect()
}

fn dims_to_core(dims: &[usize]) -> Result<Vec<i32>> {
    dims.iter().map(|&dim| to_core(ErrorClass::Dims, "dimension", dim)).collect()
}

/// A number as core counts it.
fn to_core(class: ErrorClass, argument: &str, number: usize) -> Result<i32> {
    i32::try_from(number).map_err(|_| {
        let text = format!("the {argument}, {number}, is larger than any that a communicator can have");
        Error::new(class, text)
    })
}
