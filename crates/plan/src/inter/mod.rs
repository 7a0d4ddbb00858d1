//! Collectives of intercommunicators: two groups, and data that goes from one to the other.
//!
//! Each collective's algorithms are in its `between.rs`, the preferred ones first: the first that admits the
//! [`Shape`](crate::Shape) is taken. Nothing is in place, nothing that a rank has comes back to its own group
//! (but by [`exchange()`]), and operations are applied in the order of the ranks that contribute. Here is what
//! is of no regular collective.
//!
//! | collective | where all ranks share memory | else |
//! |---|---|---|
//! | barrier | all post, and look at the other group | `dissemination` in each group, then across |
//! | bcast | the root posts in segments, the other group pulls | `binomial` tree |
//! | gather, scatter | the other group posts in segments and the root pulls, or the reverse | `direct` messages |
//! | allgather, alltoall | all post in segments, and pull from the other group | `direct` messages |
//! | reduce | the root combines; a long vector the other group, slice by slice | up a `binomial` tree |
//! | allreduce | all combine what the other group posts; a long vector each group, by slices | up and down trees |
//! | reduce_scatter | all post, each combines its block; a long vector as the allreduce | through both ranks 0 |
//!
//! *Long* is a vector where a rank would have to combine more than 16 KiB of others alone. Long blocks need a
//! line for each rank in an alltoall and a scatter: in larger groups they are messages there too.
//!
//! Both groups must choose alike, so algorithms judge by what they see alike: the larger group, the longer
//! block. Blocks of lengths of their own (the v and w forms) are a [`pattern`](crate::pattern).
//!
//! MPI-5.0: Collective Communication, Applying Collective Operations to Intercommunicators.

mod exchange;

pub use exchange::exchange;

/// The two groups as a rank sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Groups {
    /// This rank in its group.
    pub rank: u32,
    /// Ranks of its group.
    pub local: u32,
    /// Ranks of the other group.
    pub remote: u32,
}
