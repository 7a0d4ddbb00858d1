//! One way to carry out a collective: when it may be used, what it costs, which plan it makes.

use std::fmt;

use crate::build::Builder;
use crate::prices::Prices;
use crate::{Buf, Combines, Cost, Machine, Plan, Shape, Span};

/// An entry of one of a collective's two lists of algorithms: those within a group, and those between two.
///
/// The functions see a [`Shape`] alone (and [`plan`](Self::plan) the rank and whether it works in place), so
/// all ranks judge alike.
pub struct Algorithm {
    pub(crate) name: &'static str,
    pub(crate) admits: fn(&Shape) -> bool,
    /// `None` where the order of the list is that of preference.
    pub(crate) cost: Option<fn(&Shape, &Prices<'_>) -> Cost>,
    pub(crate) plan: fn(&Shape, u32, bool) -> Plan,
}

impl Algorithm {
    /// What overrides and tools call it; unique within its list.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it gives the right result for this shape, within its bounds on shared memory.
    pub fn admits(&self, shape: &Shape) -> bool {
        (self.admits)(shape)
    }

    /// Predicted time of the slowest rank on a machine. `None` where the algorithm is not admissible, and where nothing
    /// is predicted, because the first admissible one of the list is the best.
    pub fn cost(&self, shape: &Shape, machine: &Machine) -> Option<Cost> {
        if self.admits(shape) { self.priced(shape, &Prices::of(shape, machine)) } else { None }
    }

    /// The same of a shape that it admits.
    pub(crate) fn priced(&self, shape: &Shape, prices: &Prices<'_>) -> Option<Cost> {
        let cost = self.cost?;
        Some(if shape.is_alone() { Cost::NONE } else { prices.run() + cost(shape, prices) })
    }

    /// The part of `rank`, which works in place or not.
    ///
    /// # Panics
    /// If the algorithm does not admit `shape`, or there is no such rank or root.
    pub fn plan(&self, shape: &Shape, rank: u32, in_place: bool) -> Plan {
        let root_group = if shape.is_between() { shape.remote_ranks } else { shape.ranks };
        assert!(rank < shape.ranks && shape.root.rank() < root_group, "rank {rank} of {shape:?}");
        if shape.is_alone() {
            return alone(shape, in_place);
        }
        assert!(self.admits(shape), "{} does not admit {shape:?}", self.name);
        (self.plan)(shape, rank, in_place)
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What is left to do without other ranks: a copy from send to receive buffer, at most.
fn alone(shape: &Shape, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let info = shape.collective.info();
    let gets_its_own = info.has_two_buffers() && info.combines != Combines::BeforeOwn;
    let keeps_its_own = !shape.is_between() && gets_its_own;
    if keeps_its_own && !in_place && shape.bytes > 0 {
        builder.copy(Span::fixed(Buf::Send, 0, shape.bytes), Span::fixed(Buf::Recv, 0, shape.bytes), &[]);
    }
    builder.finish()
}
