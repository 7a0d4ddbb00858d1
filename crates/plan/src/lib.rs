//! Which rank does what, in what order: pure data, no I/O, no clock.
#![forbid(unsafe_code)]

mod plan;
mod shape;

pub use plan::{Action, Buf, Line, Peer, Plan, Span, Step, Take};
pub use shape::{Collective, Shape};
