//! Allreduce: all ranks' vectors combined, on every rank.
//!
//! Every rank gets the same bits, also from floating-point operations: each element of the result is computed
//! once, or by all ranks with the same brackets. Operands stay in the order of ranks unless the operation is
//! commutative.
//! MPI-5.0: Collective Communication, All-Reduce.

pub(super) mod between;
mod circulant;
mod lanes;
mod node_flat;
mod node_sliced;
mod node_tree;
mod rabenseifner;
mod recursive_doubling;
mod recursive_multiplying;
mod ring;
mod two_level;
mod two_level_sliced;

use oxmpi_base::Function;

use super::{CollectiveInfo, Combines, Functions, Side, Whose};

pub(super) const INFO: CollectiveInfo = CollectiveInfo {
    name: "allreduce",
    functions: Functions {
        blocking: Function::Allreduce,
        nonblocking: Function::Iallreduce,
        persistent: Function::AllreduceInit,
    },
    send: Side::one(Whose::Everybody),
    recv: Side::one(Whose::Everybody),
    combines: Combines::All,
    has_one_buffer: false,
    within: &[
        &node_flat::ALGORITHM,
        &node_sliced::ALGORITHM,
        &node_tree::ALGORITHM,
        &recursive_doubling::ALGORITHM,
        &recursive_multiplying::ALGORITHM,
        &ring::ALGORITHM,
        &rabenseifner::ALGORITHM,
        &circulant::ALGORITHM,
        &two_level::ALGORITHM,
        &two_level_sliced::ALGORITHM,
        &lanes::ALGORITHM,
    ],
    between: between::ALGORITHMS,
};
