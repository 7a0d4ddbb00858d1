//! Scatter: to each rank its block of the root's buffer.
//!
//! MPI-5.0: Collective Communication, Scatter.

mod between;
mod linear;
mod node_flat;
pub(crate) mod node_whole;
pub(crate) mod two_level;

use oxmpi_base::Function;

use super::{CollectiveInfo, Combines, Functions, Side, Whose};

pub(super) const INFO: CollectiveInfo = CollectiveInfo {
    name: "scatter",
    functions: Functions {
        blocking: Function::Scatter,
        nonblocking: Function::Iscatter,
        persistent: Function::ScatterInit,
    },
    send: Side::each(Whose::Root),
    recv: Side::one(Whose::Everybody),
    combines: Combines::Nothing,
    has_one_buffer: false,
    within: &[&node_flat::ALGORITHM, &node_whole::ALGORITHM, &linear::ALGORITHM, &two_level::ALGORITHM],
    between: between::ALGORITHMS,
};
