//! Every argument of every function, wrong in every way that its kind allows: the cases, as a C program.
//!
//! `spec/functions.json` says which arguments there are and of which kinds, `spec/arguments.txt` what is valid and
//! what is wrong; functions join as soon as they are built. An argument for which the table has neither a wrong
//! value nor a reason why every value is right is refused. `tests/c/bad_input.c` runs the cases.

mod function;
mod program;
mod rules;

pub use function::Function;
pub use program::header;
pub use rules::{Argument, Rules};

/// The parts of the standard whose functions are tested.
pub const CHAPTERS: [&str; 19] = [
    "attr",
    "collective-blocking",
    "collective-nonblocking",
    "collective-persistent",
    "comm",
    "datatype",
    "dynamic",
    "errhan",
    "group",
    "info",
    "intercomm",
    "op",
    "pack",
    "partitioned",
    "persistent-pt2pt",
    "pt2pt",
    "request",
    "session",
    "topo",
];
