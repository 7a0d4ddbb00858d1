//! Process topologies.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes.

mod cartesian;
mod dist_graph;
mod graph;

use std::ffi::c_int;

use oxmpi_base::Function;
use oxmpi_core::Topology;

use crate::argument::Out;
use crate::generated::constants::{MPI_CART, MPI_DIST_GRAPH, MPI_GRAPH, MPI_UNDEFINED};
use crate::generated::types::MPI_Comm;
use crate::object::comm::on_comm;

pub use cartesian::{
    cart_coords, cart_create, cart_get, cart_map, cart_rank, cart_shift, cart_sub, cartdim_get, dims_create,
};
pub use dist_graph::{
    Weights, dist_graph_create, dist_graph_create_adjacent, dist_graph_neighbors, dist_graph_neighbors_count,
};
pub use graph::{graph_create, graph_get, graph_map, graph_neighbors, graph_neighbors_count, graphdims_get};

/// `MPI_Topo_test`.
pub fn topo_test(function: Function, comm: MPI_Comm, status: Out<c_int>) -> c_int {
    on_comm(function, comm, |_, comm| {
        let kind = match comm.core.topology() {
            None => MPI_UNDEFINED,
            Some(Topology::Cartesian(_)) => MPI_CART,
            Some(Topology::DistGraph(_)) => MPI_DIST_GRAPH,
            Some(Topology::Graph(_)) => MPI_GRAPH,
        };
        status.named("status")?.set(kind);
        Ok(())
    })
}
