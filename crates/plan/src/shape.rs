//! All that may decide a plan.
//!
//! A [`Shape`] holds only what the standard makes equal on all ranks of a collective (or what oxmpi itself
//! makes so), and so every rank chooses the same algorithm. Between two groups each sees the mirror image of
//! the other's, and algorithms judge by what both see alike. What may differ within a group, the rank and
//! whether *this* rank works in place, are separate arguments of the algorithms.

use crate::inter::Groups;
use crate::{Buf, Collective, Nodes, Span};

/// The size and kind of one collective operation, within a group or between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// What is done.
    pub collective: Collective,
    /// Its root, if it has one; else rank 0.
    pub root: Root,
    /// Ranks of this rank's group; at least 1.
    pub ranks: u32,
    /// Ranks of the remote group; 0 within one group.
    pub remote_ranks: u32,
    /// Packed bytes of the whole vector, or of one of the blocks that this rank's group sends, where any buffer
    /// has many. A rank beside the root knows none, and has 0.
    pub bytes: u64,
    /// Between two groups, the same of what the other group sends, which may differ where both send blocks. 0
    /// within one group.
    pub received: u64,
    /// Packed bytes of one element; reductions never cut one. 1 where nothing is reduced.
    pub unit: u32,
    /// Whether the operation may combine contributions in another order than that of the ranks. Algorithms
    /// between groups never do.
    pub commutative: bool,
    /// Which ranks share memory, so that post and pull can be used among them. Between two groups all do, or it is
    /// not looked at.
    pub nodes: Nodes,
}

/// The root of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// This rank of the group; between two groups, of the remote one.
    Rank(u32),
    /// Between two groups, this rank: `MPI_ROOT`.
    Here,
    /// Between two groups, another rank of this group, and this one has nothing to do: `MPI_PROC_NULL`.
    Beside,
}

impl Root {
    /// Its rank in the group, or in the remote one; 0 for a root of the own one of two groups.
    #[inline]
    pub fn rank(self) -> u32 {
        match self {
            Self::Rank(rank) => rank,
            Self::Here | Self::Beside => 0,
        }
    }
}

impl Shape {
    /// A collective of one group that shares memory, of elements of one byte, rooted at rank 0 if at all.
    #[inline]
    pub const fn of(collective: Collective, ranks: u32, bytes: u64) -> Self {
        Self {
            collective,
            root: Root::Rank(0),
            ranks,
            remote_ranks: 0,
            bytes,
            received: 0,
            unit: 1,
            commutative: true,
            nodes: Nodes::One,
        }
    }

    /// The same, rooted at `root`; beside it there are no lengths.
    #[inline]
    pub const fn rooted(self, root: Root) -> Self {
        match root {
            Root::Beside => Self { root, bytes: 0, received: 0, ..self },
            Root::Here | Root::Rank(_) => Self { root, ..self },
        }
    }

    /// Whether it is a collective of two groups.
    pub fn is_between(&self) -> bool {
        self.remote_ranks > 0
    }

    /// Whether all ranks share memory.
    pub fn shares_memory(&self) -> bool {
        shares_memory(self.nodes, self.ranks, self.remote_ranks)
    }

    /// Ranks of a node, if there are several nodes of equally many consecutive ranks, but not one of each.
    pub(crate) fn lanes(&self) -> Option<u32> {
        let Nodes::Regular { per_node } = self.nodes else { return None };
        let are_full = per_node > 1 && per_node < self.ranks && self.ranks.is_multiple_of(per_node);
        (are_full && !self.is_between()).then_some(per_node)
    }

    /// Whether a rank that has completed the operation knows that every rank has begun it.
    ///
    /// Then no rank can be two runs ahead of another: one that begins run `k` has completed run `k - 1`,
    /// which all have begun, and so all have completed run `k - 2`. The verifier checks it for every
    /// algorithm.
    pub fn synchronizes(&self) -> bool {
        let info = self.collective.info();
        !self.is_between() && info.is_from_all_to_all() && (self.bytes > 0 || !info.moves_data())
    }

    /// Whether this rank moves nothing to others or from them, so that algorithms need not care for this case.
    pub fn is_alone(&self) -> bool {
        let is_empty = self.bytes == 0 && self.received == 0 && self.collective.info().moves_data();
        let has_no_peer = self.ranks == 1 && !self.is_between();
        is_empty || has_no_peer || self.root == Root::Beside
    }

    /// All ranks of the group but `rank`, beginning with its successor, so that ranks do not all turn to the
    /// same peer first.
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

    /// The two groups as `rank` sees them.
    pub(crate) fn groups(&self, rank: u32) -> Groups {
        Groups { rank, local: self.ranks, remote: self.remote_ranks }
    }

    /// Ranks of the larger group.
    pub(crate) fn most_ranks(&self) -> u32 {
        self.ranks.max(self.remote_ranks)
    }

    /// Ranks of the group that the root is not in. Only for ranks that are not beside the root.
    pub(crate) fn far_from_root(&self) -> u32 {
        match self.root {
            Root::Here | Root::Beside => self.remote_ranks,
            Root::Rank(_) => self.ranks,
        }
    }

    /// Bytes of the longer of the two groups' blocks.
    pub fn longest(&self) -> u64 {
        self.bytes.max(self.received)
    }

    /// The lengths of the blocks that this rank has of a gather or scatter between groups.
    pub(crate) fn lengths(&self) -> Vec<u64> {
        let blocks = if self.root == Root::Here { self.remote_ranks as usize } else { 1 };
        vec![self.bytes; blocks]
    }

    /// All ranks of the other group; each rank begins with another one, if there are enough.
    pub(crate) fn remotes(&self, rank: u32) -> impl Iterator<Item = u32> + use<> {
        let remote = self.remote_ranks;
        (0..remote).map(move |distance| (rank % remote + distance) % remote)
    }

    /// Remote rank `rank`'s block of a buffer that this rank receives into.
    pub(crate) fn received_block(&self, rank: u32) -> Span {
        Span::fixed(Buf::Recv, u64::from(rank) * self.received, self.received)
    }
}

/// Whether all of `ranks` ranks on `nodes` share memory, and the `remote_ranks` of the other group, if there is one.
pub(crate) fn shares_memory(nodes: Nodes, ranks: u32, remote_ranks: u32) -> bool {
    nodes == Nodes::One || remote_ranks == 0 && nodes.count(ranks) == 1
}
