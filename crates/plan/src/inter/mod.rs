//! Collectives of intercommunicators: two groups, and data that goes from one to the other.
//!
//! All plans consist of messages, so there is no choice of algorithms and no shape; what a rank must know is
//! in [`Groups`], and in [`Root`] where there is one. Nothing is in place, and nothing that a rank has comes
//! back to its own group, but by [`exchange`]. Operations are applied in the group that contributes, and need
//! not be known at a root. Broadcasts, reductions and barriers take a logarithmic number of rounds; blocks go
//! straight from whom they are to whom they are for.
//!
//! MPI-5.0: Collective Communication, Applying Collective Operations to Intercommunicators.

mod barrier;
mod bcast;
mod exchange;
mod irregular;
mod reduce;

pub use barrier::barrier;
pub use bcast::bcast;
pub use exchange::exchange;
pub use irregular::{allgatherv, alltoallv, gatherv, scatterv};
pub use reduce::{allreduce, reduce};

/// The two groups as a rank sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// This rank in its group.
    pub rank: u32,
    /// Ranks of its group.
    pub local: u32,
    /// Ranks of the other group.
    pub remote: u32,
}

/// Where the root of a collective is, as a rank sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// It is this rank: `MPI_ROOT`.
    Here,
    /// It is another rank of this group, which has nothing to do: `MPI_PROC_NULL`.
    Beside,
    /// It is this rank of the remote group.
    Remote(u32),
}
