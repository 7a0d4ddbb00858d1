//! Scan: on each rank the vectors of all ranks up to itself, combined in the order of ranks.
//!
//! By lines everybody combines from the left, so that the result of a rank is that of the rank before it, combined
//! with one vector more, bit for bit. By messages brackets differ.
//! MPI-5.0: Collective Communication, Scan, Inclusive Scan.

pub(crate) mod doubling;
pub(crate) mod node_chain;
pub(crate) mod node_flat;
pub(crate) mod two_level;
pub(crate) mod two_level_chain;

use oxmpi_base::Function;

use super::{CollectiveInfo, Combines, Functions, Side, Whose};

pub(super) const INFO: CollectiveInfo = CollectiveInfo {
    name: "scan",
    functions: Functions {
        blocking: Function::Scan,
        nonblocking: Function::Iscan,
        persistent: Function::ScanInit,
    },
    send: Side::one(Whose::Everybody),
    recv: Side::one(Whose::Everybody),
    combines: Combines::UpToOwn,
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
