//! Alltoall: from each rank to each rank a block of its own.
//!
//! MPI-5.0: Collective Communication, All-to-All Scatter/Gather.

mod between;
mod bruck;
mod node_flat;
mod node_whole;
mod pairwise;
mod two_level;

use oxmpi_base::Function;

use super::{CollectiveInfo, Combines, Functions, Side, Whose};

pub(super) const INFO: CollectiveInfo = CollectiveInfo {
    name: "alltoall",
    functions: Functions {
        blocking: Function::Alltoall,
        nonblocking: Function::Ialltoall,
        persistent: Function::AlltoallInit,
    },
    send: Side::each(Whose::Everybody),
    recv: Side::each(Whose::Everybody),
    combines: Combines::Nothing,
    has_one_buffer: false,
    within: &[
        &node_flat::ALGORITHM,
        &node_whole::ALGORITHM,
        &pairwise::ALGORITHM,
        &bruck::ALGORITHM,
        &two_level::ALGORITHM,
    ],
    between: between::ALGORITHMS,
};
