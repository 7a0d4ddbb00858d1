//! Gather: all ranks' blocks, in order, at the root.
//!
//! MPI-5.0: Collective Communication, Gather.

mod linear;
mod node_flat;

use crate::Algorithm;

/// The algorithms, in the order in which ties are decided.
pub(crate) const ALGORITHMS: &[&Algorithm] = &[&node_flat::ALGORITHM, &linear::ALGORITHM];
