//! The vocabulary that every other crate speaks: errors, statuses, basic datatypes, function names.
//!
//! Nothing here does anything but [`order`] and [`Ordered`]; it names things. The tables in `generated/` come from
//! `spec/`.
#![forbid(unsafe_code)]

mod error;
pub mod generated;
pub mod order;
mod ordered;
mod pairs;
mod status;

pub use error::{Error, Result};
pub use generated::basic_type::{BasicType, Pair, Scalar, TypeClass};
pub use generated::error_class::ErrorClass;
pub use generated::functions::{Chapter, Function};
pub use generated::reduce_op::ReduceOp;
pub use ordered::{Ordered, Ordinal};
pub use status::Status;

/// The version of the standard, and its subversion.
pub const STANDARD_VERSION: (u32, u32) = (5, 0);
/// What the library is called, with its own version.
pub const LIBRARY_VERSION: &str =
    concat!("oxmpi ", env!("CARGO_PKG_VERSION"), ", the standard ABI of MPI-5.0 in Rust");
/// The greatest tag that a message can have: `MPI_TAG_UB`.
pub const GREATEST_TAG: i32 = i32::MAX;
