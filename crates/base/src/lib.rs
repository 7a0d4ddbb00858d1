//! The vocabulary that every other crate speaks: errors, statuses, basic datatypes, function names.
//!
//! Nothing here does anything; it names things. The tables in `generated/` come from `spec/`.
#![forbid(unsafe_code)]

mod error;
pub mod generated;
mod status;

pub use error::{Error, Result};
pub use generated::basic_type::{BasicType, Pair, Scalar, TypeClass};
pub use generated::error_class::ErrorClass;
pub use generated::functions::{Chapter, Function};
pub use generated::reduce_op::ReduceOp;
pub use status::Status;
