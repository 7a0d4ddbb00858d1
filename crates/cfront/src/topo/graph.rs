//! Graph topologies.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes, Graph Constructor; Topology Inquiry Functions.

use std::ffi::c_int;

use oxmpi_base::{Function, Result};
use oxmpi_core::{Communicator, Graph};

use crate::generated::constants::MPI_UNDEFINED;
use crate::generated::types::MPI_Comm;
use crate::object::comm::reserved::adopt_any;
use crate::object::comm::{on_comm, on_comm_called};
use crate::pointer::{Array, Out};

/// The graph that the arguments describe, of which the first is called `argument`. Nothing is read of one that has
/// more nodes than there are ranks.
///
/// # Safety
/// Arrays that are not null are valid for reads: `indx` of `nnodes` items, `edges` of as many as the last of these
/// says.
unsafe fn graph(
    (argument, comm): (&str, &Communicator),
    nnodes: c_int,
    indx: *const c_int,
    edges: *const c_int,
) -> Result<Graph> {
    comm.check_nodes(argument, u32::try_from(nnodes).unwrap_or(0))?;
    // SAFETY: the caller's promise.
    let index = unsafe { Array::counted("indx", indx.cast_mut(), ("nnodes", nnodes)) }?;
    let index: Vec<c_int> = index.iter().collect();
    let edge_count = index.last().copied().unwrap_or(0);
    // SAFETY: the caller's promise.
    let edges = unsafe { Array::counted("edges", edges.cast_mut(), ("the last of indx", edge_count)) }?;
    Graph::new(&index, &edges.iter().collect::<Vec<_>>())
}

/// `MPI_Graph_create`; the ranks stay as they are.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn graph_create(
    function: Function,
    comm_old: MPI_Comm,
    nnodes: c_int,
    indx: *const c_int,
    edges: *const c_int,
    _reorder: c_int,
    comm_graph: *mut MPI_Comm,
) -> c_int {
    on_comm_called("comm_old", function, comm_old, |process, comm| {
        // SAFETY: the caller's promise.
        let graph = unsafe { graph(("comm_old", &comm.core), nnodes, indx, edges) }?;
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("comm_graph", comm_graph) }?;
        out.set(adopt_any(process.graph_create(&comm.core, graph)?, comm));
        Ok(())
    })
}

/// `MPI_Graph_map`: the rank that `MPI_Graph_create` would give.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn graph_map(
    function: Function,
    comm: MPI_Comm,
    nnodes: c_int,
    indx: *const c_int,
    edges: *const c_int,
    newrank: *mut c_int,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        // SAFETY: the caller's promise.
        let graph = unsafe { graph(("comm", &comm.core), nnodes, indx, edges) }?;
        let node = comm.core.graph_map(&graph)?.map_or(MPI_UNDEFINED, u32::cast_signed);
        // SAFETY: the caller's promise.
        unsafe { Out::new("newrank", newrank) }?.set(node);
        Ok(())
    })
}

/// `MPI_Graphdims_get`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn graphdims_get(
    function: Function,
    comm: MPI_Comm,
    nnodes: *mut c_int,
    nedges: *mut c_int,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let graph = comm.core.graph()?;
        // SAFETY: the caller's promise.
        let nodes = unsafe { Out::new("nnodes", nnodes) }?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("nedges", nedges) }?.set(graph.edges().len() as c_int);
        nodes.set(graph.size().cast_signed());
        Ok(())
    })
}

/// `MPI_Graph_get`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn graph_get(
    function: Function,
    comm: MPI_Comm,
    maxindex: c_int,
    maxedges: c_int,
    indx: *mut c_int,
    edges: *mut c_int,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let graph = comm.core.graph()?;
        // SAFETY: the caller's promise.
        let index = unsafe { Array::with_room("indx", indx, ("maxindex", maxindex), graph.index().len()) }?;
        // SAFETY: the caller's promise.
        let edges = unsafe { Array::with_room("edges", edges, ("maxedges", maxedges), graph.edges().len()) }?;
        index.fill(graph.index().iter().copied());
        edges.fill(graph.edges().iter().copied());
        Ok(())
    })
}

/// `MPI_Graph_neighbors_count`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn graph_neighbors_count(
    function: Function,
    comm: MPI_Comm,
    rank: c_int,
    nneighbors: *mut c_int,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let neighbors = comm.core.graph()?.neighbors(rank)?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("nneighbors", nneighbors) }?.set(neighbors.len() as c_int);
        Ok(())
    })
}

/// `MPI_Graph_neighbors`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn graph_neighbors(
    function: Function,
    comm: MPI_Comm,
    rank: c_int,
    maxneighbors: c_int,
    neighbors: *mut c_int,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let found = comm.core.graph()?.neighbors(rank)?;
        // SAFETY: the caller's promise.
        let neighbors =
            unsafe { Array::with_room("neighbors", neighbors, ("maxneighbors", maxneighbors), found.len()) }?;
        neighbors.fill(found.iter().copied());
        Ok(())
    })
}
