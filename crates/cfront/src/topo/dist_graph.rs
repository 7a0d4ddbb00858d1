//! Distributed graph topologies.
//!
//! What is wrong with the arguments of one rank is an error of all, so that none waits for it: arguments are read
//! into a `Result`, which core takes.
//! MPI-5.0: Virtual Topologies for MPI Processes, Distributed Graph Constructor; Topology Inquiry Functions.

use std::ffi::c_int;
use std::marker::PhantomData;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{DistGraph, Edge, Edges};

use crate::argument::{Array, ArrayArgument, ArrayIn, ArrayOut, Out, Reading, Unmeasured, Writing};
use crate::generated::constants::{MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY};
use crate::generated::types::{MPI_Comm, MPI_Info};
use crate::object::comm::reserved::Reserved;
use crate::object::comm::{on_comm, on_comm_called};
use crate::object::info;

/// The weights of edges: an array, or a constant that stands for one.
#[derive(Clone, Copy, Debug)]
pub struct Weights<M = Reading> {
    base: *mut c_int,
    mode: PhantomData<M>,
}

impl<M> Weights<M> {
    /// # Safety
    /// Unless it is one of the constants, an array that is not null is as [`ArrayArgument::new`] demands for as many
    /// items as the standard says that there are edges.
    pub unsafe fn new(base: *const c_int) -> Self {
        Self { base: base.cast_mut(), mode: PhantomData }
    }

    /// The array, of `count` edges; `None` if it is `MPI_UNWEIGHTED`.
    ///
    /// # Errors
    /// `Arg` if there should be weights, but none are given.
    ///
    /// # Safety
    /// The standard says that there are so many edges.
    unsafe fn named(self, argument: &str, count: c_int) -> Result<Option<Array<c_int, M>>> {
        match self.base {
            MPI_UNWEIGHTED => Ok(None),
            MPI_WEIGHTS_EMPTY if count != 0 => {
                let text = format!("{argument} is MPI_WEIGHTS_EMPTY, but there are {count} edges");
                Err(Error::new(ErrorClass::Arg, text))
            }
            // SAFETY: it is none of the constants, and the same promise.
            base => unsafe { ArrayArgument::new(base, count) }.named(argument).map(Some),
        }
    }
}

/// The weights of `count` edges; `None` is `MPI_UNWEIGHTED`.
///
/// # Errors
/// `Arg` if there should be weights, but none are given, or one is negative.
///
/// # Safety
/// The standard says that there are so many edges.
unsafe fn weights(argument: &str, given: Weights, count: c_int) -> Result<Option<Vec<c_int>>> {
    // SAFETY: the same promise.
    let Some(weights) = (unsafe { given.named(argument, count) })? else { return Ok(None) };
    let weights: Vec<c_int> = weights.iter().collect();
    if let Some(index) = weights.iter().position(|&weight| weight < 0) {
        return Err(Error::new(ErrorClass::Arg, format!("{argument}[{index}] is {}", weights[index])));
    }
    Ok(Some(weights))
}

/// The edges in one direction of a rank of a communicator of `size`, and whether they have weights. The arguments
/// are called `names`, in the order that they have here.
fn edges(names: [&str; 3], ranks: ArrayIn<c_int>, of_edges: Weights, size: u32) -> Result<(Edges, bool)> {
    let ranks: Vec<c_int> = ranks.counted(names[1], names[0])?.iter().collect();
    // SAFETY: the standard: a weight for each rank.
    let weights = unsafe { weights(names[2], of_edges, ranks.len() as c_int) }?;
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

/// `MPI_Dist_graph_create_adjacent`; the ranks stay as they are.
pub fn dist_graph_create_adjacent(
    function: Function,
    comm_old: MPI_Comm,
    _indegree: c_int,
    sources: ArrayIn<c_int>,
    sourceweights: Weights,
    _outdegree: c_int,
    destinations: ArrayIn<c_int>,
    destweights: Weights,
    hints: MPI_Info,
    _reorder: c_int,
    comm_dist_graph: Out<MPI_Comm>,
) -> c_int {
    on_comm_called("comm_old", function, comm_old, |process, comm| {
        let size = comm.core.size();
        let read = || {
            let names = ["indegree", "sources", "sourceweights"];
            let incoming = edges(names, sources, sourceweights, size)?;
            let names = ["outdegree", "destinations", "destweights"];
            let outgoing = edges(names, destinations, destweights, size)?;
            let graph = both(incoming, outgoing)?;
            let reserved = Reserved::child(comm, &info::hints("info", hints)?);
            Ok((graph, (reserved, comm_dist_graph.named("comm_dist_graph")?)))
        };
        let (graph, new) = halves(read());
        let made = process.dist_graph_create_adjacent(&comm.core, graph)?;
        let (reserved, out) = new.expect("it was read with the graph");
        out.set(reserved.name(made));
        Ok(())
    })
}

/// The arguments of a graph, and the communicator to be with the place of its handle, if they are right.
fn halves<T, C>(read: Result<(T, C)>) -> (Result<T>, Option<C>) {
    match read {
        Ok((graph, new)) => (Ok(graph), Some(new)),
        Err(error) => (Err(error), None),
    }
}

/// `MPI_Dist_graph_create`; the ranks stay as they are.
pub fn dist_graph_create(
    function: Function,
    comm_old: MPI_Comm,
    _n: c_int,
    sources: ArrayIn<c_int>,
    degrees: ArrayIn<c_int>,
    destinations: Unmeasured<c_int>,
    of_edges: Weights,
    hints: MPI_Info,
    _reorder: c_int,
    comm_dist_graph: Out<MPI_Comm>,
) -> c_int {
    on_comm_called("comm_old", function, comm_old, |process, comm| {
        let read = || {
            let sources = sources.counted("sources", "n")?;
            let degrees = degrees.counted("degrees", "n")?;
            let count = total(degrees)?;
            // SAFETY: the standard: a destination for each edge.
            let destinations = unsafe { destinations.of_len(count) }.named("destinations")?;
            // SAFETY: the standard: a weight for each edge.
            let weights = unsafe { weights("weights", of_edges, count) }?;
            let reserved = Reserved::child(comm, &info::hints("info", hints)?);
            let out = comm_dist_graph.named("comm_dist_graph")?;
            Ok((
                (listed(sources, degrees, destinations, weights.as_deref()), weights.is_some()),
                (reserved, out),
            ))
        };
        let (graph, new) = halves(read());
        let made = process.dist_graph_create(&comm.core, graph)?;
        let (reserved, out) = new.expect("it was read with the graph");
        out.set(reserved.name(made));
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
pub fn dist_graph_neighbors_count(
    function: Function,
    comm: MPI_Comm,
    indegree: Out<c_int>,
    outdegree: Out<c_int>,
    weighted: Out<c_int>,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let graph = comm.core.dist_graph()?;
        let incoming = indegree.named("indegree")?;
        let outgoing = outdegree.named("outdegree")?;
        weighted.named("weighted")?.set(c_int::from(graph.weighted));
        incoming.set(graph.incoming.ranks.len() as c_int);
        outgoing.set(graph.outgoing.ranks.len() as c_int);
        Ok(())
    })
}

/// `MPI_Dist_graph_neighbors`: as many neighbours as there is room for.
pub fn dist_graph_neighbors(
    function: Function,
    comm: MPI_Comm,
    maxindegree: c_int,
    sources: ArrayOut<c_int>,
    sourceweights: Weights<Writing>,
    maxoutdegree: c_int,
    destinations: ArrayOut<c_int>,
    destweights: Weights<Writing>,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let graph = comm.core.dist_graph()?;
        let sources = sources.counted("sources", "maxindegree")?;
        // SAFETY: the standard: as many as there may be neighbours.
        let sourceweights = unsafe { told("sourceweights", sourceweights, maxindegree, graph) }?;
        let destinations = destinations.counted("destinations", "maxoutdegree")?;
        // SAFETY: as above.
        let destweights = unsafe { told("destweights", destweights, maxoutdegree, graph) }?;
        tell(&graph.incoming, sources, sourceweights);
        tell(&graph.outgoing, destinations, destweights);
        Ok(())
    })
}

/// Where the weights of a graph go, if it has any; otherwise the argument may be anything.
///
/// # Safety
/// The standard says that there is room for those of so many edges.
unsafe fn told(
    argument: &str,
    weights: Weights<Writing>,
    room: c_int,
    graph: &DistGraph,
) -> Result<Option<Array<c_int, Writing>>> {
    // SAFETY: the same promise.
    if graph.weighted { unsafe { weights.named(argument, room) } } else { Ok(None) }
}

/// Tells the program of the first neighbours, as many as there is room for.
fn tell(edges: &Edges, ranks: Array<c_int, Writing>, weights: Option<Array<c_int, Writing>>) {
    ranks.fill(edges.ranks.iter().take(ranks.len()).map(|rank| rank.cast_signed()));
    if let Some(weights) = weights {
        weights.fill(edges.weights.iter().take(weights.len()).copied());
    }
}
