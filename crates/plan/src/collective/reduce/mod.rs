//! Reduce: all ranks' vectors combined, at the root. Only the root has [`Buf::Recv`](crate::Buf::Recv).
//!
//! Operands stay in the order of ranks unless the operation is commutative.
//! MPI-5.0: Collective Communication, Reduce.

pub(super) mod between;
mod binomial;
pub(crate) mod circulant;
pub(crate) mod knomial;
pub(crate) mod node_flat;
pub(crate) mod node_sliced;
pub(crate) mod node_tree;
pub(crate) mod two_level;
pub(crate) mod two_level_sliced;

use oxmpi_base::Function;

use super::{CollectiveInfo, Combines, Functions, Side, Whose};

pub(super) const INFO: CollectiveInfo = CollectiveInfo {
    name: "reduce",
    functions: Functions {
        blocking: Function::Reduce,
        nonblocking: Function::Ireduce,
        persistent: Function::ReduceInit,
    },
    send: Side::one(Whose::Everybody),
    recv: Side::one(Whose::Root),
    combines: Combines::All,
    has_one_buffer: false,
    within: &[
        &node_flat::ALGORITHM,
        &node_sliced::ALGORITHM,
        &node_tree::ALGORITHM,
        &binomial::ALGORITHM,
        &knomial::ALGORITHM,
        &circulant::ALGORITHM,
        &two_level::ALGORITHM,
        &two_level_sliced::ALGORITHM,
    ],
    between: between::ALGORITHMS,
};
