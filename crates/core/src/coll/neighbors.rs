//! Collectives among neighbours: blocks along the edges of the communicator's topology.
//!
//! The regular forms are those of blocks of equal lengths. Nothing works in place.
//! MPI-5.0: Virtual Topologies for MPI Processes, Neighborhood Collective Communication on Virtual Topologies.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_datatype::Buffer;
use oxmpi_plan::pattern::{Neighborhood, neighbor_allgatherv as allgatherv, neighbor_alltoallv as alltoallv};

use super::irregular::{Form, Lengths, lengths};
use super::{Operation, unequal};
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

    /// Blocks wherever they lie.
    pub fn listed(blocks: Vec<Buffer>) -> Self {
        Self { lengths: lengths(&blocks), whole: Buffer::joined(blocks) }
    }
}

/// What this rank has in `send` goes along every edge; what comes along edge `i` is block `i` of `recv`.
/// `function`, the persistent form, says which it is.
///
/// # Errors
/// `Comm` for an intercommunicator; `Topology` without one; `Truncate`, `Count` if blocks of the rank to and from
/// itself differ in length.
pub fn neighbor_allgatherv(
    _: &Process,
    comm: &Arc<Communicator>,
    function: Function,
    send: Buffer,
    recv: EdgeBlocks,
) -> Result<Operation> {
    let sent = Box::from([send.bytes()]);
    among_neighbors(comm, function, &TO_ALL, EdgeBlocks { whole: send, lengths: sent }, recv)
}

/// Block `i` of `send` goes along edge `i`; what comes along edge `i` is block `i` of `recv`. `function`, the
/// persistent form, says which it is.
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
    among_neighbors(comm, function, &TO_EACH, send, recv)
}

/// The same block along every edge.
const TO_ALL: Form =
    Form::new(|known, comm| comm.in_neighborhood(|edges| allgatherv(edges, known.sent[0], &known.received)));

/// A block of its own along every edge.
const TO_EACH: Form =
    Form::new(|known, comm| comm.in_neighborhood(|edges| alltoallv(edges, &known.sent, &known.received)));

fn among_neighbors(
    comm: &Communicator,
    function: Function,
    form: &'static Form,
    send: EdgeBlocks,
    recv: EdgeBlocks,
) -> Result<Operation> {
    comm.degrees()?;
    let lengths = Lengths::rootless(false, send.lengths, recv.lengths);
    if let Some([sent, received]) = (form.pattern)(&lengths, comm).disagreement() {
        return Err(unequal(comm, sent, received));
    }
    Operation::irregular(function, form, lengths, send.whole, recv.whole)
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
