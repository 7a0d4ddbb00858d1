//! `libmpi_abi.so.1`: the exports of the crate `abi`, as a library of its own.
//!
//! Apart from them, because a crate that may also become part of a Rust program cannot be optimised as a whole here.

extern crate oxmpi_abi as _;

/// So that whoever runs out of memory hears of it, and can go on.
#[global_allocator]
static MEMORY: oxmpi_mem::Reserve = oxmpi_mem::Reserve;
