//! Reductions: combining two vectors element by element.
//!
//! A [`Reducer`] is an operation on one kind of element, predefined or the user's. Which loop it runs is
//! decided once, when it is made: by the operation, by what the element is to the processor, and by the
//! instructions that this machine has. To combine a few bytes then costs one indirect call.
//!
//! The arithmetic is in safe code (but for the x87 instructions of `extended`); only `kernel` touches memory.
//! MPI-5.0: Collective Communication, Predefined Reduction Operations and User-Defined Reduction Operations.

mod complex;
#[cfg(target_arch = "x86_64")]
mod extended;
mod half;
mod instructions;
mod kernel;
mod number;
mod operation;
mod pair;
mod quad;
mod recovery;
mod reducer;
mod table;

pub use instructions::{choose_instructions, instructions};
pub use recovery::recover_infinities;
pub use reducer::{CODE_BITS, Reducer, UserFunction};
