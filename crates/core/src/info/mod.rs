//! What programs say of their objects in pairs of strings, and what is understood of it.
//!
//! MPI-5.0: The Info Object.

mod hints;
pub mod memory_kinds;
mod pairs;

pub use hints::Hints;
pub use pairs::Info;
