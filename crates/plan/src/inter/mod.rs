//! Collectives of intercommunicators: two groups, and data that goes from one to the other.
//!
//! What a rank must know is in [`Shape`]; [`select()`] takes the first algorithm of the collective's list that
//! admits it. Nothing is in place, nothing that a rank has comes back to its own group (but by [`exchange()`]),
//! and operations are applied in the order of the ranks that contribute.
//!
//! | collective | where all ranks share memory | else |
//! |---|---|---|
//! | barrier | all post, and look at the other group | `dissemination` in each group, then across |
//! | bcast | the root posts in segments, the other group pulls | `binomial` tree |
//! | gather, scatter | the other group posts in segments and the root pulls, or the reverse | `direct` messages |
//! | allgather, alltoall | all post in segments, and pull from the other group | `direct` messages |
//! | reduce | the root combines; a long vector the other group, slice by slice | up a `binomial` tree |
//! | allreduce | all combine what the other group posts; a long vector each group, by slices | up and down trees |
//!
//! *Long* is a vector where a rank would have to combine more than 16 KiB of others alone. Long blocks need a
//! line for each rank in an alltoall and a scatter: in larger groups they are messages there too.
//!
//! Both groups must choose alike, so algorithms judge by what they see alike: the larger group, the longer
//! block. Blocks of lengths of their own (the v and w forms) are single messages.
//!
//! MPI-5.0: Collective Communication, Applying Collective Operations to Intercommunicators.

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod exchange;
mod gather;
mod irregular;
mod overview;
mod reduce;
mod scatter;
mod select;
mod shape;

pub use exchange::exchange;
pub use irregular::{allgatherv, alltoallv, gatherv, scatterv};
pub use overview::Overview;
pub use select::{Algorithm, candidates, compile, select};
pub use shape::{Collective, Groups, Root, Shape};
