//! All that may decide a plan.
//!
//! A [`Shape`] holds only what the standard makes equal on all ranks of a collective (or what oxmpi itself
//! makes so), and so every rank chooses the same algorithm. What may differ, the rank and whether *this* rank
//! works in place, are separate arguments of the algorithms.

use crate::{Buf, Span};

/// Which collective, and its root: a rank, or what a rank knows of it between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the standard's names")]
pub enum Collective<R = u32> {
    Allgather,
    Allreduce,
    Alltoall,
    Barrier,
    Bcast { root: R },
    Gather { root: R },
    Reduce { root: R },
    Scatter { root: R },
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

impl<R: Copy> Collective<R> {
    /// The standard's name, in lower case: what overrides and tools call it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Allgather => "allgather",
            Self::Allreduce => "allreduce",
            Self::Alltoall => "alltoall",
            Self::Barrier => "barrier",
            Self::Bcast { .. } => "bcast",
            Self::Gather { .. } => "gather",
            Self::Reduce { .. } => "reduce",
            Self::Scatter { .. } => "scatter",
        }
    }

    /// The root, of a collective that has one.
    pub const fn root(&self) -> Option<R> {
        match *self {
            Self::Bcast { root } | Self::Gather { root } | Self::Reduce { root } | Self::Scatter { root } => {
                Some(root)
            }
            Self::Allgather | Self::Allreduce | Self::Alltoall | Self::Barrier => None,
        }
    }
}

impl Shape {
    /// Whether a rank that has completed the operation knows that every rank has begun it.
    ///
    /// Then no rank can be two runs ahead of another: one that begins run `k` has completed run `k - 1`,
    /// which all have begun, and so all have completed run `k - 2`. The verifier checks it for every
    /// algorithm.
    pub fn synchronizes(&self) -> bool {
        match self.collective {
            Collective::Barrier => true,
            Collective::Allgather | Collective::Allreduce | Collective::Alltoall => self.bytes > 0,
            Collective::Bcast { .. }
            | Collective::Gather { .. }
            | Collective::Reduce { .. }
            | Collective::Scatter { .. } => false,
        }
    }

    /// The root; 0 where there is none.
    pub(crate) fn root(&self) -> u32 {
        self.collective.root().unwrap_or(0)
    }

    /// All ranks but `rank`, beginning with its successor, so that ranks do not all turn to the same peer
    /// first.
    pub(crate) fn others(&self, rank: u32) -> impl DoubleEndedIterator<Item = u32> + use<> {
        let ranks = self.ranks;
        (1..ranks).map(move |distance| (rank + distance) % ranks)
    }

    /// Bytes of all ranks' blocks together.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.bytes * u64::from(self.ranks)
    }

    /// Rank `rank`'s block of a buffer that holds one for each rank.
    pub(crate) fn block(&self, buf: Buf, rank: u32) -> Span {
        Span::fixed(buf, u64::from(rank) * self.bytes, self.bytes)
    }
}
