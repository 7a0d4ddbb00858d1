//! Alltoall: from each rank to each rank a block of its own.
//!
//! MPI-5.0: Collective Communication, All-to-All Scatter/Gather.

mod node_flat;
mod node_whole;
mod pairwise;

use crate::Algorithm;

/// The algorithms, in the order in which ties are decided.
pub(crate) const ALGORITHMS: &[&Algorithm] =
    &[&node_flat::ALGORITHM, &node_whole::ALGORITHM, &pairwise::ALGORITHM];
