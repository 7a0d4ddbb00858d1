//! The atomics of the lock of gates: the machine's, or loom's where loom explores them.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
