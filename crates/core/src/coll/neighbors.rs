//! Collectives among neighbours: blocks along the edges of the communicator's topology.
//!
//! In the regular forms all blocks of all ranks are equally long: the standard demands that what a rank sends is as
//! long as what each other rank receives. Of two ranks each may receive another length than it sends, which is what
//! the other sends. So ranks know how long the streams of others are, and, where they know the edges of others, where
//! their blocks lie: these forms run on lines in every lifetime. Nothing works in place.
//! MPI-5.0: Virtual Topologies for MPI Processes, Neighborhood Collective Communication on Virtual Topologies.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_datatype::Buffer;
use oxmpi_plan::pattern::{
    Neighborhood, Pattern, neighbor_allgatherv as allgatherv, neighbor_alltoallv as alltoallv,
};

use super::irregular::{Form, Lengths, Streams, lengths};
use super::operation::{Operation, unequal};
use crate::comm::Communicator;
use crate::process::Process;
use crate::topology::Topology;

/// The blocks of a buffer argument, one for each edge.
#[derive(Debug)]
pub struct EdgeBlocks {
    whole: Buffer,
    lengths: Box<[u64]>,
}

impl EdgeBlocks {
    /// `edges` blocks of equal lengths, one after the other in `whole`.
    pub fn equal(whole: Buffer, edges: usize) -> Self {
        let bytes = whole.bytes() / (edges as u64).max(1);
        Self { whole, lengths: vec![bytes; edges].into() }
    }

    /// What goes along all edges, if there are any: what nobody gets says nothing of the lengths of others.
    fn one(whole: Buffer, edges: usize) -> Self {
        match edges {
            0 => Self { whole: Buffer::EMPTY, lengths: Box::from([]) },
            _ => Self { lengths: Box::from([whole.bytes()]), whole },
        }
    }

    /// Blocks wherever they lie.
    pub fn listed(blocks: Vec<Buffer>) -> Self {
        Self { lengths: lengths(&blocks), whole: Buffer::joined(blocks) }
    }
}

/// What this rank has in `send` goes along every edge; what comes along edge `i` is block `i` of `recv`.
///
/// # Errors
/// `Comm` for an intercommunicator; `Topology` without one; `Truncate`, `Count` if blocks sent and received differ in
/// length and are not those of two ranks, each to and from the other.
pub fn neighbor_allgather(
    _: &Process,
    comm: &Arc<Communicator>,
    send: Buffer,
    recv: EdgeBlocks,
) -> Result<Operation> {
    let (_, destinations) = comm.degrees()?;
    let send = EdgeBlocks::one(send, destinations);
    among_neighbors(comm, Function::NeighborAllgatherInit, &ALIKE_TO_ALL, send, recv)
}

/// As [`neighbor_allgather`], with blocks of lengths of their own.
///
/// # Errors
/// As [`neighbor_allgather`], of blocks of the rank to and from itself.
pub fn neighbor_allgatherv(
    _: &Process,
    comm: &Arc<Communicator>,
    send: Buffer,
    recv: EdgeBlocks,
) -> Result<Operation> {
    let (_, destinations) = comm.degrees()?;
    let send = EdgeBlocks::one(send, destinations);
    among_neighbors(comm, Function::NeighborAllgathervInit, &TO_ALL, send, recv)
}

/// Block `i` of `send` goes along edge `i`; what comes along edge `i` is block `i` of `recv`.
///
/// # Errors
/// As [`neighbor_allgather`].
pub fn neighbor_alltoall(
    _: &Process,
    comm: &Arc<Communicator>,
    send: EdgeBlocks,
    recv: EdgeBlocks,
) -> Result<Operation> {
    comm.degrees()?;
    let form = match comm.topology() {
        // Here a rank knows its own edges only.
        Some(Topology::DistGraph(_)) => &TO_EACH,
        _ => &ALIKE_TO_EACH,
    };
    among_neighbors(comm, Function::NeighborAlltoallInit, form, send, recv)
}

/// As [`neighbor_alltoall`], with blocks of lengths of their own. Serves the w form too, which `function`, the
/// persistent form, then says.
///
/// # Errors
/// As [`neighbor_allgatherv`].
pub fn neighbor_alltoallv(
    _: &Process,
    comm: &Arc<Communicator>,
    function: Function,
    send: EdgeBlocks,
    recv: EdgeBlocks,
) -> Result<Operation> {
    comm.degrees()?;
    among_neighbors(comm, function, &TO_EACH, send, recv)
}

/// The same block along every edge.
const TO_ALL: Form = Form::new(|known, comm| {
    let sent = known.sent.first().copied().unwrap_or(0);
    comm.in_neighborhood(|edges| allgatherv(edges, sent, &known.received))
});

/// The same, of lengths that all know.
const ALIKE_TO_ALL: Form = Form {
    streams: Some(|known, _, pattern| Streams {
        places: vec![0; pattern.received().len()],
        longest: known.longest().unwrap_or(0),
    }),
    ..TO_ALL
};

/// A block of its own along every edge.
const TO_EACH: Form =
    Form::new(|known, comm| comm.in_neighborhood(|edges| alltoallv(edges, &known.sent, &known.received)));

/// The same, of lengths that all know, where ranks know each other's edges.
const ALIKE_TO_EACH: Form = Form { streams: Some(streams_of_neighbors), ..TO_EACH };

/// The streams of those from whom edges lead here, in a topology that all ranks know.
fn streams_of_neighbors(known: &Lengths, comm: &Communicator, _: &Pattern) -> Streams {
    // As long as those that the others send.
    let bytes = known.received.first().copied().unwrap_or(0);
    let named = |ranks: &[i32]| ranks.iter().map(|&rank| Some(rank.cast_unsigned())).collect();
    let ends_of = |rank: u32| match comm.topology() {
        Some(Topology::Cartesian(grid)) => grid.neighbors(rank).collect(),
        Some(Topology::Graph(graph)) => graph.neighbors(rank.cast_signed()).map(named).unwrap_or_default(),
        Some(Topology::DistGraph(_)) | None => Vec::new(),
    };
    let most_ends = match comm.topology() {
        Some(Topology::Cartesian(grid)) => 2 * grid.axes().len(),
        _ => (0..comm.size()).map(|rank| ends_of(rank).len()).max().unwrap_or(0),
    };
    let places = comm.in_neighborhood(|edges| edges.places(ends_of, bytes));
    Streams { places, longest: most_ends as u64 * known.longest().unwrap_or(0) }
}

fn among_neighbors(
    comm: &Communicator,
    function: Function,
    form: &'static Form,
    send: EdgeBlocks,
    recv: EdgeBlocks,
) -> Result<Operation> {
    let lengths = Lengths::rootless(false, send.lengths, recv.lengths);
    let mut all = lengths.sent.iter().chain(&lengths.received);
    let first = all.next();
    if !all.all(|bytes| Some(bytes) == first) {
        check_lengths(comm, form, &lengths)?;
    }
    Operation::irregular(function, form, lengths, send.whole, recv.whole)
}

/// # Errors
/// `Truncate`, `Count` if a rank disagrees with itself, or, in a regular form among more than two, sends other lengths
/// than it receives.
#[cold]
fn check_lengths(comm: &Communicator, form: &Form, lengths: &Lengths) -> Result<()> {
    if let Some([sent, received]) = (form.pattern)(lengths, comm).disagreement() {
        return Err(unequal(comm, sent, received));
    }
    match (form.streams, lengths.sent.first(), lengths.received.first()) {
        (Some(_), Some(sent), Some(received)) if comm.size() > 2 => {
            let text = format!("blocks of {sent} bytes are sent, but of {received} bytes received");
            Err(Error::new(ErrorClass::Count, text))
        }
        _ => Ok(()),
    }
}

impl Communicator {
    /// How many edges lead here, and from here.
    ///
    /// # Errors
    /// `Comm` for an intercommunicator; `Topology` without a topology.
    pub fn degrees(&self) -> Result<(usize, usize)> {
        match self.topology() {
            _ if self.is_inter() => Err(between_groups()),
            None => Err(no_topology()),
            Some(Topology::Cartesian(grid)) => Ok((2 * grid.axes().len(), 2 * grid.axes().len())),
            Some(Topology::DistGraph(graph)) => Ok((graph.incoming.ranks.len(), graph.outgoing.ranks.len())),
            Some(Topology::Graph(graph)) => {
                let degree = graph.neighbors(self.rank().cast_signed())?.len();
                Ok((degree, degree))
            }
        }
    }

    /// Whether there is somebody at the end of an edge: at the border of a grid there may be nobody.
    pub fn has_neighbor(&self, edge: usize) -> bool {
        match self.topology() {
            Some(Topology::Cartesian(grid)) => grid.neighbors(self.rank()).nth(edge).flatten().is_some(),
            _ => true,
        }
    }

    /// What `of_edges` makes of the edges of this rank.
    ///
    /// # Panics
    /// Without a topology.
    pub(super) fn in_neighborhood<R>(&self, of_edges: impl FnOnce(&Neighborhood<'_>) -> R) -> R {
        let rank = self.rank();
        let named = |ranks: &[u32]| ranks.iter().copied().map(Some).collect();
        let (sources, destinations): (Vec<_>, Vec<_>) = match self.topology() {
            None => panic!("the communicator has a topology"),
            Some(Topology::Cartesian(grid)) => {
                let ends: Vec<_> = grid.neighbors(rank).collect();
                (ends.clone(), ends)
            }
            Some(Topology::DistGraph(graph)) => (named(&graph.incoming.ranks), named(&graph.outgoing.ranks)),
            Some(Topology::Graph(graph)) => {
                let neighbors = graph.neighbors(rank.cast_signed()).expect("a rank has neighbours");
                let ends: Vec<_> = neighbors.iter().map(|&end| Some(end.cast_unsigned())).collect();
                (ends.clone(), ends)
            }
        };
        let is_grid = matches!(self.topology(), Some(Topology::Cartesian(_)));
        of_edges(&Neighborhood { rank, sources: &sources, destinations: &destinations, is_grid })
    }
}

#[cold]
fn between_groups() -> Error {
    Error::new(ErrorClass::Comm, "comm is an intercommunicator, which has no neighbourhoods")
}

#[cold]
fn no_topology() -> Error {
    Error::new(ErrorClass::Topology, "comm has no topology, and so nobody has neighbours")
}
