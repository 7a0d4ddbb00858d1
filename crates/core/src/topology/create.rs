//! New communicators with a topology. All functions are collective over the old communicator.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes, Topology Constructors.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};

use super::dist_graph::End;
use super::{Cartesian, DistGraph, Edge, Graph, Topology};
use crate::coll::{Record, deliver, exchange};
use crate::comm::Communicator;
use crate::process::Process;

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
        comm.only_group()?;
        let (places, ranks) = (grid.size(), comm.size());
        if places > ranks {
            let text = format!("the grid has {places} places, but the communicator has {ranks} ranks");
            return Err(Error::new(ErrorClass::Dims, text));
        }
        self.first_ranks(comm, places, Topology::Cartesian(grid))
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
        comm.only_group()?;
        let (nodes, ranks) = (graph.size(), comm.size());
        if nodes > ranks {
            let text = format!("the graph has {nodes} nodes, but the communicator has {ranks} ranks");
            return Err(Error::new(ErrorClass::Arg, text));
        }
        self.first_ranks(comm, nodes, Topology::Graph(graph))
    }

    /// A communicator with the same ranks and a graph of which each rank gives its own edges. The arguments of
    /// ranks differ, so an error that one has found in its own is the result on all.
    ///
    /// # Errors
    /// `Comm` for an intercommunicator; `Arg` if some ranks give weights, and others none; those of
    /// [`Process::comm_split`].
    pub fn dist_graph_create_adjacent(
        &self,
        comm: &Arc<Communicator>,
        mine: Result<DistGraph>,
    ) -> Result<Arc<Communicator>> {
        comm.only_group()?;
        let graph = self.agree(comm, mine, |graph| graph.weighted)?;
        self.all_ranks(comm, graph)
    }

    /// As [`Process::dist_graph_create_adjacent`], but each rank gives any edges, and whether they have weights.
    /// Each process has its edges in the order of the ranks that gave them, and then as they were given.
    ///
    /// # Errors
    /// As [`Process::dist_graph_create_adjacent`]; `Rank` if an edge names a stranger; `Arg` if a weight is
    /// negative.
    pub fn dist_graph_create(
        &self,
        comm: &Arc<Communicator>,
        mine: Result<(Vec<Edge>, bool)>,
    ) -> Result<Arc<Communicator>> {
        comm.only_group()?;
        let mine = mine.and_then(|(edges, weighted)| {
            let ends = edges.iter().map(|edge| edge.ends(comm.size())).collect::<Result<Vec<_>>>()?;
            Ok((ends.concat(), weighted))
        });
        let (ends, weighted) = self.agree(comm, mine, |&(_, weighted)| weighted)?;
        let ends: Vec<End> = deliver(self, comm, ends)?;
        self.all_ranks(comm, DistGraph::of(ends, weighted))
    }

    fn first_ranks(
        &self,
        comm: &Arc<Communicator>,
        count: u32,
        topology: Topology,
    ) -> Result<Option<Arc<Communicator>>> {
        let made = self.comm_split(comm, (comm.rank() < count).then_some(0), 0)?;
        Ok(made.inspect(|made| made.attach_topology(Arc::new(topology))))
    }

    fn all_ranks(&self, comm: &Arc<Communicator>, graph: DistGraph) -> Result<Arc<Communicator>> {
        let made = self.first_ranks(comm, comm.size(), Topology::DistGraph(graph))?;
        Ok(made.expect("every rank is among all"))
    }

    /// What this rank gives to a graph, if what every rank gives is right.
    fn agree<T>(
        &self,
        comm: &Arc<Communicator>,
        mine: Result<T>,
        is_weighted: impl Fn(&T) -> bool,
    ) -> Result<T> {
        let verdict = match &mine {
            Ok(given) => Verdict { code: 0, weighted: is_weighted(given) },
            Err(error) => Verdict { code: error.class().code(), weighted: false },
        };
        let verdicts = exchange(self, comm, &verdict)?;
        let mine = mine?;
        verdict.check(&verdicts)?;
        Ok(mine)
    }
}

/// What a rank tells the others about what it gives to a graph.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    /// That of its error; 0 if there is none.
    code: i32,
    weighted: bool,
}

impl Verdict {
    /// Compares that of a rank without an error with those of all.
    fn check(self, all: &[Self]) -> Result<()> {
        for (rank, other) in all.iter().enumerate() {
            if let Some(class) = ErrorClass::from_code(other.code).filter(|_| other.code != 0) {
                return Err(Error::new(class, format!("what rank {rank} gives to the graph is wrong")));
            }
            if other.weighted != self.weighted {
                let text =
                    format!("MPI_UNWEIGHTED is given by some ranks only; rank {rank} differs from this one");
                return Err(Error::new(ErrorClass::Arg, text));
            }
        }
        Ok(())
    }
}

impl Record for Verdict {
    const BYTES: usize = 5;

    fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.code.to_ne_bytes());
        into.push(u8::from(self.weighted));
    }

    fn read(from: &[u8]) -> Self {
        let code = i32::from_ne_bytes(from[..4].try_into().expect("4 bytes"));
        Self { code, weighted: from[4] != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rank_that_is_wrong_or_differs_is_an_error_of_all() {
        let right = Verdict { code: 0, weighted: true };
        right.check(&[right; 3]).expect("all agree");
        let wrong = Verdict { code: ErrorClass::Rank.code(), weighted: false };
        assert_eq!(right.check(&[right, wrong]).expect_err("one is wrong").class(), ErrorClass::Rank);
        let other = Verdict { code: 0, weighted: false };
        assert_eq!(right.check(&[right, other]).expect_err("one differs").class(), ErrorClass::Arg);
    }
}
