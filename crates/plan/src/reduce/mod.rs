//! Reduce: all ranks' vectors combined, at the root. Only the root has [`Buf::Recv`](crate::Buf::Recv).
//!
//! Operands stay in the order of ranks unless the operation is commutative.
//! MPI-5.0: Collective Communication, Reduce.

pub(crate) mod binomial;
mod node_flat;
mod node_sliced;

use crate::Algorithm;

/// The algorithms, in the order in which ties are decided.
pub(crate) const ALGORITHMS: &[&Algorithm] =
    &[&node_flat::ALGORITHM, &node_sliced::ALGORITHM, &binomial::ALGORITHM];
