//! Collectives: each is described once, and the lifetimes know nothing of which it is.
//!
//! A description checks the arguments and says what the collective's [`Shape`](oxmpi_plan::Shape) is and which
//! buffers its roles are bound to: an [`Operation`]. `lifetime` turns any operation into a blocking, nonblocking or
//! persistent call. All descriptions refuse buffers that overlap, with class `Buffer`.
//!
//! MPI-5.0: Collective Communication.

mod again;
mod allgather;
mod allreduce;
mod alltoall;
pub(crate) mod barrier;
mod bcast;
pub(crate) mod cache;
mod candidates;
mod case;
mod contest;
pub(crate) mod deliver;
pub(crate) mod exchange;
mod gather;
mod image;
mod inter;
mod irregular;
mod lifetime;
pub(crate) mod machines;
mod measuring;
mod neighbors;
pub(crate) mod operation;
mod placing;
mod preparing;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod shown_plans;
mod stand_in;
mod wish;

pub use allgather::{allgather, allgatherv};
pub use allreduce::allreduce;
pub use alltoall::{alltoall, alltoallv};
pub use barrier::barrier;
pub use bcast::bcast;
pub use gather::{gather, gatherv};
pub use neighbors::{
    EdgeBlocks, neighbor_allgather, neighbor_allgatherv, neighbor_alltoall, neighbor_alltoallv,
};
pub use operation::{Operation, Root, Side};
pub use reduce::reduce;
pub use reduce_scatter::{reduce_scatter, reduce_scatter_block};
pub use scan::{exscan, scan};
pub use scatter::{scatter, scatterv};
pub use wish::{PLAN_KEY, Wish};

pub use oxmpi_plan::{Collective, Functions};
