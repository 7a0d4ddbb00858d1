//! What the elementary actions cost: the whole machine model of the selection.
//!
//! The figures are those of a recent x86 server core with warm caches. Only their ratios matter, and only to
//! within a factor of about 1.5: they decide between algorithms, not how long a program runs.

/// From a post until a waiting peer has seen it: 60 where two cores share a cache, 250 where they do not, and
/// above 1000 where ranks share a core. So of two similar algorithms the one with fewer hops is preferred.
pub(crate) const HOP_NS: f64 = 300.0;

/// Posting, apart from the copy.
pub(crate) const POST_NS: f64 = 10.0;

/// Pulling what is there already, apart from the copy: a cache line crosses between two cores.
pub(crate) const PULL_NS: f64 = 30.0;

/// A message through the matching queues, its hop included, apart from its copies.
pub(crate) const MESSAGE_NS: f64 = HOP_NS + 150.0;

/// Copying a byte of one's own to a slot.
pub(crate) const POST_BYTE_NS: f64 = 0.012;

/// Copying a byte out of a peer's slot.
pub(crate) const PULL_BYTE_NS: f64 = 0.018;

/// Combining a byte of a peer's slot with one of one's own.
pub(crate) const REDUCE_BYTE_NS: f64 = 0.032;

/// A byte of a message: into shared memory and out again.
pub(crate) const MESSAGE_BYTE_NS: f64 = 0.035;

/// One message of `bytes` bytes.
pub(crate) fn message_ns(bytes: u64) -> f64 {
    MESSAGE_NS + bytes as f64 * MESSAGE_BYTE_NS
}

/// Rounds in which one rank reaches `ranks`, doubling: the logarithm, rounded up.
pub(crate) fn rounds(ranks: u32) -> f64 {
    f64::from(ranks.next_power_of_two().trailing_zeros())
}
