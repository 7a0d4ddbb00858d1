//! C's types and constants, written by `cargo xtask generate` from `spec/`.
#![allow(missing_docs, non_camel_case_types, non_snake_case, reason = "C's names, documented by the standard")]

pub mod constants;
pub mod types;
