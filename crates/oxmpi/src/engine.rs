//! The process that environment and sessions speak for: the crate's own, or (feature `c`) the one that C code in the
//! program has too.

#[cfg(not(feature = "c"))]
mod own;
#[cfg(feature = "c")]
mod shared;

#[cfg(not(feature = "c"))]
pub(crate) use own::{Engine, before_free};
#[cfg(feature = "c")]
pub(crate) use shared::{Engine, before_free};
