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
