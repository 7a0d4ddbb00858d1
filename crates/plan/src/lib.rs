//! Which rank does what, in what order: pure data, no I/O, no clock.
//!
//! - [`Plan`] is the language: one rank's steps over buffers named by role.
//! - [`Shape`] is all that may decide a plan, equal on all ranks.
//! - Each collective has a folder with a file per [`Algorithm`]: a function from shape and rank to plan.
//! - [`select`] takes the cheapest admissible algorithm, or the one an [`Overrides`] names; [`compile`] makes
//!   the plan.
//! - [`verify`] runs the plans of all ranks symbolically; [`svg`] draws them.
//!
//! To add an algorithm: write `<collective>/<name>.rs` with one `pub(crate) const ALGORITHM`, list it in
//! `<collective>/mod.rs`, and run the tests. Selection, overrides, printing and verification follow from the
//! list. Arithmetic on ranks belongs in `peers/`, what a thing costs in `machine.rs`.
#![forbid(unsafe_code)]

mod algorithm;
mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod build;
mod gather;
pub mod irregular;
mod machine;
mod peers;
mod plan;
mod print;
mod reduce;
mod scatter;
mod segment;
mod select;
mod shape;
mod svg;
pub mod verify;

pub use algorithm::Algorithm;
pub use plan::{Action, Buf, Line, MAX_LINES, Peer, Plan, Span, Step, Take};
pub use select::{Overrides, candidates, compile, select};
pub use shape::{Collective, Shape};
pub use svg::svg;
