//! A collective between two groups seen from outside: what tools and the verifier start from.

use std::ops::Range;

use super::{Collective, Groups, Root, Shape};

/// A collective of two groups, whose ranks are counted through: those of the second group follow those of the
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overview {
    /// What is done; the root is counted through.
    pub collective: crate::Collective,
    /// Ranks of the first group; at least 1.
    pub first: u32,
    /// Ranks of the second group; at least 1.
    pub second: u32,
    /// Packed bytes of the vector, or of a block that a rank of the first group sends, and of the second. They
    /// differ in an allgather or alltoall at most.
    pub bytes: [u64; 2],
    /// As in [`Shape`].
    pub unit: u32,
    /// As in [`Shape`].
    pub node: bool,
}

impl Overview {
    /// Ranks of both groups.
    pub fn ranks(&self) -> u32 {
        self.first + self.second
    }

    /// The ranks of the group of `rank`.
    pub(crate) fn fellows(&self, rank: u32) -> Range<u32> {
        if rank < self.first { 0..self.first } else { self.first..self.ranks() }
    }

    /// The ranks of the group that `rank` is not in.
    pub(crate) fn others(&self, rank: u32) -> Range<u32> {
        if rank < self.first { self.first..self.ranks() } else { 0..self.first }
    }

    /// What a rank of the group of `rank` sends.
    pub(crate) fn sent(&self, rank: u32) -> u64 {
        self.bytes[usize::from(rank >= self.first)]
    }

    /// What a rank of the other group than that of `rank` sends.
    pub(crate) fn received(&self, rank: u32) -> u64 {
        self.bytes[usize::from(rank < self.first)]
    }

    /// The groups as `rank` sees them.
    pub fn groups(&self, rank: u32) -> Groups {
        let (fellows, others) = (self.fellows(rank), self.others(rank));
        Groups { rank: rank - fellows.start, local: fellows.len() as u32, remote: others.len() as u32 }
    }

    /// The root as `rank` sees it.
    pub fn root(&self, rank: u32, root: u32) -> Root {
        if rank == root {
            Root::Here
        } else if self.fellows(rank).contains(&root) {
            Root::Beside
        } else {
            Root::Remote(root - self.others(rank).start)
        }
    }

    /// The shape as `rank` sees it. Beside the root there are no lengths.
    pub fn shape(&self, rank: u32) -> Shape {
        let root = |root| self.root(rank, root);
        let collective = match self.collective {
            crate::Collective::Allgather => Collective::Allgather,
            crate::Collective::Allreduce => Collective::Allreduce,
            crate::Collective::Alltoall => Collective::Alltoall,
            crate::Collective::Barrier => Collective::Barrier,
            crate::Collective::Bcast { root: rank } => Collective::Bcast { root: root(rank) },
            crate::Collective::Gather { root: rank } => Collective::Gather { root: root(rank) },
            crate::Collective::Reduce { root: rank } => Collective::Reduce { root: root(rank) },
            crate::Collective::Scatter { root: rank } => Collective::Scatter { root: root(rank) },
        };
        let is_beside = collective.root() == Some(Root::Beside);
        let [bytes, received] = if is_beside { [0, 0] } else { [self.sent(rank), self.received(rank)] };
        let groups = self.groups(rank);
        Shape { collective, groups, bytes, received, unit: self.unit, node: self.node }
    }
}
