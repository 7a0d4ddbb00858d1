//! Graph topologies.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes, Graph Constructor; Topology Inquiry Functions.

use std::ffi::c_int;

use oxmpi_base::{Function, Result};
use oxmpi_core::{Communicator, Graph};

use crate::argument::{ArrayIn, ArrayOut, Out, Unmeasured};
use crate::generated::constants::MPI_UNDEFINED;
use crate::generated::types::MPI_Comm;
use crate::object::comm::reserved::adopt_any;
use crate::object::comm::{on_comm, on_comm_called};

/// The graph that the arguments describe, of which the first is called `argument`. Nothing is read of one that has
/// more nodes than there are ranks.
fn graph(
    (argument, comm): (&str, &Communicator),
    nnodes: c_int,
    indx: ArrayIn<c_int>,
    edges: Unmeasured<c_int>,
) -> Result<Graph> {
    comm.check_nodes(argument, u32::try_from(nnodes).unwrap_or(0))?;
    let index = indx.counted("indx", "nnodes")?;
    let index: Vec<c_int> = index.iter().collect();
    let edge_count = index.last().copied().unwrap_or(0);
    // SAFETY: the standard: the last of the indices is the number of edges.
    let edges = unsafe { edges.of_len(edge_count) }.counted("edges", "the last of indx")?;
    Graph::new(&index, &edges.iter().collect::<Vec<_>>())
}

/// `MPI_Graph_create`; the ranks stay as they are.
pub fn graph_create(
    function: Function,
    comm_old: MPI_Comm,
    nnodes: c_int,
    indx: ArrayIn<c_int>,
    edges: Unmeasured<c_int>,
    _reorder: c_int,
    comm_graph: Out<MPI_Comm>,
) -> c_int {
    on_comm_called("comm_old", function, comm_old, |process, comm| {
        let graph = graph(("comm_old", &comm.core), nnodes, indx, edges)?;
        let out = comm_graph.named("comm_graph")?;
        out.set(adopt_any(process.graph_create(&comm.core, graph)?, comm));
        Ok(())
    })
}

/// `MPI_Graph_map`: the rank that `MPI_Graph_create` would give.
pub fn graph_map(
    function: Function,
    comm: MPI_Comm,
    nnodes: c_int,
    indx: ArrayIn<c_int>,
    edges: Unmeasured<c_int>,
    newrank: Out<c_int>,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let graph = graph(("comm", &comm.core), nnodes, indx, edges)?;
        let node = comm.core.graph_map(&graph)?.map_or(MPI_UNDEFINED, u32::cast_signed);
        newrank.named("newrank")?.set(node);
        Ok(())
    })
}

/// `MPI_Graphdims_get`.
pub fn graphdims_get(function: Function, comm: MPI_Comm, nnodes: Out<c_int>, nedges: Out<c_int>) -> c_int {
    on_comm(function, comm, |_, comm| {
        let graph = comm.core.graph()?;
        let nodes = nnodes.named("nnodes")?;
        nedges.named("nedges")?.set(graph.edges().len() as c_int);
        nodes.set(graph.size().cast_signed());
        Ok(())
    })
}

/// `MPI_Graph_get`.
pub fn graph_get(
    function: Function,
    comm: MPI_Comm,
    _maxindex: c_int,
    _maxedges: c_int,
    indx: ArrayOut<c_int>,
    edges: ArrayOut<c_int>,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let graph = comm.core.graph()?;
        let index = indx.with_room("indx", "maxindex", graph.index().len())?;
        let edges = edges.with_room("edges", "maxedges", graph.edges().len())?;
        index.fill(graph.index().iter().copied());
        edges.fill(graph.edges().iter().copied());
        Ok(())
    })
}

/// `MPI_Graph_neighbors_count`.
pub fn graph_neighbors_count(
    function: Function,
    comm: MPI_Comm,
    rank: c_int,
    nneighbors: Out<c_int>,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let neighbors = comm.core.graph()?.neighbors(rank)?;
        nneighbors.named("nneighbors")?.set(neighbors.len() as c_int);
        Ok(())
    })
}

/// `MPI_Graph_neighbors`.
pub fn graph_neighbors(
    function: Function,
    comm: MPI_Comm,
    rank: c_int,
    _maxneighbors: c_int,
    neighbors: ArrayOut<c_int>,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let found = comm.core.graph()?.neighbors(rank)?;
        let neighbors = neighbors.with_room("neighbors", "maxneighbors", found.len())?;
        neighbors.fill(found.iter().copied());
        Ok(())
    })
}
