//! The exported functions of the standard C ABI: of `libmpi_abi.so.1`, or of a Rust program that shares its engine
//! with C code.
//!
//! Everything in `generated/` comes from `spec/`. An export does three things: it widens integers, makes of pointers
//! what holds their caller's promise, and calls the body in `oxmpi_cfront` - or reports that there is none. The
//! contract with the bodies:
//!
//! - *Module.* The chapter of the function, `-` written as `_`; all lifetimes of collectives live in
//!   `collective` (and `neighborhood`).
//! - *Name.* The C name in lower case without `MPI_`. `X`, `X_c` and a removed function with the same
//!   arguments share the body named after `X`, which takes wide arguments: counts as `MPI_Count`, arrays
//!   as [`Integers`](prelude::Integers), outputs as [`IntegerOut`](prelude::IntegerOut).
//! - *Signature.* `pub fn x(function: Function, <arguments in C's order>) -> <C's result>`; `function` tells which of
//!   the sharers was called. A pointer is an [`Out`](prelude::Out), an [`ArrayIn`](prelude::ArrayIn), or alike; what
//!   only together says which memory is meant is one argument: address, count and datatype a
//!   [`Message`](prelude::Message).
//! - *Promises.* The duties of the caller are the standard's: pointers are valid for what the standard says the
//!   function does with them. They are accepted here, once for all functions, by the `unsafe` constructors of these
//!   types. Which one an argument gets follows from its type, direction, kind and length in `spec/`
//!   (`xtask/src/generate/arguments.rs`).
//! - *Interposition.* `MPI_X` and `PMPI_X` are two plain exports of one body, and the library calls neither,
//!   so that a tool may replace any of them: by preloading, by link order, or inside the executable. (The
//!   optimiser gives one piece of code both names.)
//! - *Panics.* `extern "C"` turns an unwinding panic into an abort of the process, without a cost on
//!   the way that does not panic.
//!
//! `spec/built.txt` lists the bodies; without one an export returns `MPI_ERR_UNSUPPORTED_OPERATION` by way
//! of the error handler that the standard names.
//!
//! MPI-5.0: Profiling Interface; Application Binary Interface.

/// Exports each function under its own name and under the one that tools call.
macro_rules! exports {
    ($(
        fn $mpi:ident, $pmpi:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty { $body:expr }
    )*) => {$(
        exports!(@one $mpi($($argument: $type),*) -> $result { $body });
        exports!(@one $pmpi($($argument: $type),*) -> $result { $body });
    )*};
    (@one $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $body:expr }) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            // SAFETY: the caller of a C function promises what the standard asks of its arguments. Each constructor
            // in here asks for that of the arguments that it is given, by what `spec/` says of them.
            unsafe { $body }
        }
    };
}

/// What the generated files refer to.
mod prelude {
    pub use std::ffi::{c_char, c_double, c_int, c_void};

    pub use oxmpi_base::Function;
    pub use oxmpi_cfront::generated::constants::*;
    pub use oxmpi_cfront::generated::types::*;
    pub use oxmpi_cfront::*;
}

#[allow(non_snake_case, reason = "C's names")]
#[allow(unused_variables, unused_unsafe, reason = "a function without a body uses no argument")]
#[allow(missing_docs, clippy::missing_safety_doc, reason = "documented by the standard")]
#[allow(clippy::too_many_arguments, reason = "as the standard has them")]
mod generated;
