//! The body of every C function, once for all ABIs.
//!
//! The contract with the exports that call the bodies is written at the top of `crates/abi/src/lib.rs`.

use std::ffi::c_int;

use oxmpi_base::{ErrorClass, Function};

mod boundary;
pub mod generated;

pub use boundary::{ErrorVia, IntegerOut, Integers};

/// Reports that `function` has no body yet.
#[cold]
pub fn unsupported(function: Function, via: ErrorVia) -> c_int {
    let _ = via;
    eprintln!("oxmpi: {} is not implemented", function.name());
    ErrorClass::UnsupportedOperation.code()
}

/// Ends the process because `function`, which cannot return an error, has no body yet.
#[cold]
pub fn unsupported_value(function: Function) -> ! {
    eprintln!("oxmpi: {} is not implemented", function.name());
    std::process::abort()
}
