//! Exscan: on each rank the vectors of all ranks before it, combined in the order of ranks.
//!
//! Rank 0 gets nothing, and its receive buffer is left alone. Otherwise like the [scan](super::scan), which says
//! what the algorithms cost.
//! MPI-5.0: Collective Communication, Scan, Exclusive Scan.

pub(crate) mod doubling;
mod node_chain;
mod node_flat;
mod two_level;
mod two_level_chain;

use oxmpi_base::Function;

use super::{CollectiveInfo, Combines, Functions, Side, Whose};

pub(super) const INFO: CollectiveInfo = CollectiveInfo {
    name: "exscan",
    functions: Functions {
        blocking: Function::Exscan,
        nonblocking: Function::Iexscan,
        persistent: Function::ExscanInit,
    },
    send: Side::one(Whose::Everybody),
    recv: Side::one(Whose::Everybody),
    combines: Combines::BeforeOwn,
    has_one_buffer: false,
    within: &[
        &node_flat::ALGORITHM,
        &node_chain::ALGORITHM,
        &doubling::ALGORITHM,
        &two_level::ALGORITHM,
        &two_level_chain::ALGORITHM,
    ],
    between: &[],
};
