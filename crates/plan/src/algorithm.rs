//! One way to carry out a collective: when it may be used, what it costs, which plan it makes.

use std::fmt;

use crate::build::Builder;
use crate::{Buf, Collective, Plan, Shape, Span};

/// An entry of a collective's list of algorithms.
///
/// The functions see a [`Shape`] alone (and [`plan`](Self::plan) the rank and whether it works in place), so
/// all ranks judge alike.
pub struct Algorithm {
    pub(crate) name: &'static str,
    pub(crate) admits: fn(&Shape) -> bool,
    pub(crate) cost_ns: fn(&Shape) -> f64,
    pub(crate) plan: fn(&Shape, u32, bool) -> Plan,
}

impl Algorithm {
    /// What overrides and tools call it; unique within its collective.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it gives the right result for this shape, within its bounds on shared memory.
    pub fn admits(&self, shape: &Shape) -> bool {
        (self.admits)(shape)
    }

    /// Predicted time of the slowest rank, by the machine model of this crate: good for comparing algorithms.
    /// Infinite where the algorithm is not admissible.
    pub fn cost_ns(&self, shape: &Shape) -> f64 {
        if !self.admits(shape) {
            f64::INFINITY
        } else if is_local(shape) {
            0.0
        } else {
            (self.cost_ns)(shape)
        }
    }

    /// The part of `rank`, which works in place or not.
    ///
    /// # Panics
    /// If the algorithm does not admit `shape`, or `rank` or the root is not below `shape.ranks`.
    pub fn plan(&self, shape: &Shape, rank: u32, in_place: bool) -> Plan {
        assert!(self.admits(shape), "{} does not admit {shape:?}", self.name);
        assert!(rank < shape.ranks && shape.root() < shape.ranks, "rank {rank} of {shape:?}");
        if is_local(shape) { local(shape, in_place) } else { (self.plan)(shape, rank, in_place) }
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Whether no rank needs anything from another: then algorithms need not care for this case.
fn is_local(shape: &Shape) -> bool {
    shape.ranks == 1 || (shape.bytes == 0 && shape.collective != Collective::Barrier)
}

/// What is left to do without other ranks: a copy from send to receive buffer, at most.
fn local(shape: &Shape, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let has_two_buffers = !matches!(shape.collective, Collective::Barrier | Collective::Bcast { .. });
    if has_two_buffers && !in_place && shape.bytes > 0 {
        builder.copy(Span::fixed(Buf::Send, 0, shape.bytes), Span::fixed(Buf::Recv, 0, shape.bytes), &[]);
    }
    builder.finish()
}
