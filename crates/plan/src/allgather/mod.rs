//! Allgather: all ranks' blocks, in order, on every rank.
//!
//! MPI-5.0: Collective Communication, Gather-to-all.

mod node_flat;
mod ring;

use crate::Algorithm;

/// The algorithms, in the order in which ties are decided.
pub(crate) const ALGORITHMS: &[&Algorithm] = &[&node_flat::ALGORITHM, &ring::ALGORITHM];
