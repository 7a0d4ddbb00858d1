//! The body of every C function, once for all ABIs.
//!
//! A body takes the arguments of its function in C's order, widened; the contract with the exports that call the
//! bodies is written at the top of `crates/abi/src/lib.rs`. Pointers come as what `argument` has for them, with their
//! caller's promise, so that a body is safe code. It checks the arguments in that order, turns handles
//! into objects (`object`), calls `core`, and writes the results. What went wrong goes to `failure`.
//!
//! Modules are named for the chapters of the standard's functions; those that no other crate sees hold what the
//! bodies share. Below the chapters are the objects, below these `failure`, below that the error handlers, and
//! handles below all: none uses what is above it.

#![allow(clippy::too_many_arguments, reason = "as the standard has them")]

pub mod abi;
mod again;
mod argument;
pub mod attr;
mod blocks;
mod buffer;
mod buffered;
pub mod collective;
pub mod comm;
pub mod datatype;
pub mod dynamic;
pub mod env;
mod envelope;
pub mod errhan;
mod error_codes;
mod failure;
mod generalized;
#[cfg_attr(oxmpi_abi = "narrow", path = "layout/narrow_generated.rs")]
pub mod generated;
pub mod group;
mod handle;
pub mod handle_int;
mod image;
pub mod info;
pub mod intercomm;
mod last_error;
#[cfg_attr(oxmpi_abi = "narrow", path = "layout/narrow.rs")]
mod layout;
mod lifetime;
pub mod neighborhood;
mod object;
pub mod op;
pub mod pack;
pub mod partitioned;
pub mod persistent_pt2pt;
mod plain;
mod process;
pub mod profiling;
pub mod pt2pt;
pub mod removed;
pub mod request;
mod request_status;
mod requests;
mod root;
mod sendrecv;
pub mod session;
pub mod shared;
mod signature;
mod status;
mod thread;
pub mod topo;

pub use argument::{
    ArrayArgument, ArrayIn, ArrayInOut, ArrayOut, Callback, In, InOut, IntegerInOut, IntegerOut, Integers,
    Out, SizedText, TextIn, TextOut, Texts, Unmeasured, UnmeasuredIntegers, WordLists, Words,
};
pub use blocks::{Blocks, Datatypes, OperandBlocks};
pub use buffer::{Message, Operands, Partitions};
pub use failure::{NoObject, Nobody, unsupported, unsupported_value};
pub use pack::PackedBuffer;
pub use status::{StatusIn, StatusInOut, StatusOut, Statuses};
pub use topo::Weights;
