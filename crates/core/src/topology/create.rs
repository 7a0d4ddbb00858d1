//! New communicators with a topology. All functions are collective over the old communicator.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes, Topology Constructors.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};

use super::dist_graph::End;
use super::{Cartesian, DistGraph, Edge, Graph, Topology};
use crate::coll::deliver::deliver;
use crate::coll::exchange::exchange;
use crate::comm::Communicator;
use crate::process::Process;
use crate::record::Record;

impl Process {
    /// A communicator whose ranks are the places of `grid`; none for ranks that are left over.
    ///
    /// # Errors
    /// `Comm` for an intercommunicator; `Dims` if the grid has more places than `comm` has ranks; those of
    /// [`Process::comm_split`].
    pub fn cart_create(
        &self,
        comm: &Arc<Communicator>,
        grid: Cartesian,
    ) -> Result<Option<Arc<Communicator>>> {
        comm.check_intra("comm_old")?;
        let place = comm.place(&grid)?;
        self.mapped(comm, place, Topology::Cartesian(grid))
    }

    /// A communicator of the subgrid of this rank when only those dimensions remain for which `remains` is set.
    ///
    /// # Errors
    /// `Topology` if `comm` has no grid; those of [`Process::comm_split`].
    pub fn cart_sub(&self, comm: &Arc<Communicator>, remains: &[bool]) -> Result<Arc<Communicator>> {
        let part = comm.cartesian()?.subgrid(remains, comm.rank());
        let (color, key) = (part.index.cast_signed(), part.rank.cast_signed());
        let made = self.comm_split(comm, Some(color), key)?.expect("whoever names a color becomes a member");
        made.attach_topology(Arc::new(Topology::Cartesian(part.grid)));
        Ok(made)
    }

    /// A communicator whose ranks are the nodes of `graph`; none for ranks that are left over.
    ///
    /// # Errors
    /// `Comm` for an intercommunicator; `Arg` if the graph has more nodes than `comm` has ranks; those of
    /// [`Process::comm_split`].
    pub fn graph_create(&self, comm: &Arc<Communicator>, graph: Graph) -> Result<Option<Arc<Communicator>>> {
        comm.check_nodes("comm_old", graph.size())?;
        let node = comm.node(&graph);
        self.mapped(comm, node, Topology::Graph(graph))
    }

    /// A communicator with the same ranks and a graph of which each rank gives its own edges. The arguments of
    /// ranks differ, so an error that one has found in its own is the result on all.
    ///
    /// # Errors
    /// `Comm` for an intercommunicator; `Arg` if some ranks give weights, and others edges without; those of
    /// [`Process::comm_split`].
    pub fn dist_graph_create_adjacent(
        &self,
        comm: &Arc<Communicator>,
        mine: Result<DistGraph>,
    ) -> Result<Arc<Communicator>> {
        comm.check_intra("comm_old")?;
        let weights = |graph: &DistGraph| Weights::of(graph.weighted, graph.has_edges());
        let (graph, weighted) = self.agree(comm, mine, weights)?;
        self.all_ranks(comm, DistGraph { weighted, ..graph })
    }

    /// As [`Process::dist_graph_create_adjacent`], but each rank gives any edges, and whether they have weights.
    /// Each process has its edges in the order of the ranks that gave them, and then as they were given.
    ///
    /// # Errors
    /// As [`Process::dist_graph_create_adjacent`]; `Rank` if an edge names a stranger.
    pub fn dist_graph_create(
        &self,
        comm: &Arc<Communicator>,
        mine: Result<(Vec<Edge>, bool)>,
    ) -> Result<Arc<Communicator>> {
        comm.check_intra("comm_old")?;
        let mine = mine.and_then(|(edges, weighted)| {
            let ends = edges.iter().map(|edge| edge.ends(comm.size())).collect::<Result<Vec<_>>>()?;
            Ok((ends.concat(), weighted))
        });
        let weights = |(ends, weighted): &(Vec<_>, bool)| Weights::of(*weighted, !ends.is_empty());
        let ((ends, _), weighted) = self.agree(comm, mine, weights)?;
        let ends: Vec<End> = deliver(self, comm, ends)?;
        self.all_ranks(comm, DistGraph::of(ends, weighted))
    }

    /// A communicator of the ranks that have a rank in the new one.
    fn mapped(
        &self,
        comm: &Arc<Communicator>,
        rank: Option<u32>,
        topology: Topology,
    ) -> Result<Option<Arc<Communicator>>> {
        let made = self.comm_split(comm, rank.map(|_| 0), rank.map_or(0, u32::cast_signed))?;
        Ok(made.inspect(|made| made.attach_topology(Arc::new(topology))))
    }

    fn all_ranks(&self, comm: &Arc<Communicator>, graph: DistGraph) -> Result<Arc<Communicator>> {
        let made = self.mapped(comm, Some(comm.rank()), Topology::DistGraph(graph))?;
        Ok(made.expect("every rank has a rank"))
    }

    /// What this rank gives to a graph, if what every rank gives is right; and whether the graph has weights.
    fn agree<T>(
        &self,
        comm: &Arc<Communicator>,
        mine: Result<T>,
        weights: impl Fn(&T) -> Weights,
    ) -> Result<(T, bool)> {
        let verdict = match &mine {
            Ok(given) => Verdict { code: 0, weights: weights(given) },
            Err(error) => Verdict { code: error.class().code(), weights: Weights::None },
        };
        let verdicts = exchange(self, comm, &verdict)?;
        Ok((mine?, agreed(&verdicts.local)?))
    }
}

impl Communicator {
    /// This process's rank in a communicator for `grid`; `None` if it is left over.
    ///
    /// # Errors
    /// `Comm` for an intercommunicator; `Dims` if the grid has more places than this communicator has ranks.
    pub fn cart_map(&self, grid: &Cartesian) -> Result<Option<u32>> {
        self.check_intra("comm")?;
        self.place(grid)
    }

    fn place(&self, grid: &Cartesian) -> Result<Option<u32>> {
        let (places, ranks) = (grid.size(), self.size());
        if places > ranks {
            let text = format!("dims: the grid has {places} places, but the communicator {ranks} ranks");
            return Err(Error::new(ErrorClass::Dims, text));
        }
        Ok(Some(self.rank()).filter(|&rank| rank < places))
    }

    /// This process's rank in a communicator for `graph`; `None` if it is left over.
    ///
    /// # Errors
    /// As [`Communicator::check_nodes`].
    pub fn graph_map(&self, graph: &Graph) -> Result<Option<u32>> {
        self.check_nodes("comm", graph.size())?;
        Ok(self.node(graph))
    }

    fn node(&self, graph: &Graph) -> Option<u32> {
        Some(self.rank()).filter(|&rank| rank < graph.size())
    }

    /// Checks whether each of so many nodes of a graph can be a rank of this communicator, which was passed as
    /// `argument`.
    ///
    /// # Errors
    /// `Comm` for an intercommunicator; `Arg` if there are more nodes than ranks.
    pub fn check_nodes(&self, argument: &str, nodes: u32) -> Result<()> {
        self.check_intra(argument)?;
        let ranks = self.size();
        if nodes > ranks {
            let text = format!("nnodes is {nodes}, but the communicator has {ranks} ranks");
            return Err(Error::new(ErrorClass::Arg, text));
        }
        Ok(())
    }
}

/// What a rank tells the others about what it gives to a graph.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    /// That of its error; 0 if there is none.
    code: i32,
    weights: Weights,
}

/// Whether edges have weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Weights {
    /// There are no edges, but there is an array for their weights.
    Empty,
    Given,
    /// There are edges without.
    Missing,
    /// There are no edges.
    None,
}

impl Weights {
    fn of(given: bool, has_edges: bool) -> Self {
        match (given, has_edges) {
            (true, true) => Self::Given,
            (true, false) => Self::Empty,
            (false, true) => Self::Missing,
            (false, false) => Self::None,
        }
    }
}

/// Whether a graph has weights, of which each rank tells this. Arrays without items decide only where nobody has
/// edges: any address will do for them, and who has none to give may not know that it is to be `MPI_UNWEIGHTED`.
fn agreed(verdicts: &[Verdict]) -> Result<bool> {
    let of_weights = |weights| verdicts.iter().position(|verdict| verdict.weights == weights);
    if let Some(rank) = verdicts.iter().position(|verdict| verdict.code != 0) {
        let class = ErrorClass::from_code(verdicts[rank].code).unwrap_or(ErrorClass::Other);
        return Err(Error::new(class, format!("what rank {rank} gives to the graph is wrong")));
    }
    match (of_weights(Weights::Given), of_weights(Weights::Missing)) {
        (Some(one), Some(other)) => {
            let text = format!("rank {one} gives weights, and rank {other} gives MPI_UNWEIGHTED");
            Err(Error::new(ErrorClass::Arg, text))
        }
        (given, missing) => Ok(given.is_some() || missing.is_none() && of_weights(Weights::Empty).is_some()),
    }
}

impl Record for Verdict {
    const BYTES: usize = 5;

    fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.code.to_ne_bytes());
        into.push(self.weights as u8);
    }

    fn read(from: &[u8]) -> Self {
        let code = i32::from_ne_bytes(from[..4].try_into().expect("4 bytes"));
        let mut all = [Weights::Empty, Weights::Given, Weights::Missing, Weights::None].into_iter();
        match all.find(|&weights| weights as u8 == from[4]) {
            Some(weights) => Self { code, weights },
            None => Self { code: ErrorClass::Comm.code(), weights: Weights::None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(verdicts: &[Verdict]) -> ErrorClass {
        agreed(verdicts).expect_err("they disagree").class()
    }

    #[test]
    fn one_rank_that_is_wrong_is_an_error_of_all() {
        let right = Verdict { code: 0, weights: Weights::Given };
        let wrong = Verdict { code: ErrorClass::Rank.code(), weights: Weights::None };
        assert_eq!(class(&[right, wrong]), ErrorClass::Rank);
    }

    #[test]
    fn ranks_without_edges_do_not_decide_whether_there_are_weights() {
        let all = [Weights::Empty, Weights::Given, Weights::Missing, Weights::None];
        let [empty, given, missing, none] = all.map(|weights| Verdict { code: 0, weights });
        assert!(agreed(&[empty, given]).expect("they agree"));
        assert!(agreed(&[empty, none]).expect("they agree"));
        assert!(!agreed(&[empty, missing]).expect("they agree"));
        assert!(agreed(&[none, given]).expect("they agree"));
        assert!(!agreed(&[none, missing]).expect("they agree"));
        assert!(!agreed(&[none]).expect("they agree"));
        assert_eq!(class(&[given, missing]), ErrorClass::Arg);
    }

    #[test]
    fn a_verdict_is_read_as_it_was_written() {
        for weights in [Weights::Empty, Weights::Given, Weights::Missing, Weights::None] {
            let mut bytes = Vec::new();
            Verdict { code: 7, weights }.write(&mut bytes);
            assert_eq!(bytes.len(), Verdict::BYTES);
            assert_eq!((Verdict::read(&bytes).code, Verdict::read(&bytes).weights), (7, weights));
        }
    }

    #[test]
    fn what_is_no_verdict_is_a_wrong_one() {
        assert_eq!(class(&[Verdict::read(&[0, 0, 0, 0, 77])]), ErrorClass::Comm);
    }
}
