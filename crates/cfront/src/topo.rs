//! Process topologies.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes.

mod cartesian;
mod dist_graph;
mod graph;

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::Topology;

use crate::failure::on_comm;
use crate::generated::constants::{MPI_CART, MPI_DIST_GRAPH, MPI_GRAPH, MPI_UNDEFINED};
use crate::generated::types::MPI_Comm;
use crate::pointer::{Array, Out};

pub use cartesian::{
    cart_coords, cart_create, cart_get, cart_map, cart_rank, cart_shift, cart_sub, cartdim_get, dims_create,
};
pub use dist_graph::{
    dist_graph_create, dist_graph_create_adjacent, dist_graph_neighbors, dist_graph_neighbors_count,
};
pub use graph::{graph_create, graph_get, graph_map, graph_neighbors, graph_neighbors_count, graphdims_get};

/// `MPI_Topo_test`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn topo_test(function: Function, comm: MPI_Comm, status: *mut c_int) -> c_int {
    on_comm(function, comm, |_, comm| {
        let kind = match comm.core.topology() {
            None => MPI_UNDEFINED,
            Some(Topology::Cartesian(_)) => MPI_CART,
            Some(Topology::DistGraph(_)) => MPI_DIST_GRAPH,
            Some(Topology::Graph(_)) => MPI_GRAPH,
        };
        // SAFETY: the caller's promise.
        unsafe { Out::new("status", status) }?.set(kind);
        Ok(())
    })
}

/// The result array of this name, with room for `room` items, as C calls that.
///
/// # Errors
/// `Arg` if there is less room than `needed`, or the array is null but should have items.
///
/// # Safety
/// Until the last use, an array that is not null is valid for writes of so many items.
unsafe fn result(
    argument: &str,
    base: *mut c_int,
    room: (&str, c_int),
    needed: usize,
) -> Result<Array<c_int>> {
    // SAFETY: the caller's promise.
    let array = unsafe { Array::counted(argument, base, room) }?;
    if array.len() < needed {
        let text = format!("{} is {}, but {argument} gets {needed} items", room.0, room.1);
        return Err(Error::new(ErrorClass::Arg, text));
    }
    Ok(array)
}

/// Fills the beginning of an array.
fn fill(array: Array<c_int>, values: impl IntoIterator<Item = c_int>) {
    for (index, value) in values.into_iter().enumerate() {
        array.set(index, value);
    }
}
