//! Arithmetic on ranks: who talks to whom in which round. No steps, no bytes.

pub(crate) mod circulant;
pub(crate) mod dissemination;
pub(crate) mod distance;
pub(crate) mod doubling;
#[cfg(any(test, feature = "tools"))]
pub(crate) mod groups;
pub(crate) mod levels;
pub(crate) mod multiplying;
pub(crate) mod node_ring;
pub(crate) mod ring;
pub(crate) mod runs;
pub(crate) mod spread;
pub(crate) mod tree;
