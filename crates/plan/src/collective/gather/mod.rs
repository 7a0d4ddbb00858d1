//! Gather: all ranks' blocks, in order, at the root.
//!
//! MPI-5.0: Collective Communication, Gather.

mod between;
mod linear;
pub(crate) mod node_flat;
pub(crate) mod two_level;

use oxmpi_base::Function;

use super::{CollectiveInfo, Combines, Functions, Side, Whose};

pub(super) const INFO: CollectiveInfo = CollectiveInfo {
    name: "gather",
    functions: Functions {
        blocking: Function::Gather,
        nonblocking: Function::Igather,
        persistent: Function::GatherInit,
    },
    send: Side::one(Whose::Everybody),
    recv: Side::each(Whose::Root),
    combines: Combines::Nothing,
    has_one_buffer: false,
    within: &[&node_flat::ALGORITHM, &linear::ALGORITHM, &two_level::ALGORITHM],
    between: between::ALGORITHMS,
};
