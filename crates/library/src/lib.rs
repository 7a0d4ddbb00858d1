//! `libmpi_abi.so.1`: the exports of the crate `abi`, as a library of its own.
//!
//! Apart from them, because a crate that may also become part of a Rust program cannot be optimised as a whole here.

extern crate oxmpi_abi as _;
