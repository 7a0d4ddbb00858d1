//! What decides the plan of a collective between two groups.

use crate::{Buf, Span};

/// The two groups as a rank sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Groups {
    /// This rank in its group.
    pub rank: u32,
    /// Ranks of its group.
    pub local: u32,
    /// Ranks of the other group.
    pub remote: u32,
}

/// Where the root of a collective is, as a rank sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// It is this rank: `MPI_ROOT`.
    Here,
    /// It is another rank of this group, which has nothing to do: `MPI_PROC_NULL`.
    Beside,
    /// It is this rank of the remote group.
    Remote(u32),
}

/// Which collective, and its root.
pub type Collective = crate::Collective<Root>;

/// The size and kind of one collective operation between two groups, as a rank sees it.
///
/// The ranks of one group have the same shape but for their rank and the root, those of the other group its
/// mirror image. A rank beside the root knows no lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// What is done.
    pub collective: Collective,
    /// Between whom.
    pub groups: Groups,
    /// Packed bytes of the whole vector (bcast, reduce, allreduce), or of a block that this rank's group
    /// sends (the others).
    pub bytes: u64,
    /// The same of a block that the other group sends: in an allgather and an alltoall it may differ.
    pub received: u64,
    /// Packed bytes of one element; reductions never cut one. 1 where nothing is reduced.
    pub unit: u32,
    /// Whether all ranks of both groups share memory, so that post and pull can be used.
    pub node: bool,
}

impl Shape {
    /// Whether this rank has nothing to do.
    pub(super) fn is_idle(&self) -> bool {
        let is_empty = self.bytes == 0 && self.received == 0 && self.collective != Collective::Barrier;
        is_empty || self.collective.root() == Some(Root::Beside)
    }

    /// Ranks of the larger group.
    pub(super) fn most_ranks(&self) -> u32 {
        self.groups.local.max(self.groups.remote)
    }

    /// Ranks of the group that the root is not in. Only for ranks that are not beside the root.
    pub(super) fn far_from_root(&self) -> u32 {
        match self.collective.root() {
            Some(Root::Here | Root::Beside) => self.groups.remote,
            Some(Root::Remote(_)) | None => self.groups.local,
        }
    }

    /// Bytes of the longer of the two groups' blocks.
    pub(super) fn longest(&self) -> u64 {
        self.bytes.max(self.received)
    }

    /// All ranks of the other group; each rank begins with another one, if there are enough.
    pub(super) fn remotes(&self) -> impl Iterator<Item = u32> + use<> {
        let Groups { rank, remote, .. } = self.groups;
        (0..remote).map(move |distance| (rank % remote + distance) % remote)
    }

    /// Rank `rank`'s block of a buffer that this rank sends from.
    pub(super) fn sent_block(&self, rank: u32) -> Span {
        Span::fixed(Buf::Send, u64::from(rank) * self.bytes, self.bytes)
    }

    /// Rank `rank`'s block of a buffer that this rank receives into.
    pub(super) fn received_block(&self, rank: u32) -> Span {
        Span::fixed(Buf::Recv, u64::from(rank) * self.received, self.received)
    }
}
