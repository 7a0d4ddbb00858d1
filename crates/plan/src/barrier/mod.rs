//! Barrier: nobody leaves before all have come.
//!
//! MPI-5.0: Collective Communication, Barrier Synchronization.

pub(crate) mod dissemination;
mod node_flat;
mod node_tree;

use crate::Algorithm;

/// The algorithms, in the order in which ties are decided.
pub(crate) const ALGORITHMS: &[&Algorithm] =
    &[&node_flat::ALGORITHM, &node_tree::ALGORITHM, &dissemination::ALGORITHM];
