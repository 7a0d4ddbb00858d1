//! Broadcast: the root's buffer to all. There is only one buffer, [`Buf::Recv`](crate::Buf::Recv).
//!
//! MPI-5.0: Collective Communication, Broadcast.

pub(crate) mod binomial;
mod node_flat;

use crate::Algorithm;

/// The algorithms, in the order in which ties are decided.
pub(crate) const ALGORITHMS: &[&Algorithm] = &[&node_flat::ALGORITHM, &binomial::ALGORITHM];
