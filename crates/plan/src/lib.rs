//! Which rank does what, in what order: pure data, no I/O, no clock.
//!
//! - [`Plan`] is the language: one rank's steps over buffers named by role.
//! - [`Shape`] is all that may decide a plan, equal on all ranks.
//! - Each [`Collective`] has a folder with what there is to know of it, its [`CollectiveInfo`], and a file per
//!   [`Algorithm`]: a function from shape and rank to plan. Those between two groups are in `between.rs`, see
//!   [`inter`]. Collectives with blocks of different lengths are a [`pattern`].
//! - [`select()`] takes the cheapest admissible algorithm, or the one an [`Overrides`] names; [`compile`]
//!   makes the plan.
//! - A [`Machine`] says what elementary actions cost, a [`Cost`] what an algorithm takes there, [`why()`] what decided.
//! - With the feature `tools`, which ranks do without, [`verify`] runs the plans of all ranks symbolically;
//!   [`simulate`] finds what they take; [`svg()`] draws them.
//!
//! # To add an algorithm
//!
//! 1. Write `collective/<it>/<name>.rs`: a module comment that says what it is, what it costs and what it needs,
//!    and one `pub(super) const ALGORITHM`. Append steps with the `Builder`; take peers from `peers/`, and
//!    costs from `prices.rs`.
//! 2. List it in `collective/<it>/mod.rs`.
//! 3. Run the tests. Every listed algorithm is verified over the whole grid of shapes, and selection,
//!    overrides, `oxmpi plan` and pictures know it.
//! 4. Measure. An algorithm that is nowhere the best goes again.
//!
//! # To add a collective
//!
//! Write `collective/<it>/mod.rs` with its `INFO`, and list it in `collective/mod.rs`. Selection, overrides,
//! tools and the verifier's contract follow from the `INFO`.
#![forbid(unsafe_code)]

mod algorithm;
mod build;
mod collective;
mod cost;
mod crossing;
pub mod inter;
mod ladder;
mod machine;
mod nodes;
#[cfg(any(test, feature = "tools"))]
mod overview;
pub mod pattern;
mod peers;
mod plan;
mod prices;
#[cfg(any(test, feature = "tools"))]
mod print;
mod segment;
mod select;
mod shape;
#[cfg(test)]
mod share;
#[cfg(any(test, feature = "tools"))]
pub mod simulate;
mod slices;
mod staying;
#[cfg(any(test, feature = "tools"))]
mod svg;
#[cfg(any(test, feature = "tools"))]
pub mod verify;
mod why;

pub use algorithm::Algorithm;
pub use collective::{Collective, CollectiveInfo, Combines, Functions, Holds, Side, Uneven, Whose};
pub use cost::Cost;
pub use machine::{FIRST_BYTES, Machine};
pub use nodes::{Members, NodeMap, Nodes};
#[cfg(any(test, feature = "tools"))]
pub use overview::Overview;
pub use plan::{Action, Buf, Line, MAX_LINES, Peer, Plan, Span, Step, Take};
pub use select::{Overrides, candidates, compile, select};
pub use shape::{Root, Shape};
#[cfg(any(test, feature = "tools"))]
pub use svg::{svg, svg_between};
pub use why::{Refusal, Why, refusal, why};
