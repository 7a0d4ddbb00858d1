//! Allgather: all ranks' blocks, in order, on every rank.
//!
//! MPI-5.0: Collective Communication, Gather-to-all.

mod between;
pub(crate) mod bruck;
mod k_bruck;
mod lanes;
mod node_flat;
mod ring;
pub(crate) mod two_level;

use oxmpi_base::Function;

use super::{CollectiveInfo, Combines, Functions, Side, Whose};

pub(super) const INFO: CollectiveInfo = CollectiveInfo {
    name: "allgather",
    functions: Functions {
        blocking: Function::Allgather,
        nonblocking: Function::Iallgather,
        persistent: Function::AllgatherInit,
    },
    send: Side::one(Whose::Everybody),
    recv: Side::each(Whose::Everybody),
    combines: Combines::Nothing,
    has_one_buffer: false,
    within: &[
        &node_flat::ALGORITHM,
        &ring::ALGORITHM,
        &bruck::ALGORITHM,
        &k_bruck::ALGORITHM,
        &two_level::ALGORITHM,
        &lanes::ALGORITHM,
    ],
    between: between::ALGORITHMS,
};
