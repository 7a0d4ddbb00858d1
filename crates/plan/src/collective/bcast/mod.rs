//! Broadcast: the root's buffer to all. There is only one buffer, [`Buf::Recv`](crate::Buf::Recv).
//!
//! MPI-5.0: Collective Communication, Broadcast.

pub(super) mod between;
mod binomial;
pub(crate) mod circulant;
pub(crate) mod knomial;
mod lanes;
pub(crate) mod node_flat;
pub(crate) mod node_tree;
mod scatter_allgather;
pub(crate) mod two_level;
mod two_level_circulant;

use oxmpi_base::Function;

use super::{CollectiveInfo, Combines, Functions, Side, Whose};

pub(super) const INFO: CollectiveInfo = CollectiveInfo {
    name: "bcast",
    functions: Functions {
        blocking: Function::Bcast,
        nonblocking: Function::Ibcast,
        persistent: Function::BcastInit,
    },
    send: Side::one(Whose::Root),
    recv: Side::one(Whose::Everybody),
    combines: Combines::Nothing,
    has_one_buffer: true,
    within: &[
        &node_flat::ALGORITHM,
        &node_tree::ALGORITHM,
        &binomial::ALGORITHM,
        &knomial::ALGORITHM,
        &scatter_allgather::ALGORITHM,
        &circulant::ALGORITHM,
        &two_level::ALGORITHM,
        &two_level_circulant::ALGORITHM,
        &lanes::ALGORITHM,
    ],
    between: between::ALGORITHMS,
};
