//! Reduce-scatter: all ranks' vectors combined, of which each rank gets its block.
//!
//! The blocks are of equal lengths here, and of any in [`Uneven`], whose algorithms are the same: what they see of
//! a call is a [`Task`].
//! MPI-5.0: Collective Communication, Reduce-Scatter.

mod between;
mod circulant;
mod node_flat;
mod node_whole;
mod pairwise;
mod ring;
mod task;
mod two_level;
mod uneven;

pub use uneven::Uneven;

use oxmpi_base::Function;

use super::{CollectiveInfo, Combines, Functions, Side, Whose};
use crate::Algorithm;
use task::Task;

/// What serves blocks of any lengths, as an algorithm for equal ones.
macro_rules! of_equal_blocks {
    ($way:expr) => {
        Algorithm {
            name: { $way }.name,
            admits: |shape| ({ $way }.admits)(&Task::of(shape)),
            cost: match { $way }.cost {
                Some(_) => Some(|shape, prices| {
                    let cost = { $way }.cost.expect("just seen");
                    cost(&Task::of(shape), prices)
                }),
                None => None,
            },
            plan: |shape, rank, in_place| ({ $way }.plan)(&Task::of(shape), rank, in_place),
        }
    };
}

pub(super) const INFO: CollectiveInfo = CollectiveInfo {
    name: "reduce_scatter_block",
    functions: Functions {
        blocking: Function::ReduceScatterBlock,
        nonblocking: Function::IreduceScatterBlock,
        persistent: Function::ReduceScatterBlockInit,
    },
    send: Side::each(Whose::Everybody),
    recv: Side::one(Whose::Everybody),
    combines: Combines::All,
    has_one_buffer: false,
    within: &[
        &of_equal_blocks!(node_flat::WAY),
        &of_equal_blocks!(node_whole::WAY),
        &of_equal_blocks!(pairwise::WAY),
        &of_equal_blocks!(circulant::WAY),
        &of_equal_blocks!(ring::WAY),
        &two_level::ALGORITHM,
    ],
    between: &[
        &of_equal_blocks!(between::NODE_WHOLE),
        &of_equal_blocks!(between::NODE_SLICED),
        &of_equal_blocks!(between::THROUGH_ROOTS),
    ],
};
