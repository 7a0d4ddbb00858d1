//! All that may decide a plan.
//!
//! A [`Shape`] holds only what the standard makes equal on all ranks of a collective (or what oxmpi itself
//! makes so), and so every rank chooses the same algorithm. What may differ, the rank and whether *this* rank
//! works in place, are separate arguments of the algorithms.

/// Which collective, and its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the standard's names")]
pub enum Collective {
    Allgather,
    Allreduce,
    Alltoall,
    Barrier,
    Bcast { root: u32 },
    Gather { root: u32 },
    Reduce { root: u32 },
    Scatter { root: u32 },
}

/// The size and kind of one collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// What is done.
    pub collective: Collective,
    /// Ranks of the group; at least 1.
    pub ranks: u32,
    /// Packed bytes of the whole vector (bcast, reduce, allreduce), or of one rank's block (the others).
    pub bytes: u64,
    /// Packed bytes of one element; reductions never cut one. 1 where nothing is reduced.
    pub unit: u32,
    /// Whether the operation may combine contributions in another order than that of the ranks.
    pub commutative: bool,
    /// Whether all ranks share memory, so that post and pull can be used.
    pub node: bool,
}
