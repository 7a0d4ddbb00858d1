//! Distributed graph topologies.
//!
//! What is wrong with the arguments of one rank is an error of all, so that none waits for it: arguments are read
//! into a `Result`, which core takes.
//! MPI-5.0: Virtual Topologies for MPI Processes, Distributed Graph Constructor; Topology Inquiry Functions.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{DistGraph, Edge, Edges};

use crate::generated::constants::{MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY};
use crate::generated::types::{MPI_Comm, MPI_Info};
use crate::object::comm::reserved::adopt;
use crate::object::comm::{on_comm, on_comm_called};
use crate::object::info;
use crate::pointer::{Array, Out};

/// An array of the weights of `count` edges; `None` is `MPI_UNWEIGHTED`.
///
/// # Errors
/// `Arg` if there should be weights, but none are given.
///
/// # Safety
/// An array is valid for `count` items, as for [`Array::new`].
unsafe fn array_of_weights(argument: &str, base: *const c_int, count: c_int) -> Result<Option<Array<c_int>>> {
    match base.cast_mut() {
        MPI_UNWEIGHTED => Ok(None),
        MPI_WEIGHTS_EMPTY if count != 0 => {
            let text = format!("{argument} is MPI_WEIGHTS_EMPTY, but there are {count} edges");
            Err(Error::new(ErrorClass::Arg, text))
        }
        // SAFETY: the caller's promise.
        base => unsafe { Array::new(argument, base, count) }.map(Some),
    }
}

/// The weights of `count` edges; `None` is `MPI_UNWEIGHTED`.
///
/// # Errors
/// `Arg` if there should be weights, but none are given, or one is negative.
///
/// # Safety
/// An array is valid for reads of `count` items.
unsafe fn weights(argument: &str, base: *const c_int, count: c_int) -> Result<Option<Vec<c_int>>> {
    // SAFETY: the caller's promise.
    let Some(weights) = unsafe { array_of_weights(argument, base, count) }? else { return Ok(None) };
    let weights: Vec<c_int> = weights.iter().collect();
    if let Some(index) = weights.iter().position(|&weight| weight < 0) {
        return Err(Error::new(ErrorClass::Arg, format!("{argument}[{index}] is {}", weights[index])));
    }
    Ok(Some(weights))
}

/// The edges in one direction of a rank of a communicator of `size`, and whether they have weights. The arguments
/// are called `names`, in the order that they have here.
///
/// # Safety
/// Arrays that are not null are valid for reads of `degree` items.
unsafe fn edges(
    names: [&str; 3],
    degree: c_int,
    ranks: *const c_int,
    of_edges: *const c_int,
    size: u32,
) -> Result<(Edges, bool)> {
    // SAFETY: the caller's promise.
    let ranks = unsafe { Array::counted(names[1], ranks.cast_mut(), (names[0], degree)) }?;
    let ranks: Vec<c_int> = ranks.iter().collect();
    // SAFETY: the caller's promise.
    let weights = unsafe { weights(names[2], of_edges, degree) }?;
    let edges = Edges::new(&ranks, weights.as_deref(), size).map_err(|error| error.about(names[1]))?;
    Ok((edges, weights.is_some()))
}

/// A rank's edges in both directions; they have weights or not. A direction without edges decides only where the
/// other has none either.
fn both((incoming, first): (Edges, bool), (outgoing, second): (Edges, bool)) -> Result<DistGraph> {
    let weighted = match (incoming.ranks.is_empty(), outgoing.ranks.is_empty()) {
        (true, true) => first || second,
        (true, false) => second,
        (false, true) => first,
        (false, false) if first == second => first,
        (false, false) => {
            let text = "one of sourceweights and destweights is MPI_UNWEIGHTED, the other is not";
            return Err(Error::new(ErrorClass::Arg, text));
        }
    };
    Ok(DistGraph { incoming, outgoing, weighted })
}

/// `MPI_Dist_graph_create_adjacent`; the ranks stay as they are, and no hint is known.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn dist_graph_create_adjacent(
    function: Function,
    comm_old: MPI_Comm,
    indegree: c_int,
    sources: *const c_int,
    sourceweights: *const c_int,
    outdegree: c_int,
    destinations: *const c_int,
    destweights: *const c_int,
    hints: MPI_Info,
    _reorder: c_int,
    comm_dist_graph: *mut MPI_Comm,
) -> c_int {
    on_comm_called("comm_old", function, comm_old, |process, comm| {
        let size = comm.core.size();
        let read = || {
            let names = ["indegree", "sources", "sourceweights"];
            // SAFETY: the caller's promise.
            let incoming = unsafe { edges(names, indegree, sources, sourceweights, size) }?;
            let names = ["outdegree", "destinations", "destweights"];
            // SAFETY: the caller's promise.
            let outgoing = unsafe { edges(names, outdegree, destinations, destweights, size) }?;
            let graph = both(incoming, outgoing)?;
            info::hints("info", hints)?;
            // SAFETY: the caller's promise.
            Ok((graph, unsafe { Out::new("comm_dist_graph", comm_dist_graph) }?))
        };
        let (graph, out) = halves(read());
        let made = process.dist_graph_create_adjacent(&comm.core, graph)?;
        out.expect("it was read with the graph").set(adopt(made, comm));
        Ok(())
    })
}

/// The arguments of a graph, and where the result goes, if they are right.
fn halves<T>(read: Result<(T, Out<MPI_Comm>)>) -> (Result<T>, Option<Out<MPI_Comm>>) {
    match read {
        Ok((graph, out)) => (Ok(graph), Some(out)),
        Err(error) => (Err(error), None),
    }
}

/// `MPI_Dist_graph_create`; the ranks stay as they are, and no hint is known.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn dist_graph_create(
    function: Function,
    comm_old: MPI_Comm,
    n: c_int,
    sources: *const c_int,
    degrees: *const c_int,
    destinations: *const c_int,
    of_edges: *const c_int,
    hints: MPI_Info,
    _reorder: c_int,
    comm_dist_graph: *mut MPI_Comm,
) -> c_int {
    on_comm_called("comm_old", function, comm_old, |process, comm| {
        let read = || {
            // SAFETY: the caller's promise.
            let sources = unsafe { Array::counted("sources", sources.cast_mut(), ("n", n)) }?;
            // SAFETY: the caller's promise.
            let degrees = unsafe { Array::counted("degrees", degrees.cast_mut(), ("n", n)) }?;
            let count = total(degrees)?;
            // SAFETY: the caller's promise.
            let destinations = unsafe { Array::new("destinations", destinations.cast_mut(), count) }?;
            // SAFETY: the caller's promise.
            let weights = unsafe { weights("weights", of_edges, count) }?;
            info::hints("info", hints)?;
            // SAFETY: the caller's promise.
            let out = unsafe { Out::new("comm_dist_graph", comm_dist_graph) }?;
            Ok(((listed(sources, degrees, destinations, weights.as_deref()), weights.is_some()), out))
        };
        let (graph, out) = halves(read());
        let made = process.dist_graph_create(&comm.core, graph)?;
        out.expect("it was read with the graph").set(adopt(made, comm));
        Ok(())
    })
}

/// Number of edges of all sources.
fn total(degrees: Array<c_int>) -> Result<c_int> {
    degrees.iter().enumerate().try_fold(0, |total: c_int, (index, degree)| {
        let sum = total.checked_add(degree).filter(|_| degree >= 0);
        sum.ok_or_else(|| {
            Error::new(ErrorClass::Arg, format!("degrees[{index}] is {degree}, after {total} other edges"))
        })
    })
}

/// The edges, source by source.
fn listed(
    sources: Array<c_int>,
    degrees: Array<c_int>,
    destinations: Array<c_int>,
    weights: Option<&[c_int]>,
) -> Vec<Edge> {
    let of_source = |(source, degree): (c_int, c_int)| (0..degree).map(move |_| source);
    let sources = sources.iter().zip(degrees.iter()).flat_map(of_source);
    let edge = |(index, source)| Edge {
        source,
        destination: destinations.get(index),
        weight: weights.map_or(1, |weights| weights[index]),
    };
    sources.enumerate().map(edge).collect()
}

/// `MPI_Dist_graph_neighbors_count`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn dist_graph_neighbors_count(
    function: Function,
    comm: MPI_Comm,
    indegree: *mut c_int,
    outdegree: *mut c_int,
    weighted: *mut c_int,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let graph = comm.core.dist_graph()?;
        // SAFETY: the caller's promise.
        let incoming = unsafe { Out::new("indegree", indegree) }?;
        // SAFETY: the caller's promise.
        let outgoing = unsafe { Out::new("outdegree", outdegree) }?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("weighted", weighted) }?.set(c_int::from(graph.weighted));
        incoming.set(graph.incoming.ranks.len() as c_int);
        outgoing.set(graph.outgoing.ranks.len() as c_int);
        Ok(())
    })
}

/// `MPI_Dist_graph_neighbors`: as many neighbours as there is room for.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn dist_graph_neighbors(
    function: Function,
    comm: MPI_Comm,
    maxindegree: c_int,
    sources: *mut c_int,
    sourceweights: *mut c_int,
    maxoutdegree: c_int,
    destinations: *mut c_int,
    destweights: *mut c_int,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let graph = comm.core.dist_graph()?;
        // SAFETY: the caller's promise.
        let sources = unsafe { Array::counted("sources", sources, ("maxindegree", maxindegree)) }?;
        // SAFETY: the caller's promise.
        let sourceweights = unsafe { told("sourceweights", sourceweights, maxindegree, graph) }?;
        // SAFETY: the caller's promise.
        let destinations =
            unsafe { Array::counted("destinations", destinations, ("maxoutdegree", maxoutdegree)) }?;
        // SAFETY: the caller's promise.
        let destweights = unsafe { told("destweights", destweights, maxoutdegree, graph) }?;
        tell(&graph.incoming, sources, sourceweights);
        tell(&graph.outgoing, destinations, destweights);
        Ok(())
    })
}

/// Where the weights of a graph go, if it has any; otherwise the argument may be anything.
///
/// # Safety
/// An array is valid for writes of `room` items.
unsafe fn told(
    argument: &str,
    base: *mut c_int,
    room: c_int,
    graph: &DistGraph,
) -> Result<Option<Array<c_int>>> {
    // SAFETY: the caller's promise.
    if graph.weighted { unsafe { array_of_weights(argument, base, room) } } else { Ok(None) }
}

/// Tells the program of the first neighbours, as many as there is room for.
fn tell(edges: &Edges, ranks: Array<c_int>, weights: Option<Array<c_int>>) {
    ranks.fill(edges.ranks.iter().take(ranks.len()).map(|rank| rank.cast_signed()));
    if let Some(weights) = weights {
        weights.fill(edges.weights.iter().take(weights.len()).copied());
    }
}
