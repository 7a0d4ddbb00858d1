//! Scatter: to each rank its block of the root's buffer.
//!
//! MPI-5.0: Collective Communication, Scatter.

mod linear;
mod node_flat;
mod node_whole;

use crate::Algorithm;

/// The algorithms, in the order in which ties are decided.
pub(crate) const ALGORITHMS: &[&Algorithm] =
    &[&node_flat::ALGORITHM, &node_whole::ALGORITHM, &linear::ALGORITHM];
