//! Memory that somebody else owns, and the only routines that copy it.
//!
//! A user's buffer may be written by the user's other threads, and a slot in shared memory by a peer: neither
//! may ever be a Rust reference. [`Region`] is the claim on such bytes that the rest of oxmpi passes around;
//! making one is unsafe, using one is not.

mod alarm;
mod arguments;
pub mod copy;
mod gate;
mod pool;
mod region;
pub mod reserve;
mod sync;

pub use alarm::Alarm;
pub use arguments::{Arguments, Words};
pub use gate::{Callers, Entered, Gate, Helper, Visit};
pub use pool::{Pool, Taken};
pub use region::Region;
pub use reserve::Reserve;
