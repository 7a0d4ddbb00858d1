//! Which rank does what, in what order: pure data, no I/O, no clock.
//!
//! - [`Plan`] is the language: one rank's steps over buffers named by role.
//! - [`Shape`] is all that may decide a plan, equal on all ranks.
//! - Each collective has a folder with a file per [`Algorithm`]: a function from shape and rank to plan.
//!   Collectives with blocks of different lengths are in [`irregular`], those of two groups in [`inter`].
//! - [`select()`] takes the cheapest admissible algorithm, or the one an [`Overrides`] names; [`compile`]
//!   makes the plan.
//! - [`verify`] runs the plans of all ranks symbolically; [`svg()`] draws them.
//!
//! # To add an algorithm
//!
//! 1. Write `<collective>/<name>.rs`: a module comment that says what it is, what it costs and what it needs,
//!    and one `pub(crate) const ALGORITHM`. Append steps with the `Builder`; take peers from `peers/`, and
//!    costs from `machine.rs`.
//! 2. List it in `<collective>/mod.rs`.
//! 3. Run the tests. Every listed algorithm is verified over the whole grid of shapes, and selection,
//!    overrides, `oxmpi plan` and pictures know it.
//! 4. Measure. An algorithm that is nowhere the best goes again.
#![forbid(unsafe_code)]

mod algorithm;
mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod build;
mod gather;
pub mod inter;
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
mod slices;
mod svg;
pub mod verify;

pub use algorithm::Algorithm;
pub use plan::{Action, Buf, Line, MAX_LINES, Peer, Plan, Span, Step, Take};
pub use select::{Overrides, candidates, compile, select};
pub use shape::{Collective, Shape};
pub use svg::{svg, svg_between};
