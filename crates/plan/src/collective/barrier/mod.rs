//! Barrier: nobody leaves before all have come.
//!
//! MPI-5.0: Collective Communication, Barrier Synchronization.

mod between;
mod dissemination;
mod k_dissemination;
mod node_flat;
mod node_tree;
mod two_level;

use oxmpi_base::Function;

use super::{CollectiveInfo, Combines, Functions, Side};

pub(super) const INFO: CollectiveInfo = CollectiveInfo {
    name: "barrier",
    functions: Functions {
        blocking: Function::Barrier,
        nonblocking: Function::Ibarrier,
        persistent: Function::BarrierInit,
    },
    send: Side::NONE,
    recv: Side::NONE,
    combines: Combines::Nothing,
    has_one_buffer: false,
    within: &[
        &node_flat::ALGORITHM,
        &node_tree::ALGORITHM,
        &dissemination::ALGORITHM,
        &k_dissemination::ALGORITHM,
        &two_level::ALGORITHM,
    ],
    between: between::ALGORITHMS,
};
