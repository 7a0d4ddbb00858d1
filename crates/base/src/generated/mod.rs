//! Tables written by `cargo xtask generate` from `spec/`; do not edit.

pub mod basic_type;
pub mod error_class;
pub mod functions;
pub mod reduce_op;
