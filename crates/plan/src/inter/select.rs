//! Which algorithm a shape gets: the first of its collective's list that admits it.
//!
//! The choice depends on what both groups know alike: a shape and its mirror image give the same.

use std::fmt;

use super::{Collective, Shape};
use super::{allgather, allreduce, alltoall, barrier, bcast, gather, reduce, scatter};
use crate::Plan;
use crate::build::Builder;

/// One way to carry out a collective between two groups.
pub struct Algorithm {
    pub(super) name: &'static str,
    pub(super) admits: fn(&Shape) -> bool,
    pub(super) plan: fn(&Shape) -> Plan,
}

impl Algorithm {
    /// What tools call it; unique within its collective.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it serves this shape, within its bounds on shared memory.
    pub fn admits(&self, shape: &Shape) -> bool {
        (self.admits)(shape)
    }

    /// This rank's part.
    ///
    /// # Panics
    /// If the algorithm does not admit `shape`, or there is no such rank or root.
    pub fn plan(&self, shape: &Shape) -> Plan {
        assert!(shape.groups.rank < shape.groups.local, "no such rank: {shape:?}");
        if shape.is_idle() {
            return Builder::new().finish();
        }
        assert!(self.admits(shape), "{} does not admit {shape:?}", self.name);
        (self.plan)(shape)
    }
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// All algorithms of a collective, the preferred first.
pub fn candidates(collective: Collective) -> &'static [&'static Algorithm] {
    match collective {
        Collective::Allgather => allgather::ALGORITHMS,
        Collective::Allreduce => allreduce::ALGORITHMS,
        Collective::Alltoall => alltoall::ALGORITHMS,
        Collective::Barrier => barrier::ALGORITHMS,
        Collective::Bcast { .. } => bcast::ALGORITHMS,
        Collective::Gather { .. } => gather::ALGORITHMS,
        Collective::Reduce { .. } => reduce::ALGORITHMS,
        Collective::Scatter { .. } => scatter::ALGORITHMS,
    }
}

/// The algorithm for `shape`.
pub fn select(shape: &Shape) -> &'static Algorithm {
    let admissible = candidates(shape.collective).iter().find(|algorithm| algorithm.admits(shape));
    admissible.expect("every collective has an algorithm of messages that admits every shape")
}

/// The plan of a rank by the algorithm for `shape`, its shape.
///
/// # Panics
/// If there is no such rank or root.
pub fn compile(shape: &Shape) -> Plan {
    select(shape).plan(shape)
}
