//! Process topologies: which members of a communicator are neighbours.
//!
//! Each kind is plain data with the questions that can be asked of it; `create` makes communicators that have
//! one. Ranks are never reordered (docs/decisions/13-topologies-keep-ranks.md).
//!
//! MPI-5.0: Virtual Topologies for MPI Processes.

mod cartesian;
mod create;
mod dims;
mod dist_graph;
mod graph;

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};

use crate::comm::Communicator;

pub use cartesian::{Axis, Cartesian, Subgrid};
pub use dims::balanced_dims;
pub use dist_graph::{DistGraph, Edge, Edges};
pub use graph::Graph;

/// Which members of a communicator are neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// Those next to each other in a grid.
    Cartesian(Cartesian),
    /// Those that this process knows of.
    DistGraph(DistGraph),
    /// Those that all processes know of.
    Graph(Graph),
}

impl Communicator {
    /// The topology, if there is one.
    pub fn topology(&self) -> Option<&Topology> {
        self.topology.get().map(Arc::as_ref)
    }

    /// The grid.
    ///
    /// # Errors
    /// `Topology` if there is none.
    pub fn cartesian(&self) -> Result<&Cartesian> {
        match self.topology() {
            Some(Topology::Cartesian(grid)) => Ok(grid),
            other => Err(unlike("a Cartesian", other)),
        }
    }

    /// The distributed graph.
    ///
    /// # Errors
    /// `Topology` if there is none.
    pub fn dist_graph(&self) -> Result<&DistGraph> {
        match self.topology() {
            Some(Topology::DistGraph(graph)) => Ok(graph),
            other => Err(unlike("a distributed graph", other)),
        }
    }

    /// The graph.
    ///
    /// # Errors
    /// `Topology` if there is none.
    pub fn graph(&self) -> Result<&Graph> {
        match self.topology() {
            Some(Topology::Graph(graph)) => Ok(graph),
            other => Err(unlike("a graph", other)),
        }
    }

    /// Gives a new communicator the topology of the one that it duplicates.
    pub(crate) fn inherit_topology(&self, from: &Self) {
        if let Some(topology) = from.topology.get() {
            self.attach_topology(Arc::clone(topology));
        }
    }

    /// Gives a new communicator its topology.
    pub(crate) fn attach_topology(&self, topology: Arc<Topology>) {
        self.topology.set(topology).expect("a new communicator has no topology yet");
    }
}

#[cold]
fn unlike(wanted: &str, found: Option<&Topology>) -> Error {
    let found = match found {
        None => "none",
        Some(Topology::Cartesian(_)) => "a Cartesian one",
        Some(Topology::DistGraph(_)) => "a distributed graph",
        Some(Topology::Graph(_)) => "a graph",
    };
    Error::new(ErrorClass::Topology, format!("comm should have {wanted} topology, but has {found}"))
}
