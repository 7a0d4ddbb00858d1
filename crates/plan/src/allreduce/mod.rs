//! Allreduce: all ranks' vectors combined, on every rank.
//!
//! Every rank gets the same bits, also from floating-point operations: each element of the result is computed
//! once, or by all ranks with the same brackets. Operands stay in the order of ranks unless the operation is
//! commutative.
//! MPI-5.0: Collective Communication, All-Reduce.

mod node_flat;
mod node_sliced;
mod node_tree;
mod recursive_doubling;
mod ring;

use crate::Algorithm;

/// The algorithms, in the order in which ties are decided.
pub(crate) const ALGORITHMS: &[&Algorithm] = &[
    &node_flat::ALGORITHM,
    &node_sliced::ALGORITHM,
    &node_tree::ALGORITHM,
    &recursive_doubling::ALGORITHM,
    &ring::ALGORITHM,
];
